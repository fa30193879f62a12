/** Logs that released versions wrote are read by every later one. Each LOG_VERSION adds its files here; none is ever written again. */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { upTo } from '../testing/small-log.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { readEvents } from './reader.ts';
import { cutTornTail, examine } from './repair.ts';

function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}

async function linesOf(path: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const found of readEvents(path)) {
    if (found.kind === 'damage') throw new Error(found.reason);
    lines.push(...found.events.map(({ line }) => line));
  }
  return lines;
}

test.each([['v1', 16]])(
  'RT2 RT5 a log of version %s holds the same lines in frames and in plain, an unknown kind included',
  async (version, count) => {
    const written = readFileSync(fixture(`${version}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n');
    expect(written.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(upTo(count));
    expect(await linesOf(fixture(`${version}.jsonl.zst`))).toEqual(written);
    expect(await linesOf(fixture(`${version}.jsonl`))).toEqual(written);
  },
);

test('RT3 a torn log of version 1 is repaired to all its whole frames', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  copyFileSync(fixture('v1-torn.jsonl.zst'), path);
  const found = await examine(path);
  if (found.state !== 'torn') throw new Error(`it is ${found.state}`);
  await cutTornTail(path, found.goodEnd);
  const written = readFileSync(fixture('v1.jsonl'), 'utf8').trimEnd().split('\n');
  expect(await linesOf(path)).toEqual(written.slice(0, 14));
});
