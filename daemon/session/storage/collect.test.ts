import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Draft } from '#protocol/event.ts';
import type { HomePaths } from '../../base/files.ts';
import { maxSpillsBytes, maxTornBytes, unreferredMs } from '../../base/limits.ts';
import { sessionWith, type MadeSession } from '../../testing/session-with.ts';
import { sessionIdOf } from '../../testing/temporary-home.ts';
import { Blobs } from '../blobs.ts';
import { placeInHome } from '../place.ts';
import { collect, type CollectOptions } from './collect.ts';
import { storedFiles } from './stored.ts';

const now = Date.UTC(2030, 0, 1);
const { signal } = new AbortController();
const free = (home: HomePaths, more: Partial<CollectOptions> = {}) => collect(home, { now, signal, ...more });

function put(path: string, bytes: number | string, at = now): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof bytes === 'string' ? bytes : Buffer.alloc(bytes));
  utimesSync(path, at / 1000, at / 1000);
  return path;
}

const old = now - unreferredMs;

async function blobIn(home: HomePaths, text: string, at = old) {
  const blobs = new Blobs(home.blobs);
  const blob = await blobs.put(Buffer.from(text));
  const path = blobs.pathOf(blob.sha256);
  utimesSync(path, at / 1000, at / 1000);
  return { blob, path, blobs };
}

async function withPicture(number: number, made: MadeSession, text: string) {
  const { blob, path } = await blobIn(made.home, text);
  const command = made.ids.mark();
  const image: Draft = {
    type: 'input.queued',
    command,
    inputId: command.id,
    target: 'next-turn',
    parts: [{ type: 'image', blob, mediaType: 'image/png', name: `${number}.png` }],
    origin: 'person',
  };
  await made.session.append([image]);
  return path;
}

test('a blob that a log refers to stays, of whatever age; one that none refers to goes once it is a week old', async () => {
  const made = await sessionWith();
  const needed = await withPicture(1, made, 'needed');
  const loose = await blobIn(made.home, 'loose');
  const fresh = await blobIn(made.home, 'fresh', old + 1);
  const { freed, blobsKept } = await free(made.home);
  expect({ freed: freed.blobs, blobsKept }).toEqual({ freed: { files: 1, bytes: 5 }, blobsKept: null });
  expect([needed, loose.path, fresh.path].map((path) => existsSync(path))).toEqual([true, false, true]);
});

test('a blob that was asked for again counts as new: whoever is about to refer to it finds it', async () => {
  const made = await sessionWith();
  const { path, blobs } = await blobIn(made.home, 'drafted', Date.now() - 2 * unreferredMs);
  await blobs.put(Buffer.from('drafted'));
  const { freed } = await free(made.home, { now: Date.now() });
  expect({ freed: freed.blobs.files, there: existsSync(path) }).toEqual({ freed: 0, there: true });
});

test('where one log cannot be read, no blob goes, and it is said why', async () => {
  const made = await sessionWith();
  const loose = await blobIn(made.home, 'loose');
  for (const title of ['one', 'two']) await made.session.append([{ type: 'session.titled', title, by: 'person' }]);
  await made.session.close();
  const bytes = readFileSync(made.place.log);
  bytes[60] = (bytes[60] ?? 0) ^ 0xff;
  writeFileSync(made.place.log, bytes);
  const { freed, blobsKept } = await free(made.home);
  expect(freed.blobs.files).toBe(0);
  expect(blobsKept).toContain(made.place.log);
  expect(existsSync(loose.path)).toBe(true);
});

test('a log with a torn end, which every crash may leave, is no reason to keep what nobody needs', async () => {
  const made = await sessionWith();
  const needed = await withPicture(1, made, 'needed');
  const loose = await blobIn(made.home, 'loose');
  await made.session.close();
  const bytes = readFileSync(made.place.log);
  writeFileSync(made.place.log, Buffer.concat([bytes, bytes.subarray(0, 30)]));
  await free(made.home);
  expect([needed, loose.path].map((path) => existsSync(path))).toEqual([true, false]);
});

test('outputs beyond the cap go, the oldest first; those of a session that is being written stay', async () => {
  const made = await sessionWith();
  const caps = { spills: 25, torn: maxTornBytes };
  const live = put(join(made.place.spills, 'cal_1.txt'), 10, now - 9000);
  const rests = placeInHome(made.home, sessionIdOf(2)).spills;
  const [oldest, middle, newest] = [3, 2, 1].map((age) => put(join(rests, `cal_${age}.txt`), 10, now - age * 1000));
  const { freed } = await free(made.home, { caps });
  expect(freed.spills).toEqual({ files: 2, bytes: 20 });
  expect([live, oldest, middle, newest].map((path) => existsSync(path ?? ''))).toEqual([true, false, false, true]);
  await made.session.close();
  await free(made.home, { allOf: new Set(['spills']) });
  expect([live, newest, rests].map((path) => existsSync(path ?? ''))).toEqual([false, false, false]);
});

test('at a cap nothing goes, with one byte more the oldest does', async () => {
  const made = await sessionWith();
  await made.session.close();
  const caps = { spills: 30, torn: 30 };
  const ends = [1, 2, 3].map((age) => put(`${made.place.log}.torn-${age}`, 10, now - age * 1000));
  expect((await free(made.home, { caps })).freed.torn.files).toBe(0);
  put(`${made.place.log}.torn`, 1);
  expect((await free(made.home, { caps })).freed.torn).toEqual({ files: 1, bytes: 10 });
  expect(ends.map((path) => existsSync(path))).toEqual([true, true, false]);
  // What stands in limits.ts is what counts where nobody says otherwise.
  expect({ maxSpillsBytes, maxTornBytes }).toEqual({ maxSpillsBytes: 2 ** 31, maxTornBytes: 2 ** 26 });
});

test('what a crash left half made goes after a week, and a log, its index and what nobody knows stay', async () => {
  const made = await sessionWith();
  await made.session.close();
  const temporary = `.${'ab'.repeat(6)}.tmp`;
  const left = [
    put(`${made.place.log}.repack`, 5, old),
    put(join(made.home.blobs, 'aa', `${'a'.repeat(64)}${temporary}`), 5, old),
    put(join(made.home.home, `.projects.json${temporary}`), 5, old),
  ];
  const kept = [
    made.place.log,
    put(join(made.home.sessions, 'notes.txt'), 5, 0),
    put(join(made.home.home, 'settings.json'), '{}', 0),
    put(`${made.place.log}.repack2${temporary}`, 5, old + 1),
  ];
  utimesSync(made.place.log, 0, 0);
  expect((await free(made.home)).freed.leftovers).toEqual({ files: 3, bytes: 15 });
  expect({ left: left.filter((path) => existsSync(path)), kept: kept.filter((path) => !existsSync(path)) }).toEqual({
    left: [],
    kept: [],
  });
});

test('a dry run says the same and removes nothing', async () => {
  const made = await sessionWith();
  await made.session.close();
  await blobIn(made.home, 'loose');
  put(`${made.place.log}.torn`, 10);
  const before = await storedFiles(made.home);
  const all = { allOf: new Set(['torn'] as const) };
  const would = await free(made.home, { ...all, dryRun: true });
  expect(await storedFiles(made.home)).toEqual(before);
  expect(await free(made.home, all)).toEqual(would);
  expect(would.freed).toMatchObject({ blobs: { files: 1 }, torn: { files: 1, bytes: 10 } });
});

test('what a home holds is told by kind, each file once, and links are not followed', async () => {
  const made = await sessionWith();
  await made.session.close();
  put(`${made.place.log}.torn`, 7);
  put(join(made.place.spills, 'cal_1.txt'), 9);
  put(made.home.diagnostics, 11);
  const elsewhere = put(join(made.home.home, '..', 'elsewhere', 'big.txt'), 13);
  symlinkSync(dirname(elsewhere), join(made.home.spills, 'ses_link'));
  symlinkSync(elsewhere, join(made.home.blobs, 'b'.repeat(64)));
  const files = await storedFiles(made.home);
  expect(files.filter((one) => one.bytes === 13)).toEqual([]);
  expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
  const bytes = (kind: string) => files.filter((one) => one.kind === kind).map((one) => one.bytes);
  expect(bytes('torn')).toEqual([7]);
  expect(bytes('spills')).toEqual([9]);
  expect(bytes('diagnostics')).toEqual([11]);
  expect(bytes('logs')).toEqual([statSync(made.place.log).size]);
  expect(files.find(({ kind }) => kind === 'spills')?.sessionId).toBe(sessionIdOf(1));
});
