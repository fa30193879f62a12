/** How full the model's window is, and compaction: old turns replaced by a summary in the context; the log keeps all. */
import { z } from '../schema.ts';

export const contextEvents = {
  /** Tokens of the last request; `limit` null: the model's window is unknown. */
  'context.measured': z.object({ used: z.int(), limit: z.nullable(z.int()) }),
  'compaction.started': z.object({ trigger: z.enum(['threshold', 'overflow', 'command']) }),
  'compaction.ended': z.object({
    outcome: z.enum(['completed', 'failed']),
    summary: z.optional(z.string()),
    /** The first step whose content is still sent word for word starts at this seq. */
    firstKeptSeq: z.optional(z.int()),
    before: z.optional(z.int()),
    after: z.optional(z.int()),
    reason: z.optional(z.string()),
  }),
};
