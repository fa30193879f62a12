/**
 * How the bench measures: one clock that all processes of this machine share, what many values say together, and what a tree of processes
 * costs. What Linux tells in /proc other systems do not; there a figure is null, and its row says so.
 */
import { readFileSync, readdirSync } from 'node:fs';

/** Microseconds of the monotonic clock: the same clock in every process of this machine. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return at(sorted, middle);
  return (at(sorted, middle - 1) + at(sorted, middle)) / 2;
}

/** The smallest value that at least this share of all values does not exceed; `share` from 0 to 1. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return at(sorted, Math.max(0, Math.ceil(share * sorted.length) - 1));
}

export interface Spread {
  readonly least: number;
  readonly most: number;
}

export function spread(values: readonly number[]): Spread {
  return {
    least: at(
      values.toSorted((a, b) => a - b),
      0,
    ),
    most: at(
      values.toSorted((a, b) => b - a),
      0,
    ),
  };
}

function at(values: readonly number[], place: number): number {
  const value = values[place];
  if (value === undefined) throw new Error('There is no figure without a value.');
  return value;
}

/** What a process and all below it hold and have used so far. */
export interface TreeCost {
  readonly pids: readonly number[];
  readonly rssBytes: number;
  /** Proportional: what several processes share counts once in all. */
  readonly pssBytes: number;
  /** Of the processes that live now; those that have ended are in it where their parent waited for them. */
  readonly cpuSeconds: number;
  /** The peak of the largest single process that lives now. */
  readonly peakBytes: number;
}

/** The ticks of /proc are hundredths of a second on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Null where there is no /proc, or no such process. */
export function costOfTree(pid: number): TreeCost | null {
  const pids = treeOf(pid);
  if (pids.length === 0) return null;
  let [rssBytes, pssBytes, cpuSeconds, peakBytes] = [0, 0, 0, 0];
  for (const one of pids) {
    const memory = textOf(`/proc/${one}/smaps_rollup`);
    rssBytes += kilobytes(memory, 'Rss');
    pssBytes += kilobytes(memory, 'Pss');
    peakBytes = Math.max(peakBytes, kilobytes(textOf(`/proc/${one}/status`), 'VmHWM'));
    const [, , , , , , , , , , , user, system, childrenUser, childrenSystem] = statOf(one);
    for (const ticks of [user, system, childrenUser, childrenSystem]) cpuSeconds += Number(ticks ?? 0) / ticksPerSecond;
  }
  return { pids, rssBytes, pssBytes, cpuSeconds, peakBytes };
}

/** The process and all below it; none where it is not there. */
function treeOf(root: number): number[] {
  if (statOf(root).length === 0) return [];
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statOf(Number(name))[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const pids = [root];
  for (const pid of pids) pids.push(...(children.get(pid) ?? []));
  return pids;
}

/** The fields behind the name, which may hold spaces and brackets itself: state, parent, … */
function statOf(pid: number): string[] {
  const text = textOf(`/proc/${pid}/stat`);
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function kilobytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) * 1024;
}

/** Empty where the process has ended in the meantime. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
