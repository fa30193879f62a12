/** Commands that go on in the background of a session, as the fold shows them: changes of the list return the new one, or say why they do not fit. */
import type { EventOf } from '../event.ts';
import type { JobOutcome } from '../events/job.ts';
import type { CallId, JobId } from '../values/ids.ts';

export interface Job {
  readonly jobId: JobId;
  /** The call that started it. */
  readonly callId: CallId;
  /** The beginning of its command. */
  readonly title: string;
  readonly startedAt: number;
  readonly end: JobEnd | null;
  /** A step has taken its end up, or it needs not: the agent ended it itself. */
  readonly told: boolean;
}

export interface JobEnd {
  readonly at: number;
  readonly outcome: JobOutcome;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** Null: nobody counted. */
  readonly outputBytes: number | null;
  readonly by: string | null;
}

export type EndedJob = Job & { readonly end: JobEnd };

/** Of those that ended the last are kept; the log holds them all. */
export const maxEndedJobs = 50;
/** By whom a job's end is no news to the agent. */
export const theAgent = 'the agent';

export function startJob(jobs: readonly Job[], event: EventOf<'job.started'>): readonly Job[] | string {
  const { jobId, callId, title, at: startedAt } = event;
  if (jobs.some((job) => job.jobId === jobId)) return `job ${jobId} exists already`;
  return [...jobs, { jobId, callId, title, startedAt, end: null, told: false }];
}

export function endJob(jobs: readonly Job[], event: EventOf<'job.ended'>): readonly Job[] | string {
  const running = jobs.find((job) => job.jobId === event.jobId && job.end === null);
  if (running === undefined) return `job ${event.jobId} does not run`;
  const { at, outcome, exitCode, signal, timedOut = false, outputBytes = null, by = null } = event;
  const end = { at, outcome, exitCode, signal, timedOut, outputBytes, by };
  return withoutOldest(jobs.map((job) => (job === running ? { ...running, end, told: by === theAgent } : job)));
}

/** Those whose end the agent has not been told. */
export function untold(jobs: readonly Job[]): readonly EndedJob[] {
  return jobs.filter((job): job is EndedJob => job.end !== null && !job.told);
}

export function told(jobs: readonly Job[]): readonly Job[] {
  return jobs.map((job) => (job.end === null || job.told ? job : { ...job, told: true }));
}

export function runningJobs(jobs: readonly Job[]): readonly Job[] {
  return jobs.filter((job) => job.end === null);
}

function withoutOldest(jobs: readonly Job[]): readonly Job[] {
  const ended = jobs.filter((job) => job.end !== null);
  const over = ended.length - maxEndedJobs;
  return over > 0 ? jobs.filter((job) => !ended.slice(0, over).includes(job)) : jobs;
}
