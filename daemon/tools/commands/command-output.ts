/**
 * What a command prints while it is waited for: a window for the model, and the whole in a file beside the log as soon as the window does not
 * hold it, up to `maxSpillBytes`. A disk that refuses the file does not end the command.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { maxSpillBytes } from '../../base/limits.ts';
import type { ToolEnvironment } from '../tool.ts';
import { OutputWindow } from '../truncate.ts';

export class CommandOutput {
  readonly window = new OutputWindow();
  readonly path: string;
  /** What the file holds. Nothing: it was not needed, or the disk refused. */
  spilled: 'nothing' | 'all' | 'start' = 'nothing';
  #file: number | null = null;
  #written = 0;
  #refused = false;

  private constructor(path: string) {
    this.path = path;
  }

  static async in(environment: Pick<ToolEnvironment, 'spillFile'>): Promise<CommandOutput> {
    return new CommandOutput(await environment.spillFile(`command-${randomBytes(6).toString('hex')}.txt`));
  }

  push(piece: Uint8Array): void {
    const whole = this.window.whole;
    this.window.push(piece);
    if (this.window.cut === null || this.#refused) return;
    // The piece that fills the window brings along all before it, which only the window has held so far.
    for (const part of whole ?? [piece]) this.#spill(part);
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  /** Synchronous, as a queue of pieces would have no bound; a piece is what a pipe holds, some microseconds for the page cache. */
  #spill(part: Uint8Array): void {
    const room = maxSpillBytes - this.#written;
    if (room < part.length && this.spilled === 'all') this.spilled = 'start';
    if (room <= 0) return;
    try {
      this.#file ??= openSync(this.path, 'wx', 0o600);
      if (this.spilled === 'nothing') this.spilled = 'all';
      this.#written += writeSync(this.#file, part, 0, Math.min(room, part.length));
      if (room < part.length) this.spilled = 'start';
    } catch {
      // A full disk must not end the command; the model is told that not all was kept.
      this.#refused = true;
      if (this.spilled === 'all') this.spilled = 'start';
    }
  }
}
