/** What is said of a job, to the agent: how it stands, and that it has ended. */
import type { EndedJob, Job, JobEnd } from '#protocol/conversation/jobs.ts';

/** "job_1: runs for 12 s (npm run dev)". */
export function jobLine(job: Job, now: number): string {
  const state = job.end === null ? `runs for ${span(now - job.startedAt)}` : endWords(job.end);
  return `${job.jobId}: ${state} (${shortCommand(job)})`;
}

/** What the agent is told at its next step. */
export function jobNote(job: EndedJob): string {
  const { jobId, end, startedAt } = job;
  return `[The background job ${jobId} ${endWords(end)} after ${span(end.at - startedAt)}: ${shortCommand(job)}. The tool job reads what it printed.]`;
}

function endWords({ outcome, exitCode, signal, timedOut, by }: JobEnd): string {
  switch (outcome) {
    case 'completed':
      return 'ended with exit code 0';
    case 'failed':
      if (timedOut) return 'was ended at its time limit';
      if (signal !== null) return `was ended by signal ${signal}`;
      return exitCode === null ? 'failed' : `ended with exit code ${exitCode}`;
    case 'aborted':
      return `was stopped by ${by ?? 'the person'}`;
    case 'interrupted':
      return 'was interrupted: Alcove stopped, and ended it; it was not started again';
  }
}

function shortCommand({ title }: Job): string {
  const line = title.trim().replaceAll(/\s+/g, ' ');
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
