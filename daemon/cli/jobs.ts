/** `alcove jobs list [SESSION]`, `jobs read SESSION JOB`, `jobs stop SESSION JOB`: what runs in the background of sessions. */
import type { JobRow } from '#protocol/commands/job.ts';
import type { CommandId, JobId, SessionId } from '#protocol/values/ids.ts';
import { systemClock } from '../base/clock.ts';
import { SystemIds } from '../base/ids.ts';
import { Running } from './running.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from './usage-error.ts';
import { visible } from './visible.ts';

const usage =
  'Use "alcove jobs", "alcove jobs list [SESSION]", "alcove jobs read SESSION JOB" or "alcove jobs stop SESSION JOB".';

export async function jobs(around: Surroundings, action: string, words: readonly string[]): Promise<number> {
  const [session, job] = words;
  const sessionId = session as SessionId;
  const jobId = job as JobId;
  switch (action) {
    case 'list': {
      if (words.length > 1) throw new UsageError(usage);
      const running = await Running.find(around.home);
      const { jobs: all } = await running.call('job.list', session === undefined ? {} : { sessionId });
      if (all.length === 0)
        process.stdout.write(session === undefined ? 'No job runs.\n' : 'This session has no jobs.\n');
      for (const row of all) process.stdout.write(`${line(row)}\n`);
      return 0;
    }
    case 'read': {
      if (words.length !== 2) throw new UsageError(usage);
      const running = await Running.find(around.home);
      const { job: row, text, omittedBytes } = await running.call('job.read', { sessionId, jobId });
      process.stderr.write(
        `${line(row)}${omittedBytes > 0 ? `; ${omittedBytes} bytes before this are left out` : ''}\n`,
      );
      process.stdout.write(text === '' || text.endsWith('\n') ? text : `${text}\n`);
      return 0;
    }
    case 'stop': {
      if (words.length !== 2) throw new UsageError(usage);
      const running = await Running.find(around.home);
      const commandId = new SystemIds(systemClock).uuid7() as CommandId;
      await running.call('job.stop', { commandId, sessionId, jobId });
      process.stdout.write(`Stopped ${jobId}, with all it started.\n`);
      return 0;
    }
    default:
      throw new UsageError(usage);
  }
}

function line({ sessionId, jobId, title, end }: JobRow): string {
  const how = end === null ? 'runs' : `${end.outcome}${end.exitCode === null ? '' : ` (exit code ${end.exitCode})`}`;
  return `${sessionId}  ${jobId}  ${how}  ${visible(title.replaceAll(/\s+/g, ' '))}`;
}
