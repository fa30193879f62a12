/**
 * A log that cannot be opened for writing here, to read and follow: another process writes it, or it is damaged. Looked at a few times a second
 * while somebody follows it. What is damaged is passed over, and everything readable before and after it is shown.
 */
import { stat } from 'node:fs/promises';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { SessionEvent } from '#protocol/event.ts';
import { watchLogMs } from '../base/limits.ts';
import { logStart, type LogPlace } from '../log/reader.ts';
import { History } from './history.ts';

export class WatchedLog {
  readonly #path: string;
  readonly #history: History;
  readonly #waiters = new Set<{ after: number; wake: () => void }>();
  #place: LogPlace;
  #bytes: number;
  #looking: NodeJS.Timeout | null = null;

  private constructor(path: string, history: History, place: LogPlace, bytes: number) {
    this.#path = path;
    this.#history = history;
    this.#place = place;
    this.#bytes = bytes;
  }

  static async open(path: string): Promise<WatchedLog> {
    const { size } = await stat(path);
    const history = await History.open(path);
    const { place } = await history.foldTail();
    return new WatchedLog(path, history, place, size);
  }

  get seq(): number {
    return this.#place.seq;
  }

  async read(after: number, maxCharacters: number): Promise<SessionEvent[]> {
    return after >= this.seq ? [] : this.#history.read(after, maxCharacters);
  }

  tail(characters: number): Promise<Conversation> {
    return this.#history.tail(characters);
  }

  page(before: number): Promise<{ base: Conversation; events: SessionEvent[] }> {
    return this.#history.page(before);
  }

  changed(after: number, signal: AbortSignal): Promise<void> {
    if (this.seq > after) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const wake = () => {
        this.#waiters.delete(waiter);
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.#waiters.delete(waiter);
        reject(signal.reason as Error);
      };
      const waiter = { after, wake };
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
      this.#waiters.add(waiter);
      this.#look();
    });
  }

  async close(): Promise<void> {
    if (this.#looking !== null) clearTimeout(this.#looking);
    this.#looking = null;
    await this.#history.close();
  }

  #look(): void {
    this.#looking ??= setTimeout(() => {
      void this.#seeGrowth().finally(() => {
        this.#looking = null;
        if (this.#waiters.size > 0) this.#look();
      });
    }, watchLogMs);
  }

  async #seeGrowth(): Promise<void> {
    const found = await stat(this.#path).catch(() => null);
    if (found === null || found.size === this.#bytes) return;
    try {
      this.#place = await this.#history.end(this.#place);
    } catch {
      // Its writer has cut it back meanwhile (a write that failed) or repacked it, or it cannot be read just now: it is looked at from its start, the next time.
      this.#place = logStart;
      this.#bytes = -1;
      return;
    }
    this.#bytes = found.size;
    for (const { after, wake } of [...this.#waiters]) if (this.seq > after) wake();
  }
}
