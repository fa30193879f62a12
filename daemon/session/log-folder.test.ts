import type { FSWatcher } from 'node:fs';
import { appendFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SessionId } from '#protocol/values/ids.ts';
import { folderTimeMs } from '../base/limits.ts';
import { indexPathOf } from '../log/index-file.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { sessionIdOf } from '../testing/temporary-home.ts';
import { LogFolder, type LogFolderReader } from './log-folder.ts';
import { logSuffix } from './place.ts';

/** The real folder, with what is looked at written down. */
class Counting implements LogFolderReader {
  readonly touched: string[] = [];
  listed = 0;
  /** Watchers that the folder is still watched by. */
  readonly watchers = new Set<FSWatcher>();
  watchable = true;
  /** What the folder's time is said to be, where a test moves it by hand. */
  time: number | null = null;

  async folder(path: string): Promise<{ which: string; changedAt: number }> {
    const { ino, mtimeMs } = await stat(path);
    return { which: String(ino), changedAt: this.time ?? mtimeMs };
  }

  async names(path: string): Promise<string[]> {
    this.listed += 1;
    return await readdir(path);
  }

  async bytes(path: string): Promise<number> {
    this.touched.push(basename(path, logSuffix));
    return (await stat(path)).size;
  }

  watch(path: string, heard: (name: string | null) => void): FSWatcher {
    if (!this.watchable) throw new Error('the system has no watch left');
    const watcher = watch(path, { persistent: false }, (_, name) => heard(name));
    this.watchers.add(watcher);
    watcher.once('close', () => this.watchers.delete(watcher));
    return watcher;
  }
}

/** A folder of so many logs that has been as it is for long. */
async function folderOf(count: number) {
  const path = join(temporaryFolder(), 'sessions');
  await mkdir(path);
  const log = (number: number) => join(path, `${sessionIdOf(number)}${logSuffix}`);
  for (let number = 1; number <= count; number += 1) writeFileSync(log(number), 'a log');
  const reader = new Counting();
  const clock = new ManualClock(Date.now() + 10 * folderTimeMs);
  const logs = new LogFolder(path, clock, reader);
  onTestFinished(() => logs.close());
  const heard: (SessionId | null)[] = [];
  let wake = () => {};
  logs.follow((sessionId) => {
    heard.push(sessionId);
    wake();
  });
  /** Resolves once the kernel has told of it: not every system does so at once. */
  const hears = async (number: number) => {
    while (!heard.includes(sessionIdOf(number))) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { path, log, reader, clock, logs, heard, hears };
}

test('the first look is at every log; then, at rest, none is touched and no name is read', async () => {
  const { logs, reader } = await folderOf(500);
  const { there, gone } = await logs.look();
  expect([there.size, gone, new Set(there.values())]).toEqual([500, 'all others', new Set([5])]);
  expect([reader.touched.length, reader.listed]).toEqual([500, 1]);
  for (let time = 0; time < 3; time += 1) expect(await logs.look()).toEqual({ there: new Map(), gone: new Set() });
  expect([reader.touched.length, reader.listed]).toEqual([500, 1]);
});

test('only logs that were written, made or removed are looked at again, whoever did it, and each is told of', async () => {
  const { logs, log, reader, hears } = await folderOf(50);
  await logs.look();
  reader.touched.length = 0;
  appendFileSync(log(7), ' that goes on');
  await hears(7);
  writeFileSync(log(51), 'new');
  await hears(51);
  rmSync(log(9));
  await hears(9);
  writeFileSync(indexPathOf(log(8)), 'no log');
  const { there, gone } = await logs.look();
  expect(there).toEqual(
    new Map([
      [sessionIdOf(7), 18],
      [sessionIdOf(51), 3],
    ]),
  );
  expect(gone).toEqual(new Set([sessionIdOf(9)]));
  expect(reader.touched.toSorted()).toEqual([7, 9, 51].map(sessionIdOf));
});

test.runIf(process.platform === 'linux')(
  'what was written before a look began is in it, without any waiting',
  async () => {
    const { logs, log } = await folderOf(50);
    await logs.look();
    for (let number = 1; number <= 50; number += 1) {
      appendFileSync(log(number), '.');
      expect([...(await logs.look()).there]).toEqual([[sessionIdOf(number), 6]]);
    }
  },
);

test('a name that comes or goes without moving the time of a folder that has just changed is found', async () => {
  const { logs, log, path, reader, clock } = await folderOf(5);
  // Nothing is heard, as on a system that tells late.
  reader.watch = () => watch(temporaryFolder());
  reader.time = clock.now() - folderTimeMs + 1;
  await logs.look();
  reader.touched.length = 0;
  writeFileSync(log(6), 'new');
  rmSync(log(1));
  expect(await logs.look()).toEqual({ there: new Map([[sessionIdOf(6), 3]]), gone: new Set([sessionIdOf(1)]) });
  expect(reader.touched.toSorted()).toEqual([1, 6].map(sessionIdOf));
  clock.advance(1000);
  await logs.look();
  const { listed } = reader;
  await logs.look();
  expect(reader.listed).toBe(listed);
  expect(await readdir(path)).toHaveLength(5);
});

test('where the folder cannot be watched, each look is at every log, until it can', async () => {
  const { logs, log, reader } = await folderOf(5);
  reader.watchable = false;
  for (let time = 1; time <= 2; time += 1) {
    appendFileSync(log(3), '.');
    const { there, gone } = await logs.look();
    expect([there.size, there.get(sessionIdOf(3)), gone]).toEqual([5, 5 + time, 'all others']);
  }
  reader.watchable = true;
  expect((await logs.look()).there.size).toBe(5);
  expect((await logs.look()).there.size).toBe(0);
  // One that fails is let go.
  const [watcher] = reader.watchers;
  watcher?.emit('error', new Error('the watch is lost'));
  expect((await logs.look()).there.size).toBe(5);
  expect(reader.watchers.has(watcher as FSWatcher)).toBe(false);
});

test('another folder that was put in its place is looked at as a whole, and followed', async () => {
  const { logs, log, path, reader, hears } = await folderOf(5);
  await logs.look();
  renameSync(path, `${path}-old`);
  await mkdir(path);
  writeFileSync(log(4), 'restored');
  expect(await logs.look()).toEqual({ there: new Map([[sessionIdOf(4), 8]]), gone: 'all others' });
  appendFileSync(log(4), ' and written');
  await hears(4);
  expect((await logs.look()).there).toEqual(new Map([[sessionIdOf(4), 20]]));
  expect(reader.watchers.size).toBe(1);
  logs.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(reader.watchers.size).toBe(0);
});

test('what its owner is unsure about, and what could not be told, is looked at again', async () => {
  const { logs, log, reader } = await folderOf(5);
  const bytes = reader.bytes.bind(reader);
  reader.bytes = (path) =>
    path === log(2) ? Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' })) : bytes(path);
  expect((await logs.look()).there.get(sessionIdOf(2))).toBeNull();
  expect((await logs.look()).there).toEqual(new Map([[sessionIdOf(2), null]]));
  reader.bytes = bytes;
  expect((await logs.look()).there).toEqual(new Map([[sessionIdOf(2), 5]]));
  logs.suspect(sessionIdOf(3));
  expect((await logs.look()).there).toEqual(new Map([[sessionIdOf(3), 5]]));
  logs.suspectAll();
  expect((await logs.look()).there.size).toBe(5);
});
