/**
 * Stands between a program and its disk: each call of the file system's promises is announced before it happens, so that a test can change the
 * disk in just that moment, or end everything there. For code that imports node:fs/promises by name; calls of the announced function itself
 * are not announced.
 */
import { syncBuiltinESMExports } from 'node:module';
import files, { type FileHandle } from 'node:fs/promises';
import { AsyncLocalStorage } from 'node:async_hooks';

export interface DiskStep {
  /** From 1 on. */
  readonly number: number;
  readonly call: string;
  /** What it is given first; a path, unless it is a call of an open file. */
  readonly subject: unknown;
}

const watched = new AsyncLocalStorage<(call: string, subject: unknown) => Promise<void>>();
let installed = false;

/** Runs `work`, and before each of its calls `announce`, which may wait. Returns how many steps there were, and what came of it. */
export async function stepByStep<T>(
  announce: (step: DiskStep) => void | Promise<void>,
  work: () => Promise<T>,
): Promise<{ steps: number; result: T }> {
  await install();
  let steps = 0;
  const result = await watched.run(async (call, subject) => {
    const number = ++steps;
    await watched.exit(async () => announce({ number, call, subject }));
  }, work);
  return { steps, result };
}

type Calls = Record<string, (...args: unknown[]) => Promise<unknown>>;

const pathCalls = [
  'open',
  'mkdir',
  'rename',
  'unlink',
  'link',
  'lstat',
  'stat',
  'readlink',
  'rmdir',
  'readdir',
  'realpath',
];
const fileCalls = [
  'writeFile',
  'readFile',
  'read',
  'chmod',
  'chown',
  'sync',
  'stat',
  'close',
  'appendFile',
  'truncate',
];

/** For the life of the process: outside `stepByStep` the calls are what they were. */
async function install(): Promise<void> {
  if (installed) return;
  installed = true;
  const handle: FileHandle = await files.open('/dev/null');
  announceAll(Object.getPrototypeOf(handle) as Calls, fileCalls);
  await handle.close();
  announceAll(files as unknown as Calls, pathCalls);
  syncBuiltinESMExports();
}

function announceAll(calls: Calls, names: readonly string[]): void {
  for (const name of names) {
    const original = calls[name] as Calls[string];
    calls[name] = async function (this: unknown, ...args: unknown[]) {
      await watched.getStore()?.(name, args[0]);
      return Reflect.apply(original, this, args);
    };
  }
}
