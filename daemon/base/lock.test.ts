import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { acquireLock, isLocked, LockFileError, type Lock } from './lock.ts';

const holderProgram = fileURLToPath(new URL('fixtures/hold-lock.ts', import.meta.url));

/** A process that tried to take the lock, and what it said. */
async function holder(path: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', holderProgram, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, said };
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

function taken(path: string): Lock {
  const lock = acquireLock(path);
  if (lock === null) throw new Error(`${path} is busy`);
  onTestFinished(() => lock.release());
  return lock;
}

test('C03 a lock that another process holds is not given, and is free as soon as that process is killed', async () => {
  const path = join(temporaryFolder(), 'lock');
  const { child, said } = await holder(path);
  expect(said).toBe('held');
  expect(acquireLock(path)).toBeNull();
  await kill(child);
  taken(path);
});

test('C03 another process is refused while this one holds the lock, also after this one asked twice', async () => {
  const path = join(temporaryFolder(), 'lock');
  const lock = taken(path);
  expect(acquireLock(path)).toBeNull();
  expect((await holder(path)).said).toBe('busy');
  lock.release();
  expect((await holder(path)).said).toBe('held');
});

test('a lock is one lock by whatever name its folder is reached', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'locks'));
  symlinkSync(join(folder, 'locks'), join(folder, 'alias'));
  taken(join(folder, 'locks', 'a'));
  expect(acquireLock(join(folder, 'alias', 'a'))).toBeNull();
});

test('C05 an empty lock file left by a kill is taken', () => {
  const path = join(temporaryFolder(), 'lock');
  writeFileSync(path, '');
  taken(path);
});

test('C06 what a dead holder left behind says nothing about who holds it: the file is taken', async () => {
  const path = join(temporaryFolder(), 'lock');
  for (let round = 0; round < 3; round += 1) {
    const { child, said } = await holder(path);
    expect(said).toBe('held');
    await kill(child);
  }
  taken(path);
});

test('C05 a file that is no lock is named with what to do, and is left alone', () => {
  const path = join(temporaryFolder(), 'lock');
  const content = '{"pid":4711}\n'.repeat(200);
  writeFileSync(path, content);
  expect(() => acquireLock(path)).toThrow(LockFileError);
  expect(() => acquireLock(path)).toThrow(`${path} should be a lock file`);
  expect(readFileSync(path, 'utf8')).toBe(content);
});

test('releasing twice releases once, and never the lock of a later holder', () => {
  const path = join(temporaryFolder(), 'lock');
  const first = taken(path);
  first.release();
  taken(path);
  first.release();
  expect(acquireLock(path)).toBeNull();
});

test('a lock file is for its owner alone', () => {
  const path = join(temporaryFolder(), 'lock');
  taken(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('whether a lock is held is told without taking it or making its file, whoever holds it', async () => {
  const path = join(temporaryFolder(), 'lock');
  expect(isLocked(path)).toBe(false);
  expect(existsSync(path)).toBe(false);
  const { child, said } = await holder(path);
  expect([said, isLocked(path)]).toEqual(['held', true]);
  await kill(child);
  expect(isLocked(path)).toBe(false);
  const lock = taken(path);
  expect(isLocked(path)).toBe(true);
  // Asking has not dropped it.
  expect((await holder(path)).said).toBe('busy');
  lock.release();
  expect(isLocked(path)).toBe(false);
  writeFileSync(path, 'this is no lock\n'.repeat(100));
  expect(() => isLocked(path)).toThrow(LockFileError);
});
