/** How full the model's window is, and compaction: old turns replaced by a summary in the context; the log keeps all. */
import { z } from '../schema.ts';
import { usage } from '../values/usage.ts';

export const compactionTrigger = z.enum(['threshold', 'overflow', 'command']);
export type CompactionTrigger = z.infer<typeof compactionTrigger>;

export const contextEvents = {
  /** Tokens of the last request; `limit` null: the model's window is unknown. */
  'context.measured': z.object({ used: z.int(), limit: z.nullable(z.int()) }),
  /** A person wants one; it is made at the next step boundary. */
  'compaction.requested': z.object({}),
  'compaction.started': z.object({ trigger: compactionTrigger }),
  'compaction.ended': z.object({
    outcome: z.enum(['completed', 'failed']),
    summary: z.optional(z.string()),
    /** The first step whose content is still sent word for word starts at this seq. */
    firstKeptSeq: z.optional(z.int()),
    /** Tokens of the context, before as the provider measured them where it did, after as an estimate. */
    before: z.optional(z.int()),
    after: z.optional(z.int()),
    /** Files that tools read and changed in all that is summarised, also by the summaries before; the latest last. */
    filesRead: z.optional(z.array(z.string())),
    filesChanged: z.optional(z.array(z.string())),
    /** Why it failed: a sentence. */
    reason: z.optional(z.string()),
    /** Of the request that made the summary; null: never reported. Missing where none was made. */
    usage: z.optional(z.nullable(usage)),
    cost: z.optional(z.nullable(z.number())),
  }),
};
