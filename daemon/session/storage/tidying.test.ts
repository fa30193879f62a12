import { onTestFinished, expect, test, vi } from 'vitest';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tidyMs } from '../../base/limits.ts';
import { systemClock } from '../../base/clock.ts';
import { temporaryHome } from '../../testing/temporary-home.ts';
import { Tidying } from './tidying.ts';

async function tidying(setup: { home?: Awaited<ReturnType<typeof temporaryHome>> } = {}) {
  const home = setup.home ?? (await temporaryHome());
  const times: number[] = [];
  const faults: unknown[] = [];
  const made = new Tidying({
    home,
    clock: systemClock,
    collected: ({ freed }) => void times.push(freed.blobs.files),
    fault: (error) => void faults.push(error),
  });
  onTestFinished(() => made.close());
  return { home, times, faults, close: () => made.close() };
}

function withTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('it tidies a minute after the first start, and not again at a second one on the same day', async () => {
  withTime();
  const first = await tidying();
  vi.advanceTimersByTime(60_000);
  await vi.waitUntil(() => existsSync(join(first.home.home, 'tidied')));
  expect(first.times).toEqual([0]);
  await first.close();
  const second = await tidying({ home: first.home });
  vi.advanceTimersByTime(60_000);
  await second.close();
  expect(second.times).toEqual([]);
});

test('a failure is told, and it is tried again the next day', async () => {
  withTime();
  const made = await tidying();
  rmSync(made.home.spills, { recursive: true });
  writeFileSync(made.home.spills, 'no folder');
  vi.advanceTimersByTime(60_000);
  await vi.waitUntil(() => made.faults.length === 1);
  rmSync(made.home.spills);
  mkdirSync(made.home.spills);
  vi.advanceTimersByTime(tidyMs);
  await vi.waitUntil(() => made.times.length === 1);
  expect(made.faults).toMatchObject([{ code: 'ENOTDIR' }]);
});
