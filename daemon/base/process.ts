/**
 * Runs one child program to its end: own session and group, stdin from /dev/null, stdout and stderr through one pipe, or one
 * terminal, in the true order.
 *
 * P1 The program does not run before `onStarted` has resolved, and never if we die before that: a shell stands at a gate, a descriptor on
 *    which it waits for a word; without it, it ends.
 * P2 The result comes within about a second of the program's own end, even where others it started hold its output open (trap C10).
 *    Those keep running, are counted in `leftRunning`, and what they still write is read and dropped, so that it never blocks or breaks them.
 * P3 After an abort or the time limit nothing of it runs on: TERM, a grace, KILL, to group, session and all carriers of its mark.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { spawnAtGate, type Exit } from './gated-child.ts';
import { killWaitMs, outputDrainMs, outputQuietMs } from './limits.ts';
import {
  endProcesses,
  findFamily,
  markVariable,
  nobodyFollowed,
  processStartTime,
  type ProcessGroup,
} from './process-table.ts';
import { spawnInTerminal } from './terminal.ts';

export interface ProcessRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Its output is a terminal. */
  readonly terminal?: boolean;
  /** Of this run alone: its carriers are ended on abort and time limit. */
  readonly mark: string;
  /** Null: none. */
  readonly timeLimitMs: number | null;
  readonly signal: AbortSignal;
  /** Makes the group known durably; the program runs once it has resolved. A rejection is thrown on, and nothing ran. */
  onStarted(group: ProcessGroup): Promise<void>;
  /** Takes each piece at once and keeps of it what it needs: nothing is buffered here. */
  onOutput(piece: Uint8Array): void;
}

export interface ProcessEnd {
  /** Null where a signal ended it, or where it was stopped before it ran. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  /** Processes of this run that are alive at its return. */
  readonly leftRunning: number;
}

/** Throws when the program's folder is unusable, shell or terminal cannot be started, or `onStarted` rejects. */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  if (request.signal.aborted) return stoppedBeforeStart;
  await access(request.folder, constants.X_OK);
  const { program, args, folder } = request;
  const gated = { program, args, folder, environment: { ...request.environment, [markVariable]: request.mark } };
  const child = await (request.terminal === true ? spawnInTerminal(gated) : spawnAtGate(gated));
  const { pid, exit, outputEnd } = child;
  let lastOutput = performance.now();
  let wanted = true;
  child.onOutput((piece) => {
    lastOutput = performance.now();
    if (wanted) request.onOutput(piece);
  });
  let startTime: string | undefined;
  const family = () => findFamily(pid, request.mark, startTime);
  const startedAt = performance.now();

  const stop = new Stop(request.signal, request.timeLimitMs);
  let opened = false;
  try {
    startTime = (await processStartTime(pid)) ?? 'unknown';
    const recorded = request.onStarted({ pid, startTime });
    recorded.catch(() => {}); // when the abort comes first, nobody else listens
    if ((await Promise.race([recorded, stop.happened])) !== undefined) return stoppedBeforeStart;
    opened = true;
    child.open();

    let cause = await Promise.race([exit.then(() => 'exit' as const), stop.happened]);
    if (cause === 'exit') {
      stop.forgetTime();
      cause = await Promise.race([untilQuiet(outputEnd, () => lastOutput).then(() => 'exit' as const), stop.happened]);
    }
    const leftRunning = cause === 'exit' ? await countLeft(pid, startedAt, family) : await endProcesses(family);
    if (cause !== 'exit')
      await Promise.race([Promise.all([exit, outputEnd]), wait(killWaitMs, undefined, { ref: false })]);
    const { code, signal } = await Promise.race([exit, Promise.resolve(unknownExit)]);
    return { exitCode: code, signal, timedOut: cause === 'time', aborted: cause === 'abort', leftRunning };
  } finally {
    stop.close();
    wanted = false;
    if (!opened) {
      child.shut();
      await Promise.race([exit, wait(killWaitMs, undefined, { ref: false })]);
    }
    child.release();
  }
}

const unknownExit: Exit = { code: null, signal: null };
const stoppedBeforeStart: ProcessEnd = { exitCode: null, signal: null, timedOut: false, aborted: true, leftRunning: 0 };

/** What may end a run from outside: whichever comes first, once. */
class Stop {
  readonly happened: Promise<'abort' | 'time'>;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout | undefined;
  #onAbort: () => void = () => {};

  constructor(signal: AbortSignal, timeLimitMs: number | null) {
    this.#signal = signal;
    const { promise, resolve } = withResolvers<'abort' | 'time'>();
    this.happened = promise;
    this.#timer = timeLimitMs === null ? undefined : setTimeout(() => resolve('time'), timeLimitMs);
    this.#onAbort = () => resolve('abort');
    if (signal.aborted) resolve('abort');
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  forgetTime(): void {
    clearTimeout(this.#timer);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

/** The pipe's end, or silence, or the longest wait. */
async function untilQuiet(outputEnd: Promise<void>, lastOutput: () => number): Promise<void> {
  const from = performance.now();
  let ended = false as boolean;
  const end = outputEnd.then(() => void (ended = true));
  for (;;) {
    const now = performance.now();
    const left = Math.min(Math.max(lastOutput(), from) + outputQuietMs, from + outputDrainMs) - now;
    if (ended || left <= 0) return;
    await Promise.race([end, wait(left)]);
  }
}

/** Too short for the system to have given out all process ids once and to have begun again. */
const shortRunMs = 1000;

/** Counted twice where somebody is found: what ends by itself in this moment (the tail of a pipe, a substitution) is not worth a word. */
async function countLeft(leader: number, since: number, family: () => Promise<number[]>): Promise<number> {
  if (performance.now() - since < shortRunMs && nobodyFollowed(leader)) return 0;
  if ((await family()).length === 0) return 0;
  await wait(outputQuietMs);
  return (await family()).length;
}
