/**
 * The same events, byte for byte, in larger frames: what many small writes left becomes few frames, and the new file takes the log's place. For
 * the holder of the log's lock, in two halves: `begin` copies what stands there while the log is written on, `finish` copies what came
 * meanwhile, with no write in flight, and changes the places. A crash at any point leaves the old log or the new one, whole; the index comes
 * along, as frames end where its bases stand. A damaged log is left alone.
 */
import { createHash } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { assert } from '../base/errors.ts';
import { syncFolder } from '../base/files.ts';
import { frameTargetBytes } from '../base/limits.ts';
import { indexPathOf, LogIndex, type IndexEntry } from './index-file.ts';
import { LogError } from './log-error.ts';
import { openLogFile, type OpenLogFile } from './log-file.ts';
import { asideSuffix, logStart, readFrames, type LogPlace } from './reader.ts';
import { LogWriter, type LogTail } from './writer.ts';

export class Repack {
  readonly #path: string;
  readonly #aside: string;
  readonly #writer: LogWriter;
  readonly #index: LogIndex;
  /** Up to here it is copied. */
  #copied: LogPlace = logStart;
  /** The next base that the old index holds, and where the one behind it begins. */
  #due: IndexEntry | null = null;
  #indexRead = 0;

  private constructor(path: string, aside: string, writer: LogWriter, index: LogIndex) {
    this.#path = path;
    this.#aside = aside;
    this.#writer = writer;
    this.#index = index;
  }

  /** Rejects, and leaves nothing, where the log cannot be read whole or the copy cannot be written; with the signal's reason once it is aborted. */
  static async begin(
    path: string,
    upTo: LogTail,
    signal: AbortSignal,
    openFile: OpenLogFile = openLogFile,
  ): Promise<Repack> {
    const aside = `${path}${asideSuffix}`;
    await removeAside(aside); // What an earlier try left that was killed.
    const writer = await LogWriter.create(aside, openFile);
    const repack = new Repack(path, aside, writer, await LogIndex.openForWriting(aside));
    try {
      await repack.#copy(upTo, signal);
      await writer.sync();
      return repack;
    } catch (error) {
      await repack.discard();
      throw error;
    }
  }

  /**
   * With no write in flight, neither to the log nor to its index: the new file becomes the log. Whoever wrote the old one goes on with what is
   * returned. Rejects, having changed nothing, where that cannot be done.
   */
  async finish(tail: LogTail): Promise<{ writer: LogWriter; index: LogIndex }> {
    try {
      await this.#copy(tail, null);
      await this.#writer.sync();
      await rename(this.#aside, this.#path);
    } catch (error) {
      await this.discard();
      throw error;
    }
    // From here on the old file is nobody's: whatever fails now costs the index at most, which can be made anew.
    this.#writer.movedTo(this.#path);
    this.#index.movedTo(this.#path);
    await rename(indexPathOf(this.#aside), indexPathOf(this.#path)).catch(() => undefined);
    await syncFolder(dirname(this.#path)).catch(() => undefined);
    return { writer: this.#writer, index: this.#index };
  }

  async discard(): Promise<void> {
    await this.#writer.close();
    await this.#index.close();
    await removeAside(this.#aside);
  }

  /** What stands between the place reached and the tail, and reads it once more from the copy: not a byte may differ. */
  async #copy(tail: LogTail, signal: AbortSignal | null): Promise<void> {
    const from = this.#copied;
    const began = this.#writer.tail;
    if (tail.lastSeq === from.seq) return;
    const bases = await this.#basesBehind();
    const lines: string[] = [];
    let bytes = 0;
    let seq = from.seq;
    const flush = async () => {
      if (lines.length === 0) return;
      await this.#writer.append(lines.splice(0), this.#writer.tail.lastSeq + 1);
      bytes = 0;
    };
    const read = createHash('sha256');
    try {
      for await (const found of readFrames(this.#path, from, { until: tail.end })) {
        signal?.throwIfAborted();
        if (found.kind === 'damage') throw damaged(this.#path, found.reason);
        for (const line of found.lines) {
          const length = Buffer.byteLength(line) + 1;
          if (bytes + length > frameTargetBytes) await flush();
          lines.push(line);
          bytes += length;
          seq += 1;
          read.update(line).update('\n');
          if (this.#due === null || this.#due.seq > seq) continue;
          await flush();
          if (this.#due.seq === seq) await this.#index.append({ ...this.#due, offset: this.#writer.tail.end });
          this.#due = (await bases.next()).value ?? null;
        }
      }
      await flush();
    } finally {
      await bases.return(undefined);
    }
    assert(
      seq === tail.lastSeq,
      `a repack of ${this.#path} copied up to event ${seq}, and it ends with ${tail.lastSeq}`,
    );
    if (read.digest('hex') !== (await this.#digest(began, signal)))
      throw damaged(this.#path, 'its copy is not the same');
    this.#copied = { offset: tail.end, seq: tail.lastSeq };
  }

  /** Of the lines that were written behind a place of the copy. */
  async #digest({ end, lastSeq }: LogTail, signal: AbortSignal | null): Promise<string> {
    const hash = createHash('sha256');
    const { end: until } = this.#writer.tail;
    for await (const found of readFrames(this.#aside, { offset: end, seq: lastSeq }, { until })) {
      signal?.throwIfAborted();
      if (found.kind === 'damage') throw damaged(this.#aside, found.reason);
      for (const line of found.lines) hash.update(line).update('\n');
    }
    return hash.digest('hex');
  }

  /** Entries of the old index that were not copied yet; the first of them becomes the one that is due. */
  async #basesBehind(): Promise<AsyncGenerator<IndexEntry, undefined>> {
    const entries = this.#entries();
    this.#due ??= (await entries.next()).value ?? null;
    return entries;
  }

  async *#entries(): AsyncGenerator<IndexEntry, undefined> {
    const index = await LogIndex.openForReading(this.#path);
    try {
      for await (const { entry, end } of index.entriesFrom(this.#indexRead)) {
        this.#indexRead = end;
        if (entry !== null) yield entry;
      }
      return undefined;
    } finally {
      await index.close();
    }
  }
}

function damaged(path: string, reason: string): LogError {
  return new LogError('damaged', `${path} was not repacked: ${reason}.`);
}

async function removeAside(aside: string): Promise<void> {
  for (const path of [aside, indexPathOf(aside)]) await rm(path, { force: true });
}
