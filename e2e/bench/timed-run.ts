/**
 * Runs one program to its end and says what it cost: with GNU time where there is one, else with the shell's own count of the processor and a
 * look into /proc. Both count all processes that were waited for; the peak is the largest single process in both.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandLine } from './contestant.ts';
import { costOfTree, now } from './measure.ts';

export interface TimedRun {
  /** Microseconds of the clock of measure.ts. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly code: number | null;
  readonly cpuSeconds: number | null;
  readonly peakBytes: number | null;
  /** The end of what it printed, for a run that went wrong. */
  readonly output: string;
}

export type Meter = 'GNU time' | 'the shell and /proc' | 'the shell';

export function findMeter(): Meter {
  const tried = spawnSync('/usr/bin/time', ['-f', '%M', 'true'], { encoding: 'utf8' });
  if (tried.status === 0 && /^\d+\s*$/.test(tried.stderr)) return 'GNU time';
  return costOfTree(process.pid) === null ? 'the shell' : 'the shell and /proc';
}

/** Often enough to see the peak of a run of a second, seldom enough not to be in its way. */
const lookMs = 40;

export async function timed(
  line: CommandLine,
  options: { readonly meter: Meter; readonly scratch: string; readonly timeoutMs: number },
): Promise<TimedRun> {
  const file = join(options.scratch, `cost-${now()}`);
  const gnu = options.meter === 'GNU time';
  const [command = '', ...words] = gnu
    ? ['/usr/bin/time', '-f', '%U %S %M', '-o', file]
    : // `times` prints two lines: of the shell itself, and of all that it waited for.
      ['/bin/bash', '-c', `"$@"; code=$?; times > '${file}'; exit $code`, 'bench'];
  const startedAt = now();
  // A group of its own, so that nothing of it outlives a run that takes too long.
  const child = spawn(command, [...words, line.command, ...line.args], {
    cwd: line.cwd,
    env: line.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  const keep = (text: string) => (output = (output + text).slice(-4000));
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const peaks: number[] = [];
  const look = () => {
    const cost = child.pid === undefined ? null : costOfTree(child.pid);
    if (cost !== null) peaks.push(cost.peakBytes);
  };
  const looking = options.meter === 'the shell and /proc' ? setInterval(look, lookMs) : null;
  const last = () => endGroup(child.pid);
  process.on('exit', last);
  const late = setTimeout(() => endGroup(child.pid), options.timeoutMs);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    const endedAt = now();
    const told = await readFile(file, 'utf8').catch(() => '');
    const cost = gnu
      ? readGnuTime(told)
      : { cpuSeconds: readShellTimes(told), peakBytes: peaks.length > 0 ? Math.max(...peaks) : null };
    return { startedAt, endedAt, code, output, ...cost };
  } finally {
    clearTimeout(late);
    if (looking !== null) clearInterval(looking);
    process.off('exit', last);
    last();
    await rm(file, { force: true });
  }
}

/** Its last line; before it GNU time may say that the program failed. */
export function readGnuTime(told: string): { cpuSeconds: number | null; peakBytes: number | null } {
  const [user, system, kilobytes] = (told.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  if (user === undefined || system === undefined || kilobytes === undefined || Number.isNaN(kilobytes))
    return { cpuSeconds: null, peakBytes: null };
  return { cpuSeconds: user + system, peakBytes: kilobytes * 1024 };
}

/** `0m0.001s 0m0.002s`, of the shell and then of its children. */
export function readShellTimes(told: string): number | null {
  const children = told.trim().split('\n')[1];
  if (children === undefined) return null;
  let seconds = 0;
  for (const [, minutes, rest] of children.matchAll(/(\d+)m([\d.,]+)s/g))
    seconds += Number(minutes) * 60 + Number(rest?.replace(',', '.'));
  return seconds;
}

/** The program and what it left running. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
