/**
 * The file that a recording is written to: new, for its owner alone, bounded. Each entry is with the kernel when it is written, so that after a
 * kill the file is a readable prefix. A disk that refuses ends the recording and never the run: `problem` says so.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { messageOf, systemCode } from '../base/errors.ts';
import { ownerOnlyFileMode } from '../base/files.ts';
import { maxRecordingBytes } from '../base/limits.ts';
import type { Entry } from './format.ts';

/** Kept free for the entry that says that it is full. */
const lastEntryBytes = 64;

export class RecordingFile {
  readonly path: string;
  readonly #maxBytes: number;
  #file: number | null;
  #bytes = 0;
  #problem: string | null = null;

  private constructor(path: string, file: number, maxBytes: number) {
    this.path = path;
    this.#file = file;
    this.#maxBytes = maxBytes;
  }

  /** Rejects where the file is there already, or cannot be made: nothing is overwritten. */
  static open(path: string, maxBytes = maxRecordingBytes): RecordingFile {
    try {
      return new RecordingFile(path, openSync(path, 'wx', ownerOnlyFileMode), maxBytes);
    } catch (error) {
      const why = systemCode(error) === 'EEXIST' ? 'it is there already, and is not overwritten' : messageOf(error);
      throw new Error(`The recording cannot be written to ${path}: ${why}. Name another file.`, { cause: error });
    }
  }

  /** Why the recording is not whole; null where it is. */
  get problem(): string | null {
    return this.#problem;
  }

  write(entry: Entry): void {
    if (this.#file === null) return;
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    if (this.#bytes + line.length > this.#maxBytes - lastEntryBytes) {
      this.#put(Buffer.from(`${JSON.stringify({ type: 'full' } satisfies Entry)}\n`));
      this.#problem = `The recording ended at ${this.#maxBytes} bytes (maxRecordingBytes); the run went on without it.`;
      return this.close();
    }
    this.#put(line);
  }

  close(): void {
    if (this.#file === null) return;
    const file = this.#file;
    this.#file = null;
    closeSync(file);
  }

  #put(line: Uint8Array): void {
    try {
      // A disk that fills up takes a part of it: the reader knows a line that was cut.
      for (let done = 0; done < line.length && this.#file !== null;) done += writeSync(this.#file, line, done);
      this.#bytes += line.length;
    } catch (error) {
      this.#problem ??= `The recording ended early: ${messageOf(error)}. The run went on without it.`;
      this.close();
    }
  }
}
