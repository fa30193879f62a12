/**
 * The index beside a log (`LOG.index`): where a reader of the tail, or of a page, starts folding. It can be deleted at any time. Append-only;
 * a line is its CRC-32 in hex, a space, and `{ shape, seq, offset, base }`. An entry is believed only where the log agrees: the frame at its offset
 * begins with the next seq. Looking something up reads a few windows, not the file. Nothing here fails its caller: a broken index is a
 * missing one.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { baseShape } from '#protocol/conversation/base.ts';
import type { JsonValue } from '#protocol/values/json.ts';
import { ownerOnlyFileMode } from '../base/files.ts';
import { maxIndexEntryBytes, readWindowBytes } from '../base/limits.ts';
import { SerialQueue } from '../base/serial.ts';
import { crc32 } from './frame.ts';
import { isFrameStart, openLog, type LogPlace } from './reader.ts';

/** A frame ends at `offset` with event `seq`; `base` is the folded state there, opaque to this room. */
export interface IndexEntry extends LogPlace {
  readonly base: JsonValue;
}

/** After so many entries that the log contradicts, the index is of another log. */
const mostContradictions = 16;

export const indexSuffix = '.index';

export function indexPathOf(logPath: string): string {
  return `${logPath}${indexSuffix}`;
}

export class LogIndex {
  #logPath: string;
  readonly #writes = new SerialQueue();
  /** Null where the file cannot be opened: then there is no index. */
  #file: FileHandle | null;
  /** Byte length of the entries that may be believed. */
  #length: number;
  #lastSeq = 0;

  private constructor(logPath: string, file: FileHandle | null, length: number) {
    this.#logPath = logPath;
    this.#file = file;
    this.#length = length;
  }

  /** For the holder of the log's lock: entries at the end that are cut or that the log contradicts are removed. */
  static async openForWriting(logPath: string): Promise<LogIndex> {
    const index = await LogIndex.#open(logPath, 'a+');
    await index.#removeContradicted();
    return index;
  }

  /** For those who only look, such as an inspector. */
  static openForReading(logPath: string): Promise<LogIndex> {
    return LogIndex.#open(logPath, 'r');
  }

  static async #open(logPath: string, flags: 'a+' | 'r'): Promise<LogIndex> {
    try {
      const file = await open(indexPathOf(logPath), flags, ownerOnlyFileMode);
      const { size } = await file.stat();
      return new LogIndex(logPath, file, size);
    } catch {
      return new LogIndex(logPath, null, 0);
    }
  }

  /** The newest entry whose seq is at most `seq`, and that the log confirms; null: start from the log's beginning. */
  async find(seq: number = Number.POSITIVE_INFINITY): Promise<IndexEntry | null> {
    try {
      return await this.#confirming((confirms) => this.#findConfirmed(seq, confirms));
    } catch {
      return null;
    }
  }

  /** Remembers a base; quietly does nothing where an entry of this seq or a later one is there, or the file cannot be written. */
  append(entry: IndexEntry): Promise<void> {
    return this.#writes.run(async () => {
      if (this.#file === null || entry.seq <= this.#lastSeq) return;
      const json = JSON.stringify({ shape: baseShape, seq: entry.seq, offset: entry.offset, base: entry.base });
      const line = Buffer.from(`${checksumOf(json)} ${json}\n`);
      if (line.length > maxIndexEntryBytes) return;
      try {
        await this.#file.appendFile(line);
        this.#length += line.length;
        this.#lastSeq = entry.seq;
      } catch {
        await this.#giveUp();
      }
    });
  }

  /** Every entry that can be read, in order, from a byte on, with the byte behind it; null stands for one that cannot. What the log says of them is not asked. */
  async *entriesFrom(start: number): AsyncGenerator<{ entry: IndexEntry | null; end: number }> {
    for (let at = start; at < this.#length;) {
      const { entry, end } = await this.#lineAt(at);
      yield { entry, end };
      at = end;
    }
  }

  /** The log and this file were renamed. */
  movedTo(logPath: string): void {
    this.#logPath = logPath;
  }

  /** Resolves once what was to be remembered stands in the file. */
  settled(): Promise<void> {
    return this.#writes.idle();
  }

  close(): Promise<void> {
    return this.#writes.run(() => this.#giveUp());
  }

  async #removeContradicted(): Promise<void> {
    try {
      const kept = await this.#confirming(async (confirms) => {
        let end = this.#length;
        for (let tries = 0; end > 0 && tries < mostContradictions; tries += 1) {
          const line = await this.#lineBefore(end);
          if (line?.entry != null && (await confirms(line.entry)) !== 'contradicted') {
            this.#lastSeq = line.entry.seq;
            return end;
          }
          end = line?.start ?? 0;
        }
        return 0;
      });
      if (kept !== this.#length) {
        await this.#file?.truncate(kept);
        this.#length = kept;
      }
    } catch {
      await this.#giveUp();
    }
  }

  async #findConfirmed(seq: number, confirms: Confirms): Promise<IndexEntry | null> {
    let end = Number.isFinite(seq) ? await this.#endOfThoseUpTo(seq) : this.#length;
    for (let tries = 0; end > 0 && tries < mostContradictions; tries += 1) {
      const line = await this.#lineBefore(end);
      if (line === null) return null;
      if (line.entry !== null && line.entry.seq <= seq && (await confirms(line.entry)) === 'confirmed')
        return line.entry;
      end = line.start;
    }
    return null;
  }

  /** Where the entries with a seq of at most `seq` end: a binary search over lines, which are in the order of seqs. */
  async #endOfThoseUpTo(seq: number): Promise<number> {
    let low = 0; // All lines that start before it are at most `seq`.
    let high = this.#length; // All lines that start at or behind it are greater.
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const start = middle === low ? low : await this.#lineStart(middle);
      if (start >= high) {
        high = middle;
        continue;
      }
      const line = await this.#lineAt(start);
      // An unreadable line hides those behind it: an older entry is found instead, which is as good.
      if (line.entry !== null && line.entry.seq <= seq) low = line.end;
      else high = start;
    }
    return low;
  }

  async #confirming<T>(work: (confirms: Confirms) => Promise<T>): Promise<T> {
    const log = await openLog(this.#logPath);
    try {
      return await work(async (entry) => {
        // At the very end no frame follows that could confirm it; it stays for when one does.
        if (entry.offset === log.bytes.length) return 'unconfirmed';
        return (await isFrameStart(log.bytes, log.form, entry)) ? 'confirmed' : 'contradicted';
      });
    } finally {
      await log.bytes.close();
    }
  }

  /** The first line start at or behind a position; the length where there is none. */
  async #lineStart(position: number): Promise<number> {
    const newline = await this.#findNewline(position - 1);
    return newline === null ? this.#length : newline + 1;
  }

  async #lineAt(start: number): Promise<IndexLine & { end: number }> {
    const newline = await this.#findNewline(start);
    if (newline === null || newline - start > maxIndexEntryBytes)
      return { start, end: newline === null ? this.#length : newline + 1, entry: null };
    return { start, end: newline + 1, entry: entryOf(await this.#bytes(start, newline)) };
  }

  /** The line that ends at a line end, or at the file's end; null before the first. */
  async #lineBefore(end: number): Promise<IndexLine | null> {
    if (end <= 0) return null;
    for (let size = readWindowBytes; ; size *= 2) {
      const from = Math.max(0, end - size);
      const window = await this.#bytes(from, end);
      const newline = window.length < 2 ? -1 : window.lastIndexOf(10, window.length - 2);
      if (newline < 0 && from > 0 && size < maxIndexEntryBytes) continue;
      if (newline < 0 && from > 0) return { start: 0, entry: null };
      const start = from + newline + 1;
      const whole = window.length > 0 && window[window.length - 1] === 10;
      return { start, entry: whole ? entryOf(window.subarray(newline + 1, window.length - 1)) : null };
    }
  }

  async #findNewline(from: number): Promise<number | null> {
    for (let at = from; at < this.#length; at += readWindowBytes) {
      const found = (await this.#bytes(at, Math.min(at + readWindowBytes, this.#length))).indexOf(10);
      if (found >= 0) return at + found;
    }
    return null;
  }

  async #bytes(from: number, to: number): Promise<Buffer> {
    if (this.#file === null) return Buffer.alloc(0);
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(to - from), 0, to - from, from);
    return buffer.subarray(0, bytesRead);
  }

  async #giveUp(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    this.#length = 0;
    await file?.close().catch(() => undefined); // Nothing depends on it.
  }
}

/** `unconfirmed`: neither right nor wrong, there is nothing to see it by. */
type Confirms = (entry: IndexEntry) => Promise<'confirmed' | 'unconfirmed' | 'contradicted'>;

interface IndexLine {
  readonly start: number;
  /** Null where the line is damaged. */
  readonly entry: IndexEntry | null;
}

function entryOf(line: Buffer): IndexEntry | null {
  const text = line.toString('utf8');
  const json = text.slice(9);
  if (text[8] !== ' ' || text.slice(0, 8) !== checksumOf(json)) return null;
  // The checksum says that we wrote it, and the shape that this version can fold on from it.
  const { shape, ...entry } = JSON.parse(json) as IndexEntry & { shape?: string };
  return shape === baseShape ? entry : null;
}

function checksumOf(json: string): string {
  return crc32(Buffer.from(json)).toString(16).padStart(8, '0');
}
