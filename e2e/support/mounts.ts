/**
 * Real disks that refuse: a small one that fills up, and one that is read-only. Mounting takes root; where nobody may mount, `canMount` is
 * false and what needs it is skipped with that reason.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const canMount = tryToMount();

function tryToMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), 'alcove-mount-'));
  try {
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]).status !== 0) return false;
    return spawnSync('umount', [folder]).status === 0;
  } finally {
    rmdirSync(folder);
  }
}

/** A disk of its own at this folder, which is made. `unmount` it before the folder is removed. */
export class SmallDisk {
  readonly folder: string;

  constructor(folder: string, bytes: number) {
    mkdirSync(folder, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'tmpfs', folder]);
    this.folder = folder;
  }

  /** Leaves no byte free. */
  fill(): void {
    const file = openSync(this.#filler, 'a', 0o600);
    try {
      for (let size = 64 * 1024; size >= 1;) {
        try {
          writeSync(file, Buffer.alloc(size));
        } catch {
          size = Math.floor(size / 2);
        }
      }
    } finally {
      closeSync(file);
    }
  }

  /** As one who deletes something large. */
  makeSpace(): void {
    rmSync(this.#filler, { force: true });
  }

  makeReadOnly(): void {
    execFileSync('mount', ['-o', 'remount,ro', this.folder]);
  }

  unmount(): void {
    execFileSync('umount', ['-l', this.folder]);
  }

  get #filler(): string {
    return join(this.folder, 'filler');
  }
}
