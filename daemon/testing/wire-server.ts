/**
 * A provider on loopback, played by script, whatever its wire format: what a test cannot have honestly is a model, so here is one whose every
 * byte is chosen. It records each request, answers from a queue or a function, and can split its bytes anywhere, wait, cut the connection,
 * hang, or answer with any status. A request that no script foresaw is answered 400, so that a test fails rather than waits. What a reply of
 * one format looks like stands in openai-server.ts, anthropic-server.ts and responses-server.ts.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { AddressInfo, Socket } from 'node:net';
import type { Demand } from './strict-requests.ts';

/** What the server does next while it answers. `bytes` go out as one write. */
export type Act =
  | { act: 'bytes'; bytes: Uint8Array }
  | { act: 'wait'; ms: number }
  /** Resolves when the test says so: for tests that wait for events, not for time. */
  | { act: 'until'; gate: Promise<unknown> }
  /** Destroys the connection: what was written may or may not have arrived. */
  | { act: 'cut' }
  /** Says nothing more and keeps the connection until the client leaves. */
  | { act: 'hang' };

export interface Reply {
  status: number;
  headers: Record<string, string>;
  acts: Act[];
}

export interface RecordedRequest<Body> {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The body as JSON, trusted to be what the adapter under test sends. */
  body: Body;
  /** How it ended: the whole answer went out, or the client left first. */
  ended: Promise<'answered' | 'left'>;
}

export type Script<Body> = (request: RecordedRequest<Body>) => Reply | Promise<Reply>;

export interface WireServer<Body> {
  /** The base URL to configure. */
  readonly url: string;
  readonly requests: readonly RecordedRequest<Body>[];
  /** What did not fit the demands, in the words of the vendor. */
  readonly refusals: readonly string[];
  /** Connections open now. */
  readonly connections: number;
  /** Replies for the next requests, in order; they come before the script function. */
  enqueue(...replies: Reply[]): void;
  /** Resolves with the request number `count` (from 1), once it has come. */
  request(count: number): Promise<RecordedRequest<Body>>;
  /** Resolves once no connection is open. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

/** What is demanded of each request; one that does not fit is answered 400, whatever the script says. */
export interface Strict {
  demand?: Demand;
  /** Reasoning that comes back must have been said by this server. */
  origin?: boolean;
}

/** `prefix` is what the base URL has behind the port. */
export async function startWireServer<Body>(
  prefix: string,
  script?: Script<Body>,
  strict: Strict = {},
): Promise<WireServer<Body>> {
  let said = '';
  const refusals: string[] = [];
  const queue: Reply[] = [];
  const requests: RecordedRequest<Body>[] = [];
  const sockets = new Set<Socket>();
  const waiting: { ready: () => boolean; resolve: () => void }[] = [];
  const wake = () => {
    for (const one of waiting.splice(0)) {
      if (one.ready()) one.resolve();
      else waiting.push(one);
    }
  };
  const when = (ready: () => boolean) =>
    new Promise<void>((resolve) => {
      waiting.push({ ready, resolve });
      wake();
    });

  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing, requests, wake, async (request) => {
      // A list of models is asked for without a body.
      const asks = request.method === 'POST';
      const problem = (asks ? strict.demand?.(request.body, strict.origin === true ? said : null) : null) ?? null;
      if (problem !== null) {
        refusals.push(problem);
        return errorReply(400, { message: problem, type: 'invalid_request_error' });
      }
      const queued = queue.shift();
      const reply =
        queued ??
        (script === undefined
          ? errorReply(400, { message: 'the script foresaw no further request', type: 'unscripted' })
          : await script(request));
      if (strict.origin === true) said += Buffer.from(bytesOf(reply)).toString('utf8');
      return reply;
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    requests,
    refusals,
    get connections() {
      return sockets.size;
    },
    enqueue(...replies) {
      queue.push(...replies);
    },
    async request(count) {
      await when(() => requests.length >= count);
      return requests[count - 1]!;
    },
    async quiet() {
      await when(() => sockets.size === 0);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** A reply of the event-stream type made of these acts. */
export function bytesReply(acts: Act[]): Reply {
  return { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, acts };
}

/** Events as Anthropic Messages and OpenAI Responses send them: named after the `type` that stands in each. */
export function eventReply(events: unknown[]): Reply {
  return bytesReply(
    events.map((event) => {
      const { type } = event as { type: string };
      return bytes(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
    }),
  );
}

export function errorReply(status: number, error: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    acts: [bytes(JSON.stringify({ error }))],
  };
}

/** The same reply with its bytes joined and split anew: before each offset in `at`. Waits and the like are dropped. */
export function splitAt(reply: Reply, at: readonly number[]): Reply {
  const whole = bytesOf(reply);
  const cuts = [0, ...at.filter((offset) => offset > 0 && offset < whole.length), whole.length];
  const acts = cuts.slice(1).flatMap((end, index): Act[] => [
    { act: 'bytes', bytes: whole.subarray(cuts[index], end) },
    // A turn of the event loop between two writes, so that they arrive apart.
    { act: 'wait', ms: 0 },
  ]);
  return { ...reply, acts };
}

/** The first `length` bytes of the reply; then the connection is cut, or the body ends as if it were whole. */
export function truncated(reply: Reply, length: number, ending: 'cut' | 'end'): Reply {
  const acts: Act[] = [{ act: 'bytes', bytes: bytesOf(reply).subarray(0, length) }];
  if (ending === 'cut') acts.push({ act: 'wait', ms: 5 }, { act: 'cut' });
  return { ...reply, acts };
}

/** The reply, but after its acts the server does these. */
export function followedBy(reply: Reply, ...acts: Act[]): Reply {
  return { ...reply, acts: [...reply.acts, ...acts] };
}

export function bytesOf(reply: Reply): Uint8Array {
  return Buffer.concat(reply.acts.flatMap((act) => (act.act === 'bytes' ? [act.bytes] : [])));
}

export function bytes(text: string): Act {
  return { act: 'bytes', bytes: Buffer.from(text, 'utf8') };
}

/** One text or several, as a list of deltas. */
export function listOf(text: string | string[] | undefined): string[] {
  return text === undefined ? [] : typeof text === 'string' ? [text] : text;
}

/** The text in `count` pieces at most. */
export function pieces(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count));
  const parts: string[] = [];
  for (let start = 0; start < text.length; start += size) parts.push(text.slice(start, start + size));
  return parts;
}

async function answer<Body>(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  requests: RecordedRequest<Body>[],
  arrived: () => void,
  choose: Script<Body>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  // A client may leave at any moment; that is `ended: 'left'`, not a fault of the server.
  outgoing.on('error', () => gone.abort());
  try {
    const received: Buffer[] = [];
    for await (const piece of incoming) received.push(piece as Buffer);
    const text = Buffer.concat(received).toString('utf8');
    const request: RecordedRequest<Body> = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: (text === '' ? {} : JSON.parse(text)) as Body,
      ended: new Promise((resolve) => {
        outgoing.on('close', () => resolve(outgoing.writableFinished ? 'answered' : 'left'));
      }),
    };
    requests.push(request);
    arrived();
    await play(await choose(request), outgoing, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) outgoing.destroy(error instanceof Error ? error : undefined);
  }
}

async function play(reply: Reply, outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  outgoing.socket?.setNoDelay(true);
  outgoing.writeHead(reply.status, reply.headers);
  outgoing.flushHeaders();
  for (const act of reply.acts) {
    if (gone.aborted) return;
    switch (act.act) {
      case 'bytes':
        if (!outgoing.write(act.bytes)) await drained(outgoing, gone);
        break;
      case 'wait':
        if (act.ms === 0) await new Promise(setImmediate);
        else await delay(act.ms, undefined, { signal: gone });
        break;
      case 'until':
        await Promise.race([act.gate, left(gone)]);
        break;
      case 'cut':
        outgoing.socket?.destroy();
        return;
      case 'hang':
        await left(gone);
        return;
    }
  }
  outgoing.end();
}

async function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  await Promise.race([new Promise((resolve) => outgoing.once('drain', resolve)), left(gone)]);
}

async function left(gone: AbortSignal): Promise<void> {
  if (gone.aborted) return;
  await new Promise((resolve) => gone.addEventListener('abort', resolve, { once: true }));
}
