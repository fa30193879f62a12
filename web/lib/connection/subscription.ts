/**
 * A reader's place in one session's events, kept over lost connections. Invariants:
 *   W1  every event is handed on once and in order, however often the connection was lost and whatever the daemon repeats
 *   W2  no event is handed on before the one that it follows: where one is missing, the reader asks again from its place
 */
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { RequestError } from '#protocol/errors.ts';
import type { SessionEvent } from '#protocol/event.ts';

/** Where to start: after a seq that is held already, or with a base and about so much of the tail. */
export type SubscriptionStart = { readonly after: number } | { readonly tailBytes: number };

export interface SubscriptionHandlers {
  /** What is held is replaced by this. Comes first where the start is a tail, and again where the place cannot be served any more. */
  based(base: Conversation): void;
  /** Follows what was handed on before. */
  batch(events: readonly SessionEvent[]): void;
  /** All that the session held when the subscription was made has come. */
  caughtUp(): void;
  /** The connection is gone; the subscription goes on by itself when there is one again. */
  lost(): void;
  /** The daemon refused; nothing comes any more. */
  failed(error: RequestError): void;
}

export interface Subscription {
  /** Idempotent. No handler is called after it. */
  close(): void;
}

export interface Accepted {
  readonly events: readonly SessionEvent[];
  readonly cursor: number;
  /** Something between `cursor` and the first event that was left is missing. */
  readonly gap: boolean;
}

/** What of a batch follows `cursor`. A condensed event that begins before the place and ends behind it counts as a gap. */
export function accept(cursor: number, batch: readonly SessionEvent[]): Accepted {
  const events: SessionEvent[] = [];
  let place = cursor;
  for (const event of batch) {
    if (event.seq <= place) continue;
    if ((event.from ?? event.seq) !== place + 1) return { events, cursor: place, gap: true };
    events.push(event);
    place = event.seq;
  }
  return { events, cursor: place, gap: false };
}
