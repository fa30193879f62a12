/**
 * Output that is too long for a model, cut in the middle: its head and its tail, within two limits together. The window takes the output as
 * it comes, keeps no more than the limits, and says in the end which limit cut it and what is missing. It counts bytes as they came.
 */
import { maxResultBytes, maxResultLines } from '../base/limits.ts';

export type Truncation =
  | { cut: null; text: string; bytes: number }
  /** `head` and `tail` are whole lines where lines are of reasonable length. */
  | { cut: 'bytes' | 'lines'; head: string; tail: string; bytes: number; omittedBytes: number; omittedLines: number };

export interface WindowLimits {
  readonly bytes: number;
  readonly lines: number;
}

export const resultLimits: WindowLimits = { bytes: maxResultBytes, lines: maxResultLines };

const lineFeed = 0x0a;

export class OutputWindow {
  readonly #limits: WindowLimits;
  /** As long as both limits hold, everything; after that the first half of each. */
  #head: Uint8Array[] = [];
  #headBytes = 0;
  #headLines = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #bytes = 0;
  #lines = 0;
  #cut: 'bytes' | 'lines' | null = null;

  constructor(limits: WindowLimits = resultLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get cut(): 'bytes' | 'lines' | null {
    return this.#cut;
  }

  /** Everything so far; null once the window cuts. The list grows until then and is not touched after. */
  get whole(): readonly Uint8Array[] | null {
    return this.#cut === null ? this.#head : null;
  }

  push(piece: Uint8Array): void {
    const lines = countLines(piece);
    this.#bytes += piece.length;
    this.#lines += lines;
    if (this.#cut === null) {
      this.#head.push(piece);
      this.#headBytes += piece.length;
      this.#headLines += lines;
      if (this.#headBytes > this.#limits.bytes) this.#split('bytes');
      else if (this.#headLines > this.#limits.lines) this.#split('lines');
    } else {
      this.#tail.push(piece);
      this.#tailBytes += piece.length;
    }
    this.#dropOldTail();
  }

  result(): Truncation {
    if (this.#cut === null) return { cut: null, text: decode(Buffer.concat(this.#head)), bytes: this.#bytes };
    const head = Buffer.concat(this.#head);
    const tail = lastLines(lastBytes(Buffer.concat(this.#tail), this.#tailLimits.bytes), this.#tailLimits.lines);
    return {
      cut: this.#cut,
      head: decode(head),
      tail: decode(tail),
      bytes: this.#bytes,
      omittedBytes: this.#bytes - head.length - tail.length,
      omittedLines: Math.max(0, this.#lines - countLines(head) - countLines(tail)),
    };
  }

  get #tailLimits(): WindowLimits {
    return { bytes: this.#limits.bytes >> 1, lines: this.#limits.lines >> 1 };
  }

  /** What was whole becomes a head of half the limits; the rest begins the tail. */
  #split(cut: 'bytes' | 'lines'): void {
    this.#cut = cut;
    const all = Buffer.concat(this.#head);
    const head = firstLines(firstBytes(all, this.#limits.bytes >> 1), this.#limits.lines >> 1);
    this.#head = [head];
    this.#tail = [all.subarray(head.length)];
    this.#tailBytes = all.length - head.length;
  }

  #dropOldTail(): void {
    const limit = this.#tailLimits.bytes;
    while (this.#tail.length > 1 && this.#tailBytes - (this.#tail[0] as Uint8Array).length >= limit) {
      this.#tailBytes -= (this.#tail.shift() as Uint8Array).length;
    }
    // Many tiny pieces would cost more in bookkeeping than in bytes; one huge piece must not be kept for its end.
    if (this.#tail.length > maxTailPieces || this.#tailBytes > 4 * limit) {
      const kept = Buffer.from(lastBytes(Buffer.concat(this.#tail), limit));
      this.#tail = [kept];
      this.#tailBytes = kept.length;
    }
  }
}

const maxTailPieces = 1024;

/** A half line at the seam says less than it costs; but a line longer than half of what is there is shown in part. */
function firstBytes(bytes: Buffer, limit: number): Buffer {
  if (bytes.length <= limit) return bytes;
  const cut = bytes.subarray(0, limit);
  const end = cut.lastIndexOf(lineFeed) + 1;
  if (end > limit / 2) return bytes.subarray(0, end);
  return bytes.subarray(0, characterStart(bytes, limit));
}

function lastBytes(bytes: Buffer, limit: number): Buffer {
  if (bytes.length <= limit) return bytes;
  const cut = bytes.subarray(bytes.length - limit);
  const start = cut.indexOf(lineFeed) + 1;
  if (start > 0 && start < limit / 2) return cut.subarray(start);
  let from = bytes.length - limit;
  while (from < bytes.length && isContinuation(bytes[from])) from++;
  return bytes.subarray(from);
}

function firstLines(bytes: Buffer, limit: number): Buffer {
  let at = -1;
  for (let line = 0; line < limit; line++) {
    at = bytes.indexOf(lineFeed, at + 1);
    if (at === -1) return bytes;
  }
  return bytes.subarray(0, at + 1);
}

function lastLines(bytes: Buffer, limit: number): Buffer {
  let at = bytes.at(-1) === lineFeed ? bytes.length - 1 : bytes.length;
  for (let line = 0; line < limit; line++) {
    at = at === 0 ? -1 : bytes.lastIndexOf(lineFeed, at - 1);
    if (at === -1) return bytes;
  }
  return bytes.subarray(at + 1);
}

function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && isContinuation(bytes[start])) start--;
  return start;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) lines++;
  return lines;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
