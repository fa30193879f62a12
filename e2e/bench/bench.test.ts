/** The bench as a whole, small: the floor and Alcove as it was built, one run each, through the command line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../daemon/testing/temporary-folder.ts';
import { install, programOf } from './contestants/install.ts';
import { readOptions, UsageError } from './options.ts';
import type { Results } from './results.ts';

const program = fileURLToPath(new URL('main.ts', import.meta.url));

/** Everything that it makes stands below its own temporary folder; the cache of packages as well. */
async function bench(words: readonly string[]) {
  const folder = temporaryFolder();
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', program, ...words, '--results', join(folder, 'results.json')],
    {
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, TMPDIR: folder, ALCOVE_BENCH_CACHE: join(folder, 'cache') },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const read = async () => JSON.parse(await readFile(join(folder, 'results.json'), 'utf8')) as Results;
  return { code: code as number | null, stdout, stderr, folder, read };
}

describe('npm run bench', { timeout: 120_000 }, () => {
  test('measures three steps of the floor and of Alcove, prints the table, and leaves nothing behind', async () => {
    const words = ['--part', 'headless', '--contestants', 'floor,alcove', '--runs', '1', '--steps', '3'];
    const { code, stdout, stderr, folder, read } = await bench(words);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { headless } = await read();
    expect(headless?.skipped).toEqual([]);
    const found = (contestant: string) =>
      headless?.measured.filter((one) => one.contestant === contestant).map(({ id }) => id.replace('headless.', ''));
    for (const contestant of ['floor', 'alcove'])
      expect(found(contestant)).toEqual(expect.arrayContaining(['step', 'start', 'cpu', 'request', 'disk', 'growth']));
    for (const { values } of headless?.measured ?? []) expect(values.every((value) => value > 0)).toBe(true);
    expect(stdout).toContain('time of a step');
    // What tsx keeps between its runs is its own.
    expect((await readdir(folder)).filter((name) => !name.startsWith('tsx-'))).toEqual(['results.json']);
  });

  test('what it does not know is wrong usage', async () => {
    expect(await bench(['--part', 'headles'])).toMatchObject({ code: 2, stderr: expect.stringContaining('headless') });
  });
});

describe('its words', () => {
  const known = {
    parts: ['headless', 'serve', 'streaming'],
    contestants: ['floor', 'direct', 'alcove', 'pi'],
  } as const;
  const read = (...words: string[]) => readOptions(words, known);

  test('without any everything is measured, with everybody, five times', () => {
    expect(read()).toMatchObject({ ...known, runs: 5, steps: 20, check: false, write: false, kind: 'results' });
  });

  test('parts and contestants can be picked, in any order', () => {
    expect(read('--part', 'serve,headless', '--contestants', 'pi,floor', '--runs', '2')).toMatchObject({
      parts: ['headless', 'serve'],
      contestants: ['floor', 'pi'],
      runs: 2,
    });
  });

  test('a check takes what needs nothing to be brought, and keeps its results apart', () => {
    expect(read('--check')).toMatchObject({ contestants: ['floor', 'direct', 'alcove'], runs: 3, kind: 'check' });
  });

  test('what it does not know is refused, with what it does know', () => {
    expect(() => read('--part', 'headles')).toThrow('--part knows no headles: it takes headless, serve, streaming.');
    expect(() => read('--contestants', 'floor,someone')).toThrow('--contestants knows no someone');
    expect(() => read('--runs', '0')).toThrow('--runs takes a number from 1.');
    expect(() => read('--fast')).toThrow(UsageError);
  });

  test('a trial of another length is neither checked nor written', () => {
    expect(read('--steps', '3')).toMatchObject({ steps: 3, kind: 'trial' });
    expect(() => read('--steps', '3', '--write')).toThrow('--steps is for trials');
    expect(() => read('--steps', '3', '--check')).toThrow('--steps is for trials');
  });
});

describe('a contestant', () => {
  const wanted = { name: 'a-package', version: '1.0.0', bin: 'a-program' };

  test('that cannot be brought is left out with the reason, and nothing of it stays', async () => {
    const cache = temporaryFolder();
    const npm = await fakeNpm(
      'echo "npm error code ENOTFOUND" >&2; echo "npm error A complete log of this run" >&2; exit 1',
    );
    expect(await install(wanted, { ...npm, ALCOVE_BENCH_CACHE: cache })).toEqual({
      available: false,
      reason: 'a-package@1.0.0 cannot be installed: code ENOTFOUND',
    });
    expect(await readdir(cache)).toEqual([]);
  });

  test('that was brought is brought once, outside the checkout', async () => {
    const environment = {
      ...(await fakeNpm('mkdir -p node_modules/.bin && touch node_modules/.bin/a-program && echo "$@" >> "$TOLD"')),
      ALCOVE_BENCH_CACHE: temporaryFolder(),
      TOLD: join(temporaryFolder(), 'told'),
    };
    for (let time = 0; time < 2; time++)
      expect(await install(wanted, environment)).toEqual({ available: true, version: '1.0.0' });
    const told = await readFile(environment.TOLD, 'utf8');
    expect(told.trim().split('\n')).toHaveLength(1);
    expect(told).toContain('a-package@1.0.0');
    expect(programOf(wanted, environment).startsWith(environment.ALCOVE_BENCH_CACHE)).toBe(true);
  });

  async function fakeNpm(script: string): Promise<{ PATH: string }> {
    const folder = join(temporaryFolder(), 'bin');
    await mkdir(folder);
    await writeFile(join(folder, 'npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  }
});
