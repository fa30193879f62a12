/**
 * The process behind provider.ts. Answers each request by the script in it and keeps no state between requests but what it tells about them.
 * Pieces of a text are due at fixed moments: a contestant that is slow does not slow the load that it is under.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { now } from '../measure.ts';
import { chat } from './chat.ts';
import { record, type Dialect, type Voice } from './dialect.ts';
import { messages } from './messages.ts';
import type { ProviderAnswer, ProviderQuestion, ProviderRequest } from './provider.ts';
import { responses } from './responses.ts';
import { standingOf, type Script } from './script.ts';
import { argumentsFor, shellToolOf } from './shell-tool.ts';

const dialects: readonly Dialect[] = [chat, responses, messages];
const models = {
  object: 'list',
  has_more: false,
  data: [{ id: 'scripted', object: 'model', type: 'model' }],
  models: [],
};

let requests: ProviderRequest[] = [];
let replies = 0;

const server = createServer((incoming, outgoing) => {
  const arrivedAt = now();
  outgoing.socket?.setNoDelay(true);
  outgoing.on('error', () => undefined); // A client may leave at any moment; `close` tells of it.
  answer(incoming, outgoing, arrivedAt).catch((error: unknown) => {
    process.stderr.write(`the provider of the bench: ${String(error)}\n`);
    outgoing.destroy();
  });
});
// Longer than any pause of a contestant between two requests.
server.keepAliveTimeout = 600_000;

async function answer(incoming: IncomingMessage, outgoing: ServerResponse, arrivedAt: number): Promise<void> {
  const received: Buffer[] = [];
  for await (const piece of incoming) received.push(piece as Buffer);
  const raw = Buffer.concat(received);
  const path = (incoming.url ?? '').split('?')[0] ?? '';
  const dialect = dialects.find((one) => one.path.test(path));
  if (dialect === undefined || incoming.method !== 'POST') {
    answerAside(incoming.method ?? '', path, raw, outgoing);
    return;
  }

  const body = record(JSON.parse(raw.toString('utf8')));
  const asked = dialect.read(body);
  const { script, task, step, lastResult } = standingOf(asked.said);
  const side = asked.tools.length === 0;
  const id = `${process.pid}_${++replies}`;
  const voice = dialect.speak({ id, model: asked.model, inputTokens: Math.ceil(raw.length / 4) });
  const tell = (firstByteAt: number, endedAt: number, outcome: ProviderRequest['outcome']) =>
    requests.push({
      format: dialect.format,
      arrivedAt,
      firstByteAt,
      endedAt,
      outcome,
      bodyBytes: raw.length,
      systemBytes: bytesOf(asked.system),
      toolsBytes: side ? 0 : bytesOf(body['tools']),
      toolCount: asked.tools.length,
      step,
      lastResult: lastResult?.slice(0, 400) ?? null,
      task: task.slice(-400),
      side,
    });

  const firstByteAt = now();
  if (asked.stream) outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const shell = step < script.steps ? shellToolOf(asked.tools) : null;
  if (!side && step < script.steps && shell === null) {
    const offered = asked.tools.map(({ name }) => name).join(', ');
    throw new Error(`none of the tools runs shell commands: ${offered}`);
  }
  let last: string;
  if (shell !== null) {
    const { command } = script;
    const call = voice.call({ id: `call_${id}`, tool: shell, arguments: argumentsFor(shell, command), command });
    last = voice.begin() + call + voice.end();
  } else {
    const pieces = side ? aTitle() : piecesOf(script);
    if (!(await say(voice, pieces, asked.stream ? outgoing : null))) {
      tell(firstByteAt, now(), 'left');
      return;
    }
    last = voice.textEnds() + voice.end();
  }
  const endedAt = now();
  if (asked.stream) outgoing.end(last);
  else respond(outgoing, 200, voice.whole());
  tell(firstByteAt, endedAt, 'answered');
}

/** Writes the beginning and all pieces; false when the client left. Who wants no stream gets nothing yet. */
async function say(voice: Voice, pieces: AsyncIterable<string>, outgoing: ServerResponse | null): Promise<boolean> {
  const write = async (text: string) => {
    if (outgoing === null || outgoing.destroyed) return;
    if (!outgoing.write(text)) await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')]);
  };
  await write(voice.begin() + voice.textBegins());
  for await (const piece of pieces) {
    if (outgoing?.destroyed === true) return false;
    await write(voice.text(piece));
  }
  return outgoing?.destroyed !== true;
}

async function* piecesOf({ chunks, delayMs, chunkBytes }: Script): AsyncIterable<string> {
  const start = now();
  for (let at = 0; at < chunks; at++) {
    const waitMs = (start + at * delayMs * 1000 - now()) / 1000;
    if (waitMs > 0) await delay(waitMs);
    // A turn of the event loop each, so that pieces go out one by one and other replies get theirs.
    else await new Promise(setImmediate);
    const piece = `@${now()}@ word${at} `;
    yield piece.length < chunkBytes ? `${piece}${'x'.repeat(chunkBytes - piece.length - 1)} ` : piece;
  }
}

async function* aTitle(): AsyncIterable<string> {
  yield 'A short title';
}

/** What agents ask beside replies. */
function answerAside(method: string, path: string, raw: Buffer, outgoing: ServerResponse): void {
  if (method === 'GET' && /\/models(\/[^/]+)?$/.test(path)) respond(outgoing, 200, models);
  else if (path.endsWith('/count_tokens')) respond(outgoing, 200, { input_tokens: Math.ceil(raw.length / 4) });
  else if (path === '/') respond(outgoing, 200, {});
  else respond(outgoing, 404, { error: { type: 'not_found_error', message: `there is no ${path} here` } });
}

function respond(outgoing: ServerResponse, status: number, value: unknown): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** As text for what is text, else as JSON. */
function bytesOf(value: unknown): number {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return Buffer.byteLength(value.join(''));
  return Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value ?? ''));
}

function reply(message: ProviderAnswer): void {
  process.send?.(message);
}

process.on('message', (question: ProviderQuestion) => {
  switch (question) {
    case 'requests':
      reply({ requests: requests.toSorted((a, b) => a.arrivedAt - b.arrivedAt) });
      return;
    case 'reset':
      requests = [];
      reply({ requests });
      return;
  }
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () => reply({ port: (server.address() as AddressInfo).port }));
