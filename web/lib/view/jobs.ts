/** Background jobs in words: which are worth a line above the composer, and how each stands. */
import type { Job } from '#protocol/conversation/jobs.ts';

/** Those that run, and those that ended since the agent's last step; what runs first. */
export function shownJobs(jobs: readonly Job[]): readonly Job[] {
  return [...jobs.filter((job) => job.end === null), ...jobs.filter((job) => job.end !== null && !job.told)];
}

/** "1 job runs", "2 jobs run", "1 job ended". */
export function jobCount(jobs: readonly Job[]): string {
  const running = jobs.filter((job) => job.end === null).length;
  if (running > 0) return running === 1 ? '1 job runs' : `${running} jobs run`;
  return jobs.length === 1 ? '1 job ended' : `${jobs.length} jobs ended`;
}

/** How a job came to its end, in few words. */
export function jobEndWords({ outcome, exitCode, signal, timedOut }: NonNullable<Job['end']>): string {
  switch (outcome) {
    case 'completed':
      return 'done';
    case 'failed':
      if (timedOut) return 'time limit';
      return signal === null ? `exit code ${exitCode ?? 'unknown'}` : signal;
    case 'aborted':
      return 'stopped';
    case 'interrupted':
      return 'interrupted';
  }
}
