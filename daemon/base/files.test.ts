import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { homeFolder, makeOwnerOnlyFolder, writeFileAtomically } from './files.ts';

test('the home is ALCOVE_HOME, or .alcove in the home folder of the person', () => {
  expect(homeFolder(undefined, '/home/ann')).toBe('/home/ann/.alcove');
  expect(homeFolder('', '/home/ann')).toBe('/home/ann/.alcove');
  expect(homeFolder('~/work/alcove', '/home/ann')).toBe('/home/ann/work/alcove');
  expect(homeFolder('/srv/alcove/', '/home/ann')).toBe('/srv/alcove');
});

test('a written file is whole, for its owner alone, and leaves no other behind', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'state.json');
  await writeFileAtomically(path, 'one');
  await writeFileAtomically(path, 'two');
  expect(readFileSync(path, 'utf8')).toBe('two');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['state.json']);
});

test('a write that fails leaves what was there and no temporary file', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'state.json', 'inside'), { recursive: true });
  await expect(writeFileAtomically(join(folder, 'state.json'), 'one')).rejects.toThrow();
  expect(readdirSync(folder)).toEqual(['state.json']);
});

test('folders are made for their owner alone; one that exists keeps its mode', async () => {
  const folder = temporaryFolder();
  await makeOwnerOnlyFolder(join(folder, 'home', 'sessions'));
  expect(statSync(join(folder, 'home')).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'home', 'sessions')).mode & 0o777).toBe(0o700);
  mkdirSync(join(folder, 'shared'), { mode: 0o755 });
  await makeOwnerOnlyFolder(join(folder, 'shared'));
  expect(statSync(join(folder, 'shared')).mode & 0o777).toBe(0o755);
});
