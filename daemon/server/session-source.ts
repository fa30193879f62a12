/** What the door needs of sessions: one open session as its readers see it, and how to come by one. Supplied by the composition root. */
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { SessionId } from '#protocol/values/ids.ts';

/** One open session, as a subscriber sees it. */
export interface SessionSource {
  /** The last durable event. */
  readonly seq: number;
  /** Durable events after `after`, in order: at least one if there is any, and about `maxBytes` of JSON. */
  read(after: number, maxBytes: number): Promise<SessionEvent[]>;
  /** Resolves when `seq > after`; where the signal is aborted first, resolves or rejects then. */
  changed(after: number, signal: AbortSignal): Promise<void>;
  /** A base with about `tailBytes` of events after it; reading goes on from `base.seq`. */
  tail(tailBytes: number): Promise<{ base: Conversation }>;
  /** The page of history that ends just before a seq. */
  page(before: number): Promise<{ base: Conversation; events: SessionEvent[] }>;
}

/** A session that somebody reads; it is released once, when nothing of it is asked for any more. */
export interface OpenSource extends SessionSource {
  release(): void;
}

export interface SessionSources {
  /** Throws a RequestError `not_found`. */
  open(sessionId: SessionId): Promise<OpenSource>;
}
