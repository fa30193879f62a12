/** A request for information from the person, open until resolved or withdrawn. */
import { z } from '../schema.ts';
import { callId, questionId } from '../values/ids.ts';

export const questionEvents = {
  'question.requested': z.object({
    questionId,
    callId: z.optional(callId),
    text: z.string(),
    options: z.array(z.object({ label: z.string(), description: z.optional(z.string()) })),
  }),
  'question.resolved': z.object({ questionId, answer: z.string(), by: z.string() }),
  'question.withdrawn': z.object({ questionId, reason: z.string() }),
};
