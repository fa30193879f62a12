/** Sessions that hold their events in memory, as the door sees sessions: for tests of readers. */
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { RequestError } from '#protocol/errors.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import type { OpenSource, SessionSources } from '../server/session-source.ts';

export class MemorySession {
  readonly events: SessionEvent[] = [];
  /** How often events were read, and how many readers hold it open. */
  reads = 0;
  readers = 0;
  /** What the next read rejects with. */
  failure: Error | null = null;
  readonly #waiting = new Set<() => void>();

  /** Appends events of a kind that nobody condenses, each with this much text. */
  append(count: number, textLength = 1): void {
    for (let n = 0; n < count; n += 1) this.#push({ type: 'test.happened', text: 'x'.repeat(textLength) });
    this.#wake();
  }

  /** Appends increments of one part: what `condense` joins. */
  appendDeltas(...texts: string[]): void {
    for (const text of texts) this.#push({ type: 'part.delta', partId: 'prt_1', text });
    this.#wake();
  }

  /** As after a restore from an older copy. */
  replaceBy(count: number): void {
    this.events.length = 0;
    this.append(count);
  }

  open(): OpenSource {
    this.readers += 1;
    const session = this; // eslint-disable-line @typescript-eslint/no-this-alias -- a view with a getter
    return {
      get seq() {
        return session.events.length;
      },
      read: async (after, maxBytes) => session.#read(after, maxBytes),
      changed: (after, signal) => session.#changed(after, signal),
      tail: async (tailBytes) => ({ base: session.#baseBefore(tailBytes) }),
      page: async (before) => ({ base: emptyConversation, events: session.events.slice(0, before - 1) }),
      release: () => (session.readers -= 1),
    };
  }

  #push(fields: { type: string; text: string; partId?: string }): void {
    this.events.push({ seq: this.events.length + 1, at: 0, ...fields } as SessionEvent);
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  #read(after: number, maxBytes: number): SessionEvent[] {
    this.reads += 1;
    if (this.failure !== null) throw this.failure;
    const events: SessionEvent[] = [];
    let bytes = 0;
    for (let place = after; place < this.events.length && bytes < maxBytes; place += 1) {
      const event = this.events[place];
      if (event === undefined) break;
      bytes += JSON.stringify(event).length;
      events.push(event);
    }
    return events;
  }

  #changed(after: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.events.length <= after && !signal.aborted) return;
        this.#waiting.delete(look);
        signal.removeEventListener('abort', look);
        resolve();
      };
      this.#waiting.add(look);
      signal.addEventListener('abort', look);
      look();
    });
  }

  #baseBefore(tailBytes: number): Conversation {
    let seq = this.events.length;
    for (let bytes = 0; seq > 0; seq -= 1) {
      bytes += JSON.stringify(this.events[seq - 1]).length;
      if (bytes > tailBytes) break;
    }
    return { ...emptyConversation, seq };
  }
}

export class MemorySessions implements SessionSources {
  readonly #sessions = new Map<SessionId, MemorySession>();

  make(sessionId: SessionId): MemorySession {
    const session = new MemorySession();
    this.#sessions.set(sessionId, session);
    return session;
  }

  async open(sessionId: SessionId): Promise<OpenSource> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new RequestError('not_found', 'There is no such session.');
    return session.open();
  }
}
