/** Something a person should see that no other event says, and the marks that people put on what stands in a log. */
import { z } from '../schema.ts';

export const warningEvents = {
  'warning.raised': z.object({
    code: z.enum(['log_repaired', 'orphans_ended', 'interrupted', 'storage', 'other']),
    message: z.string(),
  }),
};

/** The event that is marked. */
const mark = { eventSeq: z.int() };
export const annotationEvents = {
  'annotation.pinned': z.object({ ...mark, note: z.optional(z.string()) }),
  'annotation.unpinned': z.object(mark),
  'annotation.reviewed': z.object(mark),
};
