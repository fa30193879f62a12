/**
 * A session's durable events over plain HTTP, as server-sent events: one event a block, `id:` its seq, so that a client that comes back
 * with Last-Event-ID misses nothing and gets nothing twice. Reads by the same cursor as a socket, and waits for the client in the same way.
 */
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '#protocol/errors.ts';
import type { SessionEvent } from '#protocol/event.ts';
import { heartbeatMs } from '#protocol/limits.ts';
import { z } from '#protocol/schema.ts';
import { sessionId as sessionIdSchema, type SessionId } from '#protocol/values/ids.ts';
import { dataPolicy, securityHeaders } from './answer.ts';
import { maxEventStreams } from './limits.ts';
import type { Outlet } from './outbox.ts';
import type { OpenSource, SessionSources } from './session-source.ts';
import { follow } from './subscriptions.ts';

export class EventStreams {
  readonly #sessions: SessionSources;
  readonly #heartbeatMs: number;
  #open = 0;

  constructor(sessions: SessionSources, beatMs = heartbeatMs) {
    this.#sessions = sessions;
    this.#heartbeatMs = beatMs;
  }

  /** Streams until the client goes or a signal is aborted (the bearer's, the daemon's). Throws a RequestError before the first byte only. */
  async serve(
    request: IncomingMessage,
    response: ServerResponse,
    asked: { sessionId: string; query: URLSearchParams },
    signals: readonly AbortSignal[],
  ): Promise<void> {
    const sessionId = readSessionId(asked.sessionId);
    const after = readSeq(request.headers['last-event-id'] ?? asked.query.get('after') ?? '0');
    if (this.#open >= maxEventStreams)
      throw new RequestError(
        'too_many',
        `At most ${maxEventStreams} event streams may be open (maxEventStreams). End one first.`,
      );
    this.#open += 1;
    try {
      const source = await this.#sessions.open(sessionId);
      try {
        await this.#stream(source, after, response, signals);
      } finally {
        source.release();
      }
    } finally {
      this.#open -= 1;
    }
  }

  async #stream(
    source: OpenSource,
    after: number,
    response: ServerResponse,
    signals: readonly AbortSignal[],
  ): Promise<void> {
    if (after > source.seq)
      throw new RequestError(
        'conflict',
        `This session ends at event ${source.seq}. Ask for events after that, or from 0.`,
      );
    const controller = new AbortController();
    const end = () => controller.abort();
    // Each stream listens to the same few signals; that is bounded by maxEventStreams and no leak.
    setMaxListeners(0, ...signals);
    for (const signal of signals) signal.addEventListener('abort', end);
    if (signals.some((signal) => signal.aborted)) end();
    response.once('close', end);
    response.writeHead(200, {
      ...securityHeaders(dataPolicy),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.flushHeaders();
    const beat = setInterval(() => {
      if (!response.writableNeedDrain) response.write(': heartbeat\n\n');
    }, this.#heartbeatMs);
    try {
      await follow(source, after, new ResponseOutlet(response), blocksOf, controller.signal);
    } finally {
      clearInterval(beat);
      for (const signal of signals) signal.removeEventListener('abort', end);
      response.end();
    }
  }
}

/** Writes when the client has taken what was written before. */
class ResponseOutlet implements Outlet {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  async pull(signal: AbortSignal, compose: () => Promise<string | null> | string | null): Promise<void> {
    if (this.#response.writableNeedDrain) await drained(this.#response, signal);
    if (signal.aborted) return;
    const text = await compose();
    if (text !== null && !this.#response.destroyed) this.#response.write(text);
  }
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.removeListener('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

function blocksOf(events: readonly SessionEvent[]): string {
  return events.map((event) => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function readSessionId(text: string): SessionId {
  const read = z.safeParse(sessionIdSchema, text);
  if (read.success) return read.data;
  throw new RequestError('not_found', 'There is no such session.');
}

function readSeq(text: string | string[]): number {
  const seq = typeof text === 'string' && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
  if (seq === null)
    throw new RequestError('invalid_params', 'after (or Last-Event-ID) must be the seq of an event, or 0.');
  return seq;
}
