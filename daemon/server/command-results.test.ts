/** The memory of commands outside sessions: R1 to R4 of command-results.ts, through restarts and torn files. */
import { appendFileSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RequestError } from '#protocol/errors.ts';
import type { CommandId } from '#protocol/values/ids.ts';
import { Diagnostics } from '../base/diagnostics.ts';
import { SystemIds } from '../base/ids.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { CommandResults } from './command-results.ts';

const day = 24 * 60 * 60_000;

async function memory() {
  const folder = temporaryFolder();
  const path = join(folder, 'commands.jsonl');
  const clock = new ManualClock();
  const ids = new SystemIds(clock);
  const diagnostics = new Diagnostics(join(folder, 'log'), clock);
  const open = () => CommandResults.open(path, clock, diagnostics);
  let runs = 0;
  return {
    path,
    folder,
    clock,
    open,
    results: await open(),
    params: (fields: { path?: string; key?: string } = {}) => ({ commandId: ids.uuid7() as CommandId, ...fields }),
    work: async () => ({ run: (runs += 1) }),
  };
}
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof RequestError ? error.code : error),
  );

test('R1: a repeat gets the first answer, also while it runs, and after a restart', async () => {
  const { results, params, work, open, path } = await memory();
  const command = params({ path: '/a' });
  const answers = await Promise.all([results.run(command, work), results.run(command, work)]);
  answers.push(await results.run(command, work));
  await results.close();
  answers.push(await (await open()).run({ ...command }, work));
  expect(answers).toEqual(Array.from({ length: 4 }, () => ({ run: 1 })));
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('R2: the same id with other parameters is a conflict', async () => {
  const { results, params, work, open } = await memory();
  const command = params({ path: '/a' });
  const other = { ...command, path: '/b' };
  const first = results.run(command, work);
  expect(await codeOf(results.run(other, work))).toBe('conflict');
  await first;
  expect(await codeOf((await open()).run(other, work))).toBe('conflict');
});

test('of a key among the parameters nothing is kept, and no digest that it could be guessed from', async () => {
  const { results, params, work, path } = await memory();
  const command = params({ path: '/a', key: '1234' });
  const { key: _, ...withoutKey } = command;
  await results.run(command, work);
  // The same command without the key is the same to the memory: so nothing of the key is in its digest.
  expect(await results.run(withoutKey, work)).toEqual({ run: 1 });
  await results.close();
  expect(readFileSync(path, 'utf8')).not.toContain('1234');
});

test('R3: an unknown command older than a day is stale, and one more than a day ahead, too', async () => {
  const { results, params, work, clock } = await memory();
  const [old, aged] = [params(), params()];
  clock.advance(day);
  expect(await codeOf(results.run(aged, work))).toBe('none');
  clock.advance(1);
  expect(await codeOf(results.run(old, work))).toBe('stale');
  const ahead = params();
  clock.advance(-day - 1);
  expect(await codeOf(results.run(ahead, work))).toBe('stale');
});

test('R3: a known command is answered for a day, and never runs again later', async () => {
  const { results, params, work, clock, open } = await memory();
  const command = params();
  await results.run(command, work);
  clock.advance(day - 1);
  expect(await results.run(command, work)).toEqual({ run: 1 });
  clock.advance(2);
  expect(await codeOf((await open()).run(command, work))).toBe('stale');
  await results.run(params(), work);
  expect(await codeOf(results.run(command, work))).toBe('stale');
});

test('R3: a client whose clock runs ahead is remembered as long as its id is not stale', async () => {
  const { results, params, work, clock, open } = await memory();
  clock.advance(day / 2);
  const command = params();
  clock.advance(-day / 2);
  await results.run(command, work);
  clock.advance(day + day / 4);
  expect(await (await open()).run(command, work)).toEqual({ run: 1 });
});

test('R4: a command that was refused may be sent again', async () => {
  const { results, params, work } = await memory();
  const command = params();
  const refused = () => Promise.reject(new RequestError('not_found', 'gone'));
  expect(await codeOf(results.run(command, refused))).toBe('not_found');
  expect(await results.run(command, work)).toEqual({ run: 1 });
});

test('a file torn at any byte of its last line keeps all earlier answers, and takes new ones', async () => {
  const { results, params, work, open, path } = await memory();
  const [first, second, third] = [params(), params(), params()];
  await results.run(first, work);
  const whole = statSync(path).size;
  await results.run(second, work);
  const bytes = readFileSync(path);
  for (let size = whole; size < bytes.length - 1; size += 1) {
    writeFileSync(path, bytes);
    truncateSync(path, size);
    const torn = await open();
    expect(await torn.run(first, work)).toEqual({ run: 1 });
    const answer = await torn.run(third, work);
    expect(await (await open()).run(third, work)).toEqual(answer);
  }
});

test('lines that are no results are passed over', async () => {
  const { results, params, work, open, path } = await memory();
  const command = params();
  await results.run(command, work);
  appendFileSync(path, '{"id":"x"}\nnull\n\u0000\n');
  expect(await (await open()).run(command, work)).toEqual({ run: 1 });
});

test('a start writes the file anew without what is too old', async () => {
  const { results, params, work, clock, open, path } = await memory();
  for (let n = 0; n < 20; n += 1) await results.run(params(), work);
  clock.advance(day / 2);
  const kept = params();
  await results.run(kept, work);
  clock.advance(day / 2 + 1);
  await open();
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line).id)).toEqual([kept.commandId]);
});

test('a result that cannot be written is still answered, and known until the daemon ends', async () => {
  const { path, folder, params, work, results } = await memory();
  mkdirSync(path); // Nothing can be appended to a folder.
  const command = params();
  expect([await results.run(command, work), await results.run(command, work)]).toEqual([{ run: 1 }, { run: 1 }]);
  expect(readFileSync(join(folder, 'log'), 'utf8')).toContain('was not kept');
});
