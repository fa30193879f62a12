/** What the bench makes of many values, and what it knows of processes: known processes and known values, so that a wrong figure shows. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { platform } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../daemon/testing/temporary-folder.ts';
import { costOfTree, median, now, percentile, spread } from './measure.ts';
import { findMeter, readGnuTime, readShellTimes, timed, type Meter } from './timed-run.ts';

const linux = platform() === 'linux';
const mebibyte = 1024 * 1024;
/** Work that takes a quarter of a second of the processor, on a busy machine too. */
const burn = 'while (process.cpuUsage().user < 250_000);';
const environment = { PATH: process.env['PATH'] ?? '' };

describe('many values', () => {
  test('the median is the middle one, or between the two middle ones, in whatever order they came', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([10, 1, 9, 5])).toBe(7);
    expect(median([3])).toBe(3);
  });

  test('a percentile is a value that was measured, and is exceeded by no more than the rest', () => {
    const hundred = Array.from({ length: 100 }, (_, at) => 100 - at);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 1)).toBe(100);
    expect(percentile([7], 0.99)).toBe(7);
  });

  test('the spread is from the least to the most', () => {
    expect(spread([4, 10, 2])).toEqual({ least: 2, most: 10 });
  });

  test('of no value there is no figure, instead of a wrong one', () => {
    expect(() => median([])).toThrow('no figure');
    expect(() => percentile([], 0.5)).toThrow('no figure');
    expect(() => spread([])).toThrow('no figure');
  });
});

test('the clock is the same in all processes', async () => {
  const before = now();
  const child = spawn(process.execPath, ['-e', 'console.log(Number(process.hrtime.bigint() / 1000n))']);
  const [data] = (await once(child.stdout, 'data')) as [Buffer];
  expect(Number(data)).toBeGreaterThan(before);
  expect(Number(data)).toBeLessThan(now());
});

describe('a tree of processes', () => {
  test.runIf(linux)('is the process and all below it, with what they hold and have used', async () => {
    const inner = `const held = Buffer.alloc(${100 * mebibyte}, 1); ${burn} console.log(held.length); process.stdin.resume();`;
    const outer = `const inner = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}],
      { stdio: ['inherit', 'inherit', 'inherit'] }); inner.on('exit', () => process.exit());`;
    const child = spawn(process.execPath, ['-e', outer]);
    onTestFinished(() => void child.stdin.end());
    await once(child.stdout, 'data');
    const cost = costOfTree(child.pid ?? 0);
    expect(cost?.pids).toHaveLength(2);
    expect(cost?.rssBytes).toBeGreaterThan(100 * mebibyte);
    expect(cost?.pssBytes).toBeGreaterThan(100 * mebibyte);
    expect(cost?.peakBytes).toBeGreaterThan(100 * mebibyte);
    expect(cost?.cpuSeconds).toBeGreaterThanOrEqual(0.2);
  });

  test('of a process that is not there is nothing', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    expect(costOfTree(child.pid ?? 0)).toBeNull();
  });
});

describe('a timed run', () => {
  const meters = new Set<Meter>([findMeter(), ...(linux ? (['the shell and /proc'] as const) : []), 'the shell']);

  test.each([...meters])('is known by its code, its output, its processor and its peak: by %s', async (meter) => {
    const work = `const held = Buffer.alloc(${80 * mebibyte}, 1); ${burn} console.log('held', held.length, process.env.MARK); process.exitCode = 3;`;
    const folder = temporaryFolder();
    const before = now();
    const run = await timed(
      { command: process.execPath, args: ['-e', work], env: { ...environment, MARK: 'a b' }, cwd: folder },
      { meter, scratch: folder, timeoutMs: 20_000 },
    );
    expect(run).toMatchObject({ code: 3, output: expect.stringContaining(`held ${80 * mebibyte} a b`) });
    expect(run.startedAt).toBeGreaterThanOrEqual(before);
    expect(run.endedAt - run.startedAt).toBeGreaterThan(250_000);
    expect(run.cpuSeconds).toBeGreaterThanOrEqual(0.2);
    expect(run.cpuSeconds).toBeLessThan(10);
    if (meter === 'the shell') expect(run.peakBytes).toBeNull();
    else expect(run.peakBytes).toBeGreaterThan(80 * mebibyte);
  });

  test('that takes too long is ended, with what it started', async () => {
    const folder = temporaryFolder();
    const script = 'sleep 600 & echo $!; wait';
    const run = await timed(
      { command: 'bash', args: ['-c', script], env: environment, cwd: folder },
      { meter: findMeter(), scratch: folder, timeoutMs: 500 },
    );
    expect(run.code).not.toBe(0);
    const sleeper = Number(/^\d+/.exec(run.output)?.[0]);
    expect(sleeper).toBeGreaterThan(0);
    await expect.poll(() => costOfTree(sleeper)?.rssBytes ?? 0).toBe(0);
  });

  test('GNU time is read behind what it says of a failure, and nothing is made up', () => {
    expect(readGnuTime('Command exited with non-zero status 3\n0.25 0.05 2048\n')).toEqual({
      cpuSeconds: 0.3,
      peakBytes: 2 * mebibyte,
    });
    expect(readGnuTime('')).toEqual({ cpuSeconds: null, peakBytes: null });
  });

  test("the shell's own count is that of its children", () => {
    expect(readShellTimes('0m0.001s 0m0.002s\n1m2.500s 0m0,250s\n')).toBeCloseTo(62.75);
    expect(readShellTimes('')).toBeNull();
  });
});
