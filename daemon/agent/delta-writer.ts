/**
 * Puts a stream's events into the log on the leading edge: the first is written at once; what arrives within the next few milliseconds, or
 * while a write is under way, shares the next frame. So nobody waits for the coalescing, a fast model makes no frame of each token, and
 * nothing is on a screen that is not in the log.
 */
import type { Draft } from '#protocol/event.ts';
import { coalesceMs, maxDeltaBytes } from '../base/limits.ts';

/** Writes events durably; rejects where the disk refuses. */
type Append = (events: Draft[]) => Promise<unknown>;

export class DeltaWriter {
  readonly #append: Append;
  #waiting: Draft[] = [];
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #failure: Error | null = null;
  #lastWriteAt = 0;

  constructor(append: Append) {
    this.#append = append;
  }

  /** Takes an event up; a delta joins its neighbour of the same part. Throws what an earlier write failed with. */
  add(event: Draft): void {
    if (this.#failure !== null) throw this.#failure;
    if (event.type === 'part.delta') for (const text of pieces(event.text)) this.#addDelta({ ...event, text });
    else this.#waiting.push(event);
    this.#schedule();
  }

  /** Resolves once everything added is durable. */
  async flush(): Promise<void> {
    this.#clearTimer();
    for (;;) {
      // Behind a write that failed nothing more is written: the reply would have a hole.
      if (this.#failure !== null) throw this.#failure;
      if (this.#writing !== null) await this.#writing;
      else if (this.#waiting.length > 0) await this.#write();
      else return;
    }
  }

  /** Flushes; then writes `events`, together. */
  async finish(events: Draft[]): Promise<void> {
    await this.flush();
    for (const event of events) this.#waiting.push(event);
    await this.flush();
  }

  #addDelta(delta: Extract<Draft, { type: 'part.delta' }>): void {
    const last = this.#waiting.at(-1);
    if (
      last?.type === 'part.delta' &&
      last.partId === delta.partId &&
      last.text.length + delta.text.length < maxDeltaBytes / 4
    ) {
      this.#waiting[this.#waiting.length - 1] = { ...last, text: last.text + delta.text };
    } else this.#waiting.push(delta);
  }

  #schedule(): void {
    if (this.#writing !== null || this.#timer !== null) return;
    const wait = coalesceMs - (performance.now() - this.#lastWriteAt);
    if (wait <= 0) void this.#write();
    else {
      this.#timer = setTimeout(() => {
        this.#timer = null;
        void this.#write();
      }, wait);
    }
  }

  #write(): Promise<void> {
    if (this.#writing !== null || this.#waiting.length === 0) return this.#writing ?? Promise.resolve();
    this.#clearTimer();
    const events = this.#waiting;
    this.#waiting = [];
    this.#lastWriteAt = performance.now();
    this.#writing = this.#append(events)
      .then(
        () => undefined,
        (error: unknown) => {
          this.#failure = error instanceof Error ? error : new Error('the write failed', { cause: error });
        },
      )
      .finally(() => {
        this.#writing = null;
        if (this.#waiting.length > 0 && this.#failure === null) this.#schedule();
      });
    return this.#writing;
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** Cut to a size at code points: a quarter of the limit in UTF-16 units can never be more bytes than the limit. */
function* pieces(text: string): Generator<string> {
  const size = maxDeltaBytes / 4;
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + size);
    const unit = text.charCodeAt(to - 1);
    if (to < text.length && unit >= 0xd800 && unit <= 0xdbff) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}
