/**
 * A command that goes on in the background of its session: started by a call that has its end already, ended once. What it prints is no
 * event: it stands in a bounded file of the session's own.
 */
import { z } from '../schema.ts';
import { callId, jobId } from '../values/ids.ts';

/** `aborted`: the agent or a person ended it. `interrupted`: Alcove stopped, and it with it. */
export const jobOutcome = z.enum(['completed', 'failed', 'aborted', 'interrupted']);
export type JobOutcome = z.infer<typeof jobOutcome>;

export const jobEvents = {
  /** `title`: the beginning of its command, enough to know it by; the whole stands in the call. */
  'job.started': z.object({ jobId, callId, title: z.string() }),
  'job.ended': z.object({
    jobId,
    outcome: jobOutcome,
    /** Null where a signal ended it, and where nobody saw its end. */
    exitCode: z.nullable(z.int()),
    signal: z.nullable(z.string()),
    timedOut: z.optional(z.boolean()),
    /** Of all that it printed; missing where nobody counted. */
    outputBytes: z.optional(z.int()),
    /** Who ended it: "the agent", or the name of a device. */
    by: z.optional(z.string()),
  }),
};
