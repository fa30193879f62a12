/** `job`: what the agent can do with a command that it let run in the background. Offered once there is one. It reaches no other session's. */
import { leftOutHere } from '../../base/left-out.ts';
import { maxJobWaitMs } from '../../base/limits.ts';
import { ArgumentProblem, pick, prepareWith, type Arguments } from '../arguments.ts';
import { printed } from '../plain-text.ts';
import { completed, failed } from '../result.ts';
import type { JobDesk, JobReading, PreparedCall, Tool, ToolEnvironment, ToolResult } from '../tool.ts';
import { jobLine } from './job-words.ts';

export const jobTool: Tool = {
  name: 'job',
  description:
    'Background jobs that bash started: list them; read what one printed since you last read it, and how it ended; stop one with all it started.',
  parameters: {
    type: 'object',
    properties: {
      action: { enum: ['list', 'read', 'stop'] },
      job: { type: 'string', description: 'Such as job_1.' },
      wait: {
        type: 'number',
        description: `read: first wait for its end, so many seconds at most (${maxJobWaitMs / 1000}).`,
      },
    },
    required: ['action'],
  },
  readOnly: true,
  ownDeadline: true,
  relevant: ({ counts }) => counts.jobs > 0,
  prepare: (args) => prepareWith(() => preparedJob(args)),
};

function preparedJob(args: Arguments): PreparedCall {
  const action = pick(args, ['action', 'command', 'operation']);
  switch (action) {
    case undefined:
    case 'list':
      return prepared({ title: 'Jobs' }, 'list', ({ jobs }) => Promise.resolve(completed(listOf(jobs))));
    case 'read': {
      const jobId = jobArgument(args);
      const waitMs = waitArgument(args);
      const summary = waitMs === 0 ? {} : { summary: `waits up to ${waitMs / 1000} s` };
      return prepared({ title: 'Read job', target: jobId, ...summary }, `read ${jobId}`, async ({ jobs }, signal) => {
        if (waitMs > 0) await jobs.ended(jobId, waitMs, signal);
        const reading = jobs.read(jobId);
        return reading === null ? unknown(jobId, jobs) : completed(readingText(reading, jobs.now()));
      });
    }
    case 'stop': {
      const jobId = jobArgument(args);
      return prepared({ title: 'Stop job', target: jobId }, `stop ${jobId}`, async ({ jobs }) => {
        if (await jobs.stop(jobId)) return completed(`Stopped ${jobId}, with all it started.`);
        const known = jobs.list().find((job) => job.jobId === jobId);
        if (known === undefined) return unknown(jobId, jobs);
        return completed(`Nothing to stop: ${jobLine(known, jobs.now())}.`);
      });
    }
    default:
      throw new ArgumentProblem(`"action" is ${JSON.stringify(action)}; it can be list, read or stop.`);
  }
}

/** Each in its turn: a stop must not overtake a read, nor a read a wait. */
function prepared(
  display: { title: string; target?: string; summary?: string },
  rulePattern: string,
  execute: (environment: ToolEnvironment, signal: AbortSignal) => Promise<ToolResult>,
): PreparedCall {
  return {
    display: { kind: 'other', ...display },
    assess: () => Promise.resolve({ effect: 'read', caution: null, rulePattern, inTurn: true }),
    execute,
  };
}

function listOf(desk: JobDesk): string {
  const jobs = desk.list();
  if (jobs.length === 0) return 'There are no background jobs.';
  return jobs.map((job) => jobLine(job, desk.now())).join('\n');
}

function unknown(jobId: string, jobs: JobDesk): ToolResult {
  return failed(`There is no job ${jobId} in this session. ${listOf(jobs)}`);
}

function readingText({ job, output, lostBytes, files }: JobReading, now: number): string {
  const lost = lostBytes === 0 ? [] : [`[${lostBytes.toLocaleString('en')} bytes before this are no longer kept.]`];
  const text =
    output.cut === null
      ? printed(output.text)
      : `${printed(output.head)}\n${seam(output, files)}\n${printed(output.tail)}`;
  const body = text === '' ? '(nothing new)' : text;
  return [...lost, body, `[${jobLine(job, now)}]`].join('\n');
}

function seam(output: Extract<JobReading['output'], { cut: 'bytes' | 'lines' }>, files: readonly string[]): string {
  return `[… ${leftOutHere(output)}; what is kept is in ${files.join(' and ')} …]`;
}

function jobArgument(args: Arguments): string {
  const value = pick(args, ['job', 'jobId', 'job_id', 'id']);
  const jobId = typeof value === 'number' ? `job_${value}` : value;
  if (typeof jobId !== 'string' || jobId.trim() === '')
    throw new ArgumentProblem('"job" is missing: give its id, such as job_1.');
  return /^\d+$/.test(jobId.trim()) ? `job_${jobId.trim()}` : jobId.trim();
}

function waitArgument(args: Arguments): number {
  const value = pick(args, ['wait', 'timeout']);
  if (value === undefined || value === '') return 0;
  const seconds = typeof value === 'string' ? Number(value) : value;
  if (typeof seconds !== 'number' || !(seconds >= 0) || seconds * 1000 > maxJobWaitMs)
    throw new ArgumentProblem(
      `"wait" is ${JSON.stringify(value)}, but must be a number of seconds, at most ${maxJobWaitMs / 1000} (maxJobWaitMs).`,
    );
  return Math.ceil(seconds * 1000);
}
