/**
 * A reader of one session's events: it holds a cursor and no queue. It pulls the next batch from the session when the outlet has room, so
 * one that falls behind is served from the log, without gap or double, and costs the daemon one batch. Live and catching up are one loop.
 */
import type { Params, Result } from '#protocol/command.ts';
import { condense } from '#protocol/conversation/condense.ts';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { RequestError } from '#protocol/errors.ts';
import type { SessionEvent } from '#protocol/event.ts';
import { batchBytes, maxSubscriptions } from '#protocol/limits.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import type { Scope } from '../base/scope.ts';
import { presentable } from './commands.ts';
import { defaultTailBytes } from './limits.ts';
import type { Outbox, Outlet } from './outbox.ts';
import type { OpenSource, SessionSource, SessionSources } from './session-source.ts';

/** Sends every event after `after` until the signal is aborted. Rejects where the session cannot be read. */
export async function follow(
  source: SessionSource,
  after: number,
  outlet: Outlet,
  compose: (events: SessionEvent[]) => string,
  signal: AbortSignal,
): Promise<void> {
  let cursor = after;
  while (!signal.aborted) {
    await source.changed(cursor, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    await outlet.pull(signal, async () => {
      const events = await source.read(cursor, batchBytes);
      const last = events.at(-1);
      if (last === undefined) return null;
      cursor = last.seq;
      return compose(events);
    });
  }
}

/**
 * Where a subscriber begins: after the seq it names, or at a base. A seq beyond the log's end is of a log that is gone (replaced, or
 * restored from a copy), and begins anew at a base.
 */
export async function beginning(
  source: SessionSource,
  asked: { after?: number | undefined; tailBytes?: number | undefined },
): Promise<{ base: Conversation | null; after: number }> {
  if (asked.after !== undefined && asked.after <= source.seq) return { base: null, after: asked.after };
  const { base } = await source.tail(asked.tailBytes ?? defaultTailBytes);
  return { base, after: base.seq };
}

/** A batch for a socket. Neighbouring increments travel as one: folding them is the same, and a long catch-up is a fraction of the bytes. */
export function eventsMessage(subscription: string, events: readonly SessionEvent[]): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    method: 'session.events',
    params: { subscription, events: condense(events) },
  });
}

export interface OpenedSubscription {
  readonly result: Result<'session.subscribe'>;
  /** To be called when the result is on its way: batches follow it. */
  readonly start: () => void;
}

/** The subscriptions of one socket. They end with its scope. */
export class Subscriptions {
  readonly #sessions: SessionSources;
  readonly #outbox: Outbox;
  readonly #scope: Scope;
  readonly #diagnostics: Diagnostics;
  readonly #open = new Map<string, AbortController>();
  #count = 0;

  constructor(sessions: SessionSources, outbox: Outbox, scope: Scope, diagnostics: Diagnostics) {
    this.#sessions = sessions;
    this.#outbox = outbox;
    this.#scope = scope;
    this.#diagnostics = diagnostics;
    scope.signal.addEventListener('abort', () => {
      for (const controller of this.#open.values()) controller.abort();
    });
  }

  async open(params: Params<'session.subscribe'>): Promise<OpenedSubscription> {
    if (this.#open.size >= maxSubscriptions)
      throw new RequestError(
        'too_many',
        `A socket has at most ${maxSubscriptions} subscriptions (maxSubscriptions). End one first.`,
      );
    const subscription = `sub_${++this.#count}`;
    const controller = new AbortController();
    // Its place is taken before anything is awaited: many at once are counted too.
    this.#open.set(subscription, controller);
    let source: OpenSource | null = null;
    try {
      source = await this.#sessions.open(params.sessionId);
      const { base, after } = await beginning(source, params);
      const opened = source;
      return {
        result: { subscription, base, seq: source.seq },
        start: () => this.#scope.background(this.#run(subscription, opened, after, controller), () => undefined),
      };
    } catch (error) {
      this.#open.delete(subscription);
      source?.release();
      throw error;
    }
  }

  /** Nothing of it is sent any more, also not what is being read just now. */
  end(subscription: string): void {
    const controller = this.#open.get(subscription);
    if (controller === undefined)
      throw new RequestError('not_found', 'This socket has no such subscription; it may have ended already.');
    this.#open.delete(subscription);
    controller.abort();
  }

  async #run(subscription: string, source: OpenSource, after: number, controller: AbortController): Promise<void> {
    // The socket may have gone while the session was opened.
    if (this.#scope.signal.aborted) controller.abort();
    try {
      await follow(source, after, this.#outbox, (events) => eventsMessage(subscription, events), controller.signal);
    } catch (error) {
      const { code, message } = presentable(error, this.#diagnostics);
      const ended = {
        jsonrpc: '2.0',
        method: 'subscription.ended',
        params: { subscription, error: { code, message } },
      };
      void this.#outbox.send(JSON.stringify(ended));
    } finally {
      this.#open.delete(subscription);
      source.release();
    }
  }
}
