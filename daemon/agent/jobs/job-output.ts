/**
 * What a job prints, kept in two files of bounded size: the newest, and what stood before it. Places in the output are counted in bytes from its
 * beginning, so that a reader can go on where it was; what fell out of the files is told as lost. Written at once, as a queue would have no bound.
 */
import { closeSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { maxJobFileBytes } from '../../base/limits.ts';
import { OutputWindow, type Truncation, type WindowLimits } from '../../tools/truncate.ts';

export interface OutputReading {
  readonly output: Truncation;
  readonly lostBytes: number;
  /** Where the next reading goes on. */
  readonly next: number;
  readonly files: readonly string[];
}

export class JobOutput {
  readonly #path: string;
  #file: number | null = null;
  /** The place at which the newest file begins, and what it holds. */
  #start = 0;
  #held = 0;
  #bytes = 0;
  #refused = false;

  /** What stands there already belongs to nobody: an id comes once. */
  constructor(path: string) {
    this.#path = path;
    try {
      removeOutput(path);
    } catch {
      this.#refused = true;
    }
  }

  /** Of all that came, kept or not. */
  get bytes(): number {
    return this.#bytes;
  }

  push(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#refused) return;
    try {
      for (let rest = piece; rest.length > 0;) {
        if (this.#held >= maxJobFileBytes) this.#turnOver();
        this.#file ??= openSync(this.#path, 'w', 0o600);
        const written = writeSync(this.#file, rest, 0, Math.min(rest.length, maxJobFileBytes - this.#held));
        this.#held += written;
        rest = rest.subarray(written);
      }
    } catch {
      // A full disk must not end the job; what comes from here on is counted only.
      this.#refused = true;
      this.close();
    }
  }

  read(from: number, limits?: WindowLimits): OutputReading {
    return readSpan(this.#path, this.#start, this.#held, from, limits, true);
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #turnOver(): void {
    this.close();
    renameSync(this.#path, olderPath(this.#path));
    this.#start += this.#held;
    this.#held = 0;
  }
}

/** Of a job that ended, also before a restart. `bytes`: of all that it printed, null where nobody counted. */
export function readEnded(path: string, bytes: number | null, from: number, limits?: WindowLimits): OutputReading {
  const held = sizeOf(path);
  const end = bytes ?? sizeOf(olderPath(path)) + held;
  return readSpan(path, Math.max(0, end - held), held, from, limits, false);
}

export function removeOutput(path: string): void {
  for (const one of [path, olderPath(path)]) rmSync(one, { force: true });
}

function olderPath(path: string): string {
  return path.replace(/\.txt$/, '.older.txt');
}

/** `from`: a place, or, below zero, so many bytes before the end. `more`: it goes on, so half a character at the end waits for its rest. */
function readSpan(
  path: string,
  start: number,
  held: number,
  from: number,
  limits: WindowLimits | undefined,
  more: boolean,
): OutputReading {
  const older = start === 0 ? 0 : sizeOf(olderPath(path));
  const oldest = start - older;
  const window = new OutputWindow(limits);
  const end = start + held;
  const begin = from < 0 ? Math.max(oldest, end + from) : from;
  let at = Math.max(begin, oldest);
  const lostBytes = at - begin;
  const pieces = [
    { file: olderPath(path), begins: oldest, ends: start },
    { file: path, begins: start, ends: end },
  ];
  for (const { file, begins, ends } of pieces) {
    if (at >= ends) continue;
    for (const piece of piecesOf(file, at - begins, ends - begins)) {
      const whole = more && at + piece.length === end ? piece.subarray(0, wholeCharacters(piece)) : piece;
      window.push(whole);
      at += whole.length;
    }
  }
  const files = pieces.filter(({ begins, ends }) => ends > begins).map(({ file }) => file);
  return { output: window.result(), lostBytes, next: at, files };
}

const pieceBytes = 64 * 1024;

function* piecesOf(path: string, from: number, to: number): Generator<Buffer> {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return; // somebody tidied it away
  }
  try {
    for (let at = from; at < to;) {
      const piece = Buffer.alloc(Math.min(pieceBytes, to - at));
      const read = readSync(file, piece, 0, piece.length, at);
      if (read === 0) return;
      yield piece.subarray(0, read);
      at += read;
    }
  } finally {
    closeSync(file);
  }
}

/** How many bytes stand before a character of UTF-8 that is cut at the end. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
