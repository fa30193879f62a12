/**
 * Live output of one tool call, durable within bounds: the first 64 KiB as it comes (gathered over a screen frame or two), then at most one
 * event of 2 KiB a second, the newest text, which names the bytes skipped before it. The whole is the tool's to keep (its spill file).
 */
import type { Draft } from '#protocol/event.ts';
import type { CallId } from '#protocol/values/ids.ts';
import { liveOutputBytes, outputGatherMs, sampledOutputBytes, sampledOutputMs } from '../base/limits.ts';

export class OutputWriter {
  readonly #append: (events: Draft[]) => Promise<unknown>;
  readonly #callId: CallId;
  #waiting = '';
  #waitingBytes = 0;
  #skipped = 0;
  #written = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<unknown> = Promise.resolve();
  #failure: Error | null = null;

  constructor(callId: CallId, append: (events: Draft[]) => Promise<unknown>) {
    this.#callId = callId;
    this.#append = append;
  }

  add(text: string): void {
    if (text === '') return;
    this.#waiting += text;
    this.#waitingBytes += Buffer.byteLength(text);
    if (this.#written >= liveOutputBytes) this.#keepNewest();
    else if (this.#waitingBytes >= sampledOutputBytes * 8) return this.#write();
    this.#timer ??= setTimeout(
      () => this.#write(),
      this.#written >= liveOutputBytes ? sampledOutputMs : outputGatherMs,
    );
  }

  /** What is still waiting, as events to stand before the call's end; resolves once earlier ones are durable. Rejects where the disk refused. */
  async finish(): Promise<Draft[]> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#writing;
    if (this.#failure !== null) throw this.#failure;
    return this.#take();
  }

  #write(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const events = this.#take();
    if (events.length === 0) return;
    this.#writing = this.#append(events).catch((error: unknown) => {
      this.#failure = error instanceof Error ? error : new Error('the write failed', { cause: error });
    });
  }

  #take(): Draft[] {
    const events: Draft[] = [];
    const room = liveOutputBytes - this.#written;
    if (room > 0 && this.#waitingBytes > room) {
      // The live part is filled to its end first; what is more becomes the first sample.
      const bytes = Buffer.from(this.#waiting);
      const cut = codePointBefore(bytes, room);
      events.push(this.#event(bytes.toString('utf8', 0, cut)));
      this.#waiting = bytes.toString('utf8', cut);
      this.#waitingBytes = bytes.length - cut;
      this.#written = liveOutputBytes;
    }
    if (this.#written >= liveOutputBytes) this.#keepNewest();
    if (this.#waiting !== '' || this.#skipped > 0) events.push(this.#event(this.#waiting));
    this.#written += this.#waitingBytes;
    this.#waiting = '';
    this.#waitingBytes = 0;
    return events;
  }

  #event(text: string): Draft {
    const skipped = this.#skipped === 0 ? {} : { skippedBytes: this.#skipped };
    this.#skipped = 0;
    return { type: 'tool-call.output', callId: this.#callId, text, ...skipped };
  }

  /** Lets go of all but the newest text; cut at a line's start where one is near, so that a sample reads well. */
  #keepNewest(): void {
    if (this.#waitingBytes <= sampledOutputBytes) return;
    const newest = Buffer.from(this.#waiting).subarray(-sampledOutputBytes);
    let from = newest.indexOf(0x0a) + 1;
    if (from === 0 || from > sampledOutputBytes / 2) {
      from = 0;
      while (from < 4 && ((newest[from] ?? 0) & 0xc0) === 0x80) from += 1;
    }
    const kept = newest.subarray(from);
    this.#skipped += this.#waitingBytes - kept.length;
    this.#waiting = kept.toString();
    this.#waitingBytes = kept.length;
  }
}

/** The last place at or before `at` where a character begins. */
function codePointBefore(bytes: Buffer, at: number): number {
  let cut = at;
  while (cut > 0 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  return cut;
}
