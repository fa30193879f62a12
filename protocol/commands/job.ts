/** Commands that run in the background of a session, for a person: which there are, what they print, and an end. */
import { z } from '../schema.ts';
import { jobOutcome } from '../events/job.ts';
import { commandId, jobId, sessionId } from '../values/ids.ts';

const jobRow = z.object({
  sessionId,
  jobId,
  /** The beginning of its command. */
  title: z.string(),
  startedAt: z.number(),
  /** Null: it runs. */
  end: z.nullable(
    z.object({
      at: z.number(),
      outcome: jobOutcome,
      exitCode: z.nullable(z.int()),
      signal: z.nullable(z.string()),
    }),
  ),
});
export type JobRow = z.infer<typeof jobRow>;

export const jobCommands = {
  'job.list': {
    doc: 'The background jobs of a session, those that ended too; without a session those that run in any.',
    params: z.object({ sessionId: z.optional(sessionId) }),
    result: z.object({ jobs: z.array(jobRow) }),
  },
  'job.read': {
    doc: 'The newest of what a job printed, as plain text.',
    params: z.object({ sessionId, jobId }),
    result: z.object({ job: jobRow, text: z.string(), /** Bytes before the text. */ omittedBytes: z.int() }),
  },
  'job.stop': {
    doc: 'Ends a job with all it started; answers when that is in the log.',
    params: z.object({ commandId, sessionId, jobId }),
    result: z.object({ seq: z.int() }),
  },
};
