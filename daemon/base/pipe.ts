/**
 * A real kernel pipe between a child process and us. Node's own 'pipe' is a socket pair on Linux, on which `> /dev/stderr`, `tee /dev/stdout`
 * and the like fail with ENXIO; a FIFO that is unlinked as soon as both ends are open behaves as every shell user expects.
 * Where no FIFO can be made the caller falls back on Node's pipe.
 */
import { execFile } from 'node:child_process';
import { constants, close, open } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Pipe {
  /** Not flowing yet. Ends when the last holder of the write end is gone. */
  readonly reader: Socket;
  /** Descriptor for the child. */
  readonly writer: number;
  /** To be called once the child is spawned or could not be: our copy would keep the pipe open. */
  closeWriter(): Promise<void>;
}

/** Returns null where this system has no FIFO to offer (no `mkfifo`, a temporary folder that holds none). */
export async function openPipe(): Promise<Pipe | null> {
  let folder: string;
  try {
    folder = await mkdtemp(join(tmpdir(), 'alcove-pipe-'));
  } catch {
    return null;
  }
  try {
    const path = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', ['-m', '600', path]);
    // Reader first and non-blocking: the writer then opens at once and stays blocking, as a child expects of its stdout.
    const readEnd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const reader = new Socket({ fd: readEnd, readable: true, writable: false });
    const writer = await promisify(open)(path, constants.O_WRONLY);
    return { reader, writer, closeWriter: () => promisify(close)(writer) };
  } catch {
    return null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
