import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from '#protocol/schema.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { InvariantError } from './errors.ts';
import { Store } from './store.ts';

const schema = z.object({ count: z.int(), names: z.array(z.string()) });
const initial = { count: 0, names: [] as string[] };
const openStore = (path: string) => Store.open(path, schema, initial, new ManualClock());

test('updates happen one after the other and are there when it is opened again', async () => {
  const path = join(temporaryFolder(), 'state.json');
  const { store, corrupt } = await openStore(path);
  expect(corrupt).toBeNull();
  const names = ['a', 'b', 'c', 'd'];
  await Promise.all(
    names.map((name) => store.update((state) => ({ count: state.count + 1, names: [...state.names, name] }))),
  );
  await store.close();
  expect((await openStore(path)).store.value).toEqual({ count: 4, names });
});

test.each(['', '{"count":', '{"count":"many","names":[]}'])(
  'RT29 a file that holds %j is kept aside and reported',
  async (content) => {
    const folder = temporaryFolder();
    const path = join(folder, 'state.json');
    writeFileSync(path, content);
    const { store, corrupt } = await openStore(path);
    expect(store.value).toEqual(initial);
    expect(corrupt?.keptAt).toBe(`${path}.corrupt-2026-01-01T00-00-00.000Z`);
    expect(readFileSync(corrupt?.keptAt ?? '', 'utf8')).toBe(content);
    await store.update((state) => ({ ...state, count: 1 }));
    expect(readdirSync(folder).sort()).toEqual(['state.json', 'state.json.corrupt-2026-01-01T00-00-00.000Z']);
  },
);

test('an update that would not be readable again is a bug, and changes nothing', async () => {
  const path = join(temporaryFolder(), 'state.json');
  const { store } = await openStore(path);
  await expect(store.update((state) => ({ ...state, count: 0.5 }))).rejects.toThrow(InvariantError);
  expect(store.value).toEqual(initial);
});

test('an update that the disk refuses is not seen, and the next one may succeed', async () => {
  const folder = join(temporaryFolder(), 'home');
  mkdirSync(folder);
  const { store } = await openStore(join(folder, 'state.json'));
  renameSync(folder, `${folder}-away`);
  await expect(store.update((state) => ({ ...state, count: 1 }))).rejects.toThrow('ENOENT');
  expect(store.value).toEqual(initial);
  renameSync(`${folder}-away`, folder);
  expect(await store.update((state) => ({ ...state, count: 2 }))).toEqual({ count: 2, names: [] });
});
