/**
 * The bytes of a log file for reading: positional, through one window, so that a walk over many small frames is few reads. The length is
 * fixed when it is opened: what a writer appends meanwhile is not seen, and nothing half-written is taken for damage when `until` is the
 * writer's end.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { readWindowBytes } from '../base/limits.ts';

export class LogBytes {
  readonly #file: FileHandle;
  readonly #length: number;
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;

  private constructor(file: FileHandle, length: number) {
    this.#file = file;
    this.#length = length;
  }

  static async open(path: string, until = Number.POSITIVE_INFINITY): Promise<LogBytes> {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      return new LogBytes(file, Math.min(size, until));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get length(): number {
    return this.#length;
  }

  /** Fewer bytes than asked for only where the file ends. The buffer is good until the next call. */
  async at(offset: number, bytes: number): Promise<Buffer> {
    const end = Math.min(offset + bytes, this.#length);
    if (offset >= end) return Buffer.alloc(0);
    if (offset < this.#windowStart || end > this.#windowStart + this.#window.length) await this.#load(offset, end);
    return this.#window.subarray(offset - this.#windowStart, end - this.#windowStart);
  }

  /** As many bytes as are at hand, at least so many: for a search that does not know how far it must look. */
  async from(offset: number, atLeast: number): Promise<Buffer> {
    const start = await this.at(offset, atLeast);
    return start.length === 0 ? start : this.#window.subarray(offset - this.#windowStart);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #load(offset: number, end: number): Promise<void> {
    const wanted = Math.min(Math.max(end - offset, readWindowBytes), this.#length - offset);
    const buffer = Buffer.allocUnsafe(wanted);
    let filled = 0;
    while (filled < wanted) {
      const { bytesRead } = await this.#file.read(buffer, filled, wanted - filled, offset + filled);
      if (bytesRead === 0) break; // The file was cut since it was opened.
      filled += bytesRead;
    }
    this.#window = buffer.subarray(0, filled);
    this.#windowStart = offset;
  }
}
