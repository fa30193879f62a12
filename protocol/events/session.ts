/** What a session is, and what a person sets about it. `session.created` is the first event of every log that is not a fork. */
import { z } from '../schema.ts';
import { project } from '../values/project.ts';
import { callId, sessionId } from '../values/ids.ts';
import { effort, mode, modelName } from '../values/model.ts';

export const sessionEvents = {
  'session.created': z.object({
    logVersion: z.int(),
    sessionId,
    project,
    /** Absolute folder that tools start in. */
    folder: z.string(),
    /** Of a sub-agent: the session and call that started it, what it is called, and how deep it stands (1: below a person's session). */
    spawned: z.optional(z.object({ sessionId, callId, agent: z.string(), depth: z.int() })),
  }),
  /** From here on the log is this session; everything before is a verbatim copy of the parent up to `parent.seq`. */
  'session.forked': z.object({ sessionId, parent: z.object({ sessionId, seq: z.int() }) }),
  /** Only what changed. Applies from the next step on. */
  'session.configured': z.object({
    model: z.optional(modelName),
    effort: z.optional(z.nullable(effort)),
    mode: z.optional(mode),
  }),
  'session.titled': z.object({ title: z.string().check(z.maxLength(200)), by: z.enum(['person', 'agent']) }),
  'session.archived': z.object({}),
  'session.restored': z.object({}),
  'session.deleted': z.object({}),
};
