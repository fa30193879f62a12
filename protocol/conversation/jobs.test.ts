import { describe, expect, it } from 'vitest';
import type { Draft } from '../event.ts';
import { callId, jobId, LogBuilder } from '../testing/log-builder.ts';
import { maxEndedJobs, runningJobs, theAgent } from './jobs.ts';

const started = (number: number): Draft => ({
  type: 'job.started',
  jobId: jobId(number),
  callId: callId(1),
  title: `water ${number}`,
});
const ended = (number: number, by?: string): Draft => ({
  type: 'job.ended',
  jobId: jobId(number),
  outcome: by === undefined ? 'completed' : 'aborted',
  exitCode: 0,
  signal: null,
  ...(by === undefined ? {} : { by }),
});
const garden = () => new LogBuilder().session().asks('Water the ferns.').turn().step().replies().endsStep();

describe('OR9: jobs of a session', () => {
  it('the step after its end tells the agent of a job, once, and no later one', () => {
    const log = garden().add(started(1)).add(started(2)).add(ended(2)).step().replies().endsStep().step();
    const steps = [...(log.conversation.active?.steps ?? []), log.conversation.active?.step];
    expect(steps.map((step) => step?.endedJobs.map((job) => job.jobId))).toEqual([[], ['job_2'], []]);
    expect(log.conversation.jobs.map((job) => [job.jobId, job.end?.outcome ?? null, job.told])).toEqual([
      ['job_1', null, false],
      ['job_2', 'completed', true],
    ]);
  });

  it('what the agent ended itself is no news to it; what a person ended is', () => {
    const log = garden().add(started(1)).add(started(2)).add(ended(1, theAgent)).add(ended(2, 'phone')).step();
    expect(log.conversation.active?.step?.endedJobs.map((job) => job.jobId)).toEqual(['job_2']);
  });

  it('the last fifty that ended are kept, with all that run, and no id comes again', () => {
    const log = garden().add(started(1));
    for (let number = 2; number <= maxEndedJobs + 2; number += 1) log.add(started(number)).add(ended(number));
    expect(log.conversation.jobs).toHaveLength(maxEndedJobs + 1);
    expect(log.conversation.jobs.map((job) => job.jobId)).not.toContain('job_2');
    expect(runningJobs(log.conversation.jobs).map((job) => job.jobId)).toEqual(['job_1']);
    expect(log.conversation.counts.jobs).toBe(maxEndedJobs + 2);
  });
});
