import { describe, expect, it } from 'vitest';
import type { Job, JobEnd } from '#protocol/conversation/jobs.ts';
import type { CallId, JobId } from '#protocol/values/ids.ts';
import { jobCount, jobEndWords, shownJobs } from './jobs.ts';

const end = (change: Partial<JobEnd> = {}): JobEnd => ({
  at: 2000,
  outcome: 'completed',
  exitCode: 0,
  signal: null,
  timedOut: false,
  outputBytes: 0,
  by: null,
  ...change,
});
const job = (number: number, ended: JobEnd | null, told = false): Job => ({
  jobId: `job_${number}` as JobId,
  callId: 'cal_1' as CallId,
  title: 'water',
  startedAt: 1000,
  end: ended,
  told,
});

describe('background jobs', () => {
  it('are shown while they run, and after their end until the agent has been told', () => {
    const jobs = [job(1, end(), true), job(2, end()), job(3, null)];
    expect(shownJobs(jobs).map(({ jobId }) => jobId)).toEqual(['job_3', 'job_2']);
    expect(jobCount(shownJobs(jobs))).toBe('1 job runs');
    expect(jobCount([job(1, null), job(2, null)])).toBe('2 jobs run');
    expect(jobCount([job(1, end())])).toBe('1 job ended');
  });

  it.each([
    [end(), 'done'],
    [end({ outcome: 'failed', exitCode: 3 }), 'exit code 3'],
    [end({ outcome: 'failed', exitCode: null, signal: 'SIGKILL' }), 'SIGKILL'],
    [end({ outcome: 'failed', exitCode: null, timedOut: true }), 'time limit'],
    [end({ outcome: 'aborted', by: 'phone' }), 'stopped'],
    [end({ outcome: 'interrupted' }), 'interrupted'],
  ])('say how they ended', (ended, words) => expect(jobEndWords(ended)).toBe(words));
});
