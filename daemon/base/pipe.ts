/**
 * A real kernel pipe between a child process and us. Node's own 'pipe' is a socket pair on Linux, on which `> /dev/stderr`, `tee /dev/stdout`
 * and the like fail with ENXIO; a FIFO that is unlinked as soon as both ends are open behaves as every shell user expects.
 * Where no FIFO can be made the caller falls back on Node's pipe.
 *
 * Node can make no FIFO, `mkfifo` can; to run it costs about what a short command costs. So it makes a handful at once, and the next handful
 * while there are some left: a command waits for it only when it is the first.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, rmSync, unlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
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
  closeWriter(): void;
}

/** Returns null where this system has no FIFO to offer (no `mkfifo`, a temporary folder that holds none). */
export async function openPipe(): Promise<Pipe | null> {
  // Once more where what was kept has been swept away meanwhile, as temporary folders are.
  for (let failures = 0; failures < 2;) {
    const path = shelf.paths.pop();
    if (path === undefined) {
      if (!(await (filling ??= fill()))) failures++;
      continue;
    }
    if (shelf.paths.length < fewLeft) filling ??= fill();
    const pipe = openFifo(path);
    if (pipe !== null) return pipe;
    failures++;
    clear();
  }
  return null;
}

const handful = 16;
const fewLeft = 4;
const shelf: { folder: string | null; paths: string[] } = { folder: null, paths: [] };
let filling: Promise<boolean> | null = null;
let made = 0;

/** False where none could be made: the next one begins anew. */
async function fill(): Promise<boolean> {
  try {
    if (shelf.folder === null) {
      const folder = await mkdtemp(join(tmpdir(), 'alcove-pipe-'));
      shelf.folder = folder;
      process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    }
    const { folder } = shelf;
    const paths = Array.from({ length: handful }, () => join(folder, String(++made)));
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
    shelf.paths.push(...paths);
    return true;
  } catch {
    clear();
    return false;
  } finally {
    filling = null;
  }
}

function clear(): void {
  shelf.folder = null;
  shelf.paths.length = 0;
}

/** Synchronous: neither open waits for anybody here, and three trips to Node's threads cost more than the whole. */
function openFifo(path: string): Pipe | null {
  let reader: Socket | null = null;
  try {
    // Reader first and non-blocking: the writer then opens at once and stays blocking, as a child expects of its stdout.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    reader = new Socket({ fd: descriptor, readable: true, writable: false });
    const writer = openSync(path, constants.O_WRONLY);
    unlinkSync(path);
    return { reader, writer, closeWriter: () => closeSync(writer) };
  } catch {
    reader?.destroy();
    return null;
  }
}
