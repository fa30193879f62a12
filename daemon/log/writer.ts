/**
 * Appends to one log. Whoever opens a writer holds the log's lock and has examined its tail. Invariants:
 * 1. One write is in flight at a time; it holds whole frames and starts at the log's end.
 * 2. `append` resolves when the kernel has taken every byte. Where it rejects with `write_failed`, the file is as it was before.
 * 3. Where a failed write cannot be cut back, or a sync failed, the log's end is unknown: the writer closes for good and says so.
 * 4. Seqs have no gap: the first of an append follows the last of the one before.
 */
import { dirname } from 'node:path';
import { assert, messageOf } from '../base/errors.ts';
import { syncFolder } from '../base/files.ts';
import { frameTargetBytes } from '../base/limits.ts';
import { encodeFrame, loadZstd, type Zstd } from './frame.ts';
import { LogError } from './log-error.ts';
import { openLogFile, type LogFile, type OpenLogFile } from './log-file.ts';
import { formOf, type LogForm } from './reader.ts';

/** Where a log ends, as `examine` found it. */
export interface LogTail {
  readonly end: number;
  readonly lastSeq: number;
}

export class LogWriter {
  #path: string;
  readonly #file: LogFile;
  readonly form: LogForm;
  readonly #zstd: Zstd;
  #end: number;
  #lastSeq: number;
  #inFlight: Promise<unknown> | null = null;
  /** Why nothing can be written any more. */
  #closedBecause: string | null = null;

  private constructor(path: string, file: LogFile, zstd: Zstd, tail: LogTail) {
    this.#path = path;
    this.#file = file;
    this.form = formOf(path);
    this.#zstd = zstd;
    this.#end = tail.end;
    this.#lastSeq = tail.lastSeq;
  }

  /** Opens an existing log whose tail is whole. Rejects with `changed` where the file does not end there. */
  static async open(path: string, tail: LogTail, openFile: OpenLogFile = openLogFile): Promise<LogWriter> {
    formOf(path);
    const file = await openFile(path, 'existing');
    try {
      const size = await file.size();
      if (size !== tail.end) {
        throw new LogError(
          'changed',
          `${path} has ${size} bytes where its last good frame ends at ${tail.end}: open it again`,
        );
      }
      return new LogWriter(path, file, await loadZstd(), tail);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Makes a new, empty log; its name outlives a power cut. */
  static async create(path: string, openFile: OpenLogFile = openLogFile): Promise<LogWriter> {
    formOf(path);
    const file = await openFile(path, 'new');
    try {
      await syncFolder(dirname(path));
      return new LogWriter(path, file, await loadZstd(), { end: 0, lastSeq: 0 });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** The end of what was written: what a reader of the live log may read `until`. */
  get tail(): LogTail {
    return { end: this.#end, lastSeq: this.#lastSeq };
  }

  /** The file was renamed. */
  movedTo(path: string): void {
    this.#path = path;
  }

  /** Why the log can no longer be written, or null while it can. */
  get closedBecause(): string | null {
    return this.#closedBecause;
  }

  /** Appends whole events as one write. Resolves with the bytes they take; call again only when it has settled. */
  async append(lines: readonly string[], firstSeq: number): Promise<{ offset: number; end: number }> {
    this.#assertOpen();
    assert(this.#inFlight === null, 'a second append while one is in flight');
    assert(firstSeq === this.#lastSeq + 1, `an append of event ${firstSeq} after event ${this.#lastSeq}`);
    assert(lines.length > 0, 'an append of no events');
    const bytes = this.#encode(lines, firstSeq);
    const offset = this.#end;
    const writing = this.#write(bytes, offset);
    this.#inFlight = writing;
    try {
      await writing;
    } finally {
      this.#inFlight = null;
    }
    this.#end = offset + bytes.length;
    this.#lastSeq += lines.length;
    return { offset, end: this.#end };
  }

  /** Resolves when everything appended before the call would outlive a power cut. May run beside an append. */
  async sync(): Promise<void> {
    this.#assertOpen();
    try {
      await this.#file.datasync();
    } catch (error) {
      // The kernel may have dropped what it could not write, and would not say so a second time.
      throw this.#closeForWriting('its last events may not be on disk', error);
    }
  }

  /** Waits for a write in flight. May be called again. */
  async close(): Promise<void> {
    const failed = this.#closedBecause;
    this.#closedBecause ??= 'it was closed';
    if (failed === 'it was closed') return;
    await this.#inFlight?.catch(() => undefined); // Its caller hears of its failure.
    if (failed === null) await this.#file.close();
  }

  #encode(lines: readonly string[], firstSeq: number): Buffer {
    if (this.form === 'lines') return Buffer.from(`${lines.join('\n')}\n`);
    const frames: Buffer[] = [];
    for (const group of intoFrames(lines, firstSeq)) frames.push(encodeFrame(this.#zstd, group));
    return frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames);
  }

  async #write(bytes: Buffer, offset: number): Promise<void> {
    try {
      let written = 0;
      while (written < bytes.length) {
        const taken = await this.#file.write(bytes.subarray(written), offset + written);
        if (taken === 0) throw new Error('the disk took no more bytes');
        written += taken;
      }
    } catch (error) {
      await this.#cutBack(offset, error);
      throw new LogError(
        'write_failed',
        `${this.#path} could not be written (${messageOf(error)}). Nothing was added to it.`,
        { cause: error },
      );
    }
  }

  async #cutBack(offset: number, cause: unknown): Promise<void> {
    try {
      await this.#file.truncate(offset);
    } catch (error) {
      throw this.#closeForWriting('half-written events could not be removed again', new AggregateError([cause, error]));
    }
  }

  #closeForWriting(because: string, cause: unknown): LogError {
    this.#closedBecause = because;
    // The failure to tell is the first one.
    void this.#file.close().catch(() => undefined);
    return new LogError('closed_for_writing', this.#refusal(), { cause });
  }

  #assertOpen(): void {
    if (this.#closedBecause !== null) throw new LogError('closed_for_writing', this.#refusal());
  }

  #refusal(): string {
    return `${this.#path} is closed for writing: ${this.#closedBecause}. Open the session again.`;
  }
}

/** Groups of about `frameTargetBytes`; an event that is larger has a frame of its own. */
export function* intoFrames(
  lines: readonly string[],
  firstSeq: number,
): Generator<{ firstSeq: number; lines: string[] }> {
  let group: string[] = [];
  let groupBytes = 0;
  let seq = firstSeq;
  for (const line of lines) {
    const bytes = Buffer.byteLength(line) + 1;
    if (group.length > 0 && groupBytes + bytes > frameTargetBytes) {
      yield { firstSeq: seq - group.length, lines: group };
      group = [];
      groupBytes = 0;
    }
    group.push(line);
    groupBytes += bytes;
    seq += 1;
  }
  if (group.length > 0) yield { firstSeq: seq - group.length, lines: group };
}
