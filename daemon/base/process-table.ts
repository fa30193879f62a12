/**
 * What runs on this machine, as far as it concerns children of ours: identity of a process, members of a group, carriers of a mark, and how
 * to end them. Linux reads /proc; elsewhere `ps` answers, and the mark is found as far as `ps` may show environments.
 *
 * The mark is the variable ALCOVE_MARK. It is inherited, so it also finds a grandchild that left group and session (`setsid`). A search
 * for a mark finds its own carriers and those of marks below it: `m` finds `m` and `m.7`.
 */
import { execFile } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemCode } from './errors.ts';
import { killWaitMs, termGraceMs } from './limits.ts';

export const markVariable = 'ALCOVE_MARK';

/** A pid alone is reused; a pid with its start time (opaque, compared for equality) is one process for ever. */
export interface ProcessGroup {
  readonly pid: number;
  readonly startTime: string;
}

/** Null when no such process runs. */
export async function processStartTime(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') return startTimeByPs(pid);
  try {
    const fields = statFields(statOf(String(pid)));
    return `${fields.startTicks}@${bootId()}`;
  } catch {
    return null;
  }
}

let knownBootId: string | null = null;

/** Ticks count from boot, and a pid can come back at the same tick of another boot. */
function bootId(): string {
  if (knownBootId !== null) return knownBootId;
  try {
    knownBootId = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    knownBootId = '';
  }
  return knownBootId;
}

/** Pids of living processes that carry the mark. */
export async function findMarked(mark: string): Promise<number[]> {
  return (await listProcesses(mark)).filter((row) => row.marked).map((row) => row.pid);
}

/**
 * Pids of living processes that carry the mark, or are in the group or session that `leader` began. With its start time only processes that
 * began no earlier are looked at for the mark: who carries it has it from the leader.
 */
export async function findFamily(leader: number, mark: string, startTime?: string): Promise<number[]> {
  const rows = await listProcesses(mark, startTime);
  return rows.filter((row) => row.marked || row.group === leader || row.session === leader).map((row) => row.pid);
}

/**
 * Whether nobody was started after this process, on the whole machine or nearly: then it left no child behind, and the table need not be read,
 * which takes as long as a short command. Linux gives out process ids in order and says the newest; a false answer says nothing.
 */
export function nobodyFollowed(leader: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const newest = Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
    if (!(newest >= leader) || newest - leader > fewProcesses) return false;
    for (let pid = leader + 1; pid <= newest; pid++) if (isRunning(pid)) return false;
    return true;
  } catch {
    return false;
  }
}

const fewProcesses = 32;

/** By signal 0, which says so of anybody's process. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}

/** TERM, a grace, then KILL to all that `find` names, however often they fork meanwhile. Returns how many outlived even that. */
export async function endProcesses(find: () => Promise<number[]>, graceMs: number = termGraceMs): Promise<number> {
  if (await endWith('SIGTERM', find, graceMs)) return 0;
  if (await endWith('SIGKILL', find, killWaitMs)) return 0;
  return (await find()).length;
}

async function endWith(signal: NodeJS.Signals, find: () => Promise<number[]>, patienceMs: number): Promise<boolean> {
  const told = new Set<number>();
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const living = await find();
    if (living.length === 0) return true;
    if (performance.now() >= deadline) return false;
    for (const pid of living) {
      if (signal === 'SIGTERM' && told.has(pid)) continue;
      told.add(pid);
      send(pid, signal);
    }
    await wait(pollMs);
  }
}

/** Short against the graces, long against one look at the table (a few milliseconds). */
const pollMs = 40;

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone meanwhile, or no longer ours (setuid): either way nothing more can be done from here
  }
}

interface Row {
  pid: number;
  group: number;
  session: number;
  marked: boolean;
}

async function listProcesses(mark: string, startTime?: string): Promise<Row[]> {
  const rows = process.platform === 'linux' ? rowsOfProc(mark, ticksOf(startTime)) : await rowsOfPs(mark);
  return rows.filter((row) => row.pid !== process.pid);
}

/** Synchronous on purpose: a few microseconds a process, where promises would cost ten times that. Zombies do not count as living. */
function rowsOfProc(mark: string, since: number): Row[] {
  const rows: Row[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const { state, group, session, startTicks } = statFields(statOf(name));
      if (state === 'Z' || state === 'X') continue;
      const marked = Number(startTicks) >= since && carriesMark(name, mark);
      rows.push({ pid: Number(name), group, session, marked });
    } catch {
      // ended between listing and reading
    }
  }
  return rows;
}

/** Of a start time of this boot; 0, before which nothing began, where there is none. */
function ticksOf(startTime: string | undefined): number {
  const [ticks = '', ofBoot] = startTime?.split('@') ?? [];
  return ofBoot === bootId() && /^\d+$/.test(ticks) ? Number(ticks) : 0;
}

/** More than a line of /proc/…/stat can have: a name of 16 characters and some fifty numbers. */
const statBytes = Buffer.allocUnsafe(2048);

/** Read in one go: the general way to read a file asks for its length and for its end, which costs as much again for each process. */
function statOf(pid: string): string {
  const file = openSync(`/proc/${pid}/stat`, 'r');
  try {
    return statBytes.toString('latin1', 0, readSync(file, statBytes, 0, statBytes.length, 0));
  } finally {
    closeSync(file);
  }
}

function carriesMark(pid: string, mark: string): boolean {
  try {
    const environment = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`;
    const entry = `\0${markVariable}=${mark}`;
    return environment.includes(`${entry}\0`) || environment.includes(`${entry}.`);
  } catch {
    return false; // another person's process
  }
}

/** The name in parentheses may itself hold spaces and parentheses: fields are counted from the last one. */
function statFields(stat: string): { state: string; group: number; session: number; startTicks: string } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20);
  return { state: fields[0] ?? '', group: Number(fields[2]), session: Number(fields[3]), startTicks: fields[19] ?? '' };
}

async function startTimeByPs(pid: number): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], {
      env: { ...process.env, LC_ALL: 'C' },
    });
    return stdout.trim() || null;
  } catch {
    return null;
  }
}

async function rowsOfPs(mark: string): Promise<Row[]> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-Eww', '-axo', 'pid=,pgid=,stat=,command='], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout.split('\n').flatMap((line) => {
      const fields = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
      if (fields === null || fields[3]?.startsWith('Z')) return [];
      const words = ` ${fields[4] ?? ''} `;
      const entry = ` ${markVariable}=${mark}`;
      const marked = words.includes(`${entry} `) || words.includes(`${entry}.`);
      return [{ pid: Number(fields[1]), group: Number(fields[2]), session: 0, marked }];
    });
  } catch {
    return [];
  }
}
