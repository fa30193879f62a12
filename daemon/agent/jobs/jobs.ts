/**
 * The commands that go on in the background of one session (OR9). Promises:
 *   J1  a job runs only after `job.started` is durable, under an id that the log gives once
 *   J2  each has one `job.ended`: here, or by recovery where this process was killed
 *   J3  no end of a turn ends a job, and no job keeps a turn from ending; the end of the session's agent ends them all, as interrupted
 *   J4  what it prints is bounded, and stays after its end as long as the job is in the list
 */
import { join } from 'node:path';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { theAgent, type Job } from '#protocol/conversation/jobs.ts';
import { RequestError } from '#protocol/errors.ts';
import type { CommandMark, Draft } from '#protocol/event.ts';
import type { JobOutcome } from '#protocol/events/job.ts';
import type { CallId, JobId } from '#protocol/values/ids.ts';
import { messageOf } from '../../base/errors.ts';
import { maxJobTitleCharacters, maxRunningJobs, maxShownJobBytes } from '../../base/limits.ts';
import type { ProcessEnd } from '../../base/process.ts';
import { withoutControls, withoutOverdrawn } from '../../tools/plain-text.ts';
import { JobRefused, type JobDesk, type JobReading, type NewJob } from '../../tools/tool.ts';
import type { WindowLimits } from '../../tools/truncate.ts';
import { JobOutput, readEnded, removeOutput, type OutputReading } from './job-output.ts';

export interface JobPorts {
  conversation(): Conversation;
  transact<T>(decide: (conversation: Conversation) => { events: Draft[]; result: T }): Promise<{ result: T }>;
  /** Makes the folder of the session's own files, which is `spills`. */
  makeSpills(): Promise<unknown>;
  readonly spills: string;
  now(): number;
  fault(error: unknown): void;
}

/** Who ended a job before its time. */
interface Stopped {
  readonly outcome: Extract<JobOutcome, 'aborted' | 'interrupted'>;
  readonly by?: string;
  readonly command?: CommandMark;
}

interface Running {
  readonly jobId: JobId;
  readonly output: JobOutput;
  readonly stop: AbortController;
  stopped: Stopped | null;
  /** Resolves when its end is in the log, or could not be written. */
  readonly ended: Promise<void>;
}

export class Jobs {
  readonly #ports: JobPorts;
  readonly #running = new Map<string, Running>();
  /** How far the agent has read. */
  readonly #read = new Map<string, number>();
  #starting = 0;
  #closed = false;

  constructor(ports: JobPorts) {
    this.#ports = ports;
  }

  /** What a call can do with them. */
  desk(callId: CallId): JobDesk {
    return {
      start: (job, signal) => this.#start(callId, job, signal),
      now: () => this.#ports.now(),
      list: () => this.#ports.conversation().jobs,
      read: (jobId) => this.#readOn(jobId),
      ended: (jobId, waitMs, signal) => this.#waitFor(jobId, waitMs, signal),
      stop: (jobId) => this.#stop(jobId, { outcome: 'aborted', by: theAgent }),
    };
  }

  /** The newest of what it printed, for a person. Throws `not_found`. */
  show(jobId: string): { job: Job; text: string; omittedBytes: number } {
    const job = this.#job(jobId);
    if (job === null) throw new RequestError('not_found', `There is no job ${jobId} in this session.`);
    const { output, next } = this.#output(job, -maxShownJobBytes, { bytes: maxShownJobBytes, lines: Infinity });
    const text = output.cut === null ? output.text : `${output.head}${output.tail}`;
    return { job, text: withoutOverdrawn(withoutControls(text)), omittedBytes: next - output.bytes };
  }

  /** A person ends it; resolves when that is in the log. Rejects with `not_found`, or `conflict` where it does not run. */
  async stop(jobId: string, by: string, command: CommandMark): Promise<void> {
    if (this.#job(jobId) === null) throw new RequestError('not_found', `There is no job ${jobId} in this session.`);
    if (!(await this.#stop(jobId, { outcome: 'aborted', by, command })))
      throw new RequestError('conflict', `${jobId} has ended already.`);
  }

  /** Ends all of them; nothing new is started while that goes on. */
  async stopAll(by: string): Promise<void> {
    const all = [...this.#running.keys()];
    await Promise.all(all.map((jobId) => this.#stop(jobId, { outcome: 'aborted', by })));
  }

  /** Ends all of them as interrupted, with the agent. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#running.keys()].map((jobId) => this.#stop(jobId, { outcome: 'interrupted' })));
  }

  async #start(callId: CallId, { command, run }: NewJob, signal: AbortSignal): Promise<JobId> {
    if (this.#closed) throw new JobRefused('Alcove is being shut down, so nothing new is started.');
    if (this.#running.size + this.#starting >= maxRunningJobs)
      throw new JobRefused(
        `${maxRunningJobs} background jobs run already (maxRunningJobs), so this one was not started. Stop one that is not needed any more.`,
      );
    this.#starting += 1;
    const stop = new AbortController();
    const giveUp = () => stop.abort(signal.reason);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
    try {
      let output: JobOutput | null = null;
      let tell!: (jobId: JobId) => void;
      const isStarted = new Promise<JobId>((resolve) => (tell = resolve));
      const work = run({
        signal: stop.signal,
        onOutput: (piece) => output?.push(piece),
        started: async () => {
          await this.#ports.makeSpills();
          const title = command.slice(0, maxJobTitleCharacters);
          const { result: jobId } = await this.#ports.transact<JobId>(({ counts }) => {
            const next = `job_${counts.jobs + 1}` as JobId;
            return { events: [{ type: 'job.started', jobId: next, callId, title }], result: next };
          });
          output = new JobOutput(this.#path(jobId));
          this.#keep(jobId, output, stop, work);
          signal.removeEventListener('abort', giveUp);
          tell(jobId);
        },
      });
      const tooSoon = work.then(() => {
        throw new JobRefused('It was stopped before it ran.');
      });
      return await Promise.race([isStarted, tooSoon]);
    } finally {
      this.#starting -= 1;
      signal.removeEventListener('abort', giveUp);
    }
  }

  #keep(jobId: JobId, output: JobOutput, stop: AbortController, work: Promise<ProcessEnd>): void {
    const running: Running = {
      jobId,
      output,
      stop,
      stopped: null,
      ended: work.then(
        (end) => this.#end(running, end),
        (error: unknown) => {
          this.#ports.fault(error);
          return this.#end(running, null);
        },
      ),
    };
    this.#running.set(jobId, running);
    // Its call was stopped while it was being written.
    if (stop.signal.aborted) running.stopped = { outcome: 'aborted' };
    if (this.#closed) void this.#stop(jobId, { outcome: 'interrupted' });
  }

  async #end({ jobId, output, stopped }: Running, end: ProcessEnd | null): Promise<void> {
    output.close();
    const before = this.#ports.conversation().jobs;
    // One that ended by itself in the same moment was not stopped.
    const by = end === null || end.aborted ? stopped : null;
    const outcome = by?.outcome ?? (end?.exitCode === 0 && !end.timedOut ? 'completed' : 'failed');
    const ended: Draft = {
      type: 'job.ended',
      jobId,
      outcome,
      exitCode: end?.exitCode ?? null,
      signal: end?.signal ?? null,
      outputBytes: output.bytes,
      ...(end?.timedOut === true ? { timedOut: true } : {}),
      ...(by?.by === undefined ? {} : { by: by.by }),
      ...(by?.command === undefined ? {} : { command: by.command }),
    };
    try {
      await this.#ports.transact(() => ({ events: [ended], result: undefined }));
      this.#forget(before);
    } catch (error) {
      // The disk refuses: it has ended all the same, and the next opening of the log says that it was interrupted.
      this.#ports.fault(new Error(`the end of ${jobId} could not be written: ${messageOf(error)}`, { cause: error }));
    } finally {
      this.#running.delete(jobId);
    }
  }

  /** J4: with a job that falls out of the list go its files. */
  #forget(before: readonly Job[]): void {
    const listed = this.#ports.conversation().jobs;
    for (const { jobId } of before) {
      if (listed.some((job) => job.jobId === jobId)) continue;
      this.#read.delete(jobId);
      removeOutput(this.#path(jobId));
    }
  }

  /** False where it does not run. */
  async #stop(jobId: string, stopped: Stopped): Promise<boolean> {
    const running = this.#running.get(jobId);
    if (running === undefined) return false;
    running.stopped ??= stopped;
    running.stop.abort('stopped');
    await running.ended;
    return true;
  }

  async #waitFor(jobId: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const running = this.#running.get(jobId);
    if (running === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    let stopWaiting!: () => void;
    const enough = new Promise<void>((resolve) => {
      stopWaiting = resolve;
      timer = setTimeout(resolve, waitMs);
      signal.addEventListener('abort', stopWaiting, { once: true });
      if (signal.aborted) resolve();
    });
    await Promise.race([running.ended, enough]);
    clearTimeout(timer);
    signal.removeEventListener('abort', stopWaiting);
    signal.throwIfAborted();
  }

  #readOn(jobId: string): JobReading | null {
    const job = this.#job(jobId);
    if (job === null) return null;
    const { output, lostBytes, files, next } = this.#output(job, this.#read.get(jobId) ?? 0);
    this.#read.set(jobId, next);
    return { job, output, lostBytes, files };
  }

  #output(job: Job, from: number, limits?: WindowLimits): OutputReading {
    const running = this.#running.get(job.jobId);
    if (running !== undefined) return running.output.read(from, limits);
    return readEnded(this.#path(job.jobId), job.end?.outputBytes ?? null, from, limits);
  }

  #job(jobId: string): Job | null {
    return this.#ports.conversation().jobs.find((job) => job.jobId === jobId) ?? null;
  }

  #path(jobId: string): string {
    return join(this.#ports.spills, `${jobId}.txt`);
  }
}
