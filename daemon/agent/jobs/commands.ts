/** Handlers of the job.* commands. */
import type { CommandName, Params, Result } from '#protocol/command.ts';
import type { JobRow } from '#protocol/commands/job.ts';
import { runningJobs, type Job } from '#protocol/conversation/jobs.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { digestOf } from '../../base/digest.ts';
import type { Agents } from '../agents.ts';

type Handled = Extract<CommandName, `job.${string}`>;
export type JobHandlers = {
  readonly [Name in Handled]: (params: Params<Name>, caller: { readonly name: string }) => Promise<Result<Name>>;
};

export function jobHandlers(agents: Agents): JobHandlers {
  return {
    'job.list': async ({ sessionId }) => {
      if (sessionId !== undefined) {
        const { conversation } = await agents.agent(sessionId);
        return { jobs: conversation.jobs.map((job) => rowOf(sessionId, job)) };
      }
      // What runs keeps its session open.
      const opened = await agents.opened();
      return {
        jobs: opened.flatMap((one) => runningJobs(one.agent.conversation.jobs).map((job) => rowOf(one.sessionId, job))),
      };
    },
    'job.read': async ({ sessionId, jobId }) => {
      const { job, text, omittedBytes } = (await agents.agent(sessionId)).showJob(jobId);
      return { job: rowOf(sessionId, job), text, omittedBytes };
    },
    'job.stop': async (params, caller) => {
      const agent = await agents.agent(params.sessionId);
      const mark = { id: params.commandId, digest: digestOf(params) };
      return { seq: await agent.stopJob(params.jobId, caller.name, mark) };
    },
  };
}

function rowOf(sessionId: SessionId, { jobId, title, startedAt, end }: Job): JobRow {
  if (end === null) return { sessionId, jobId, title, startedAt, end };
  const { at, outcome, exitCode, signal } = end;
  return { sessionId, jobId, title, startedAt, end: { at, outcome, exitCode, signal } };
}
