/** A request for information from the person, open until resolved or withdrawn. */
import { z } from '../schema.ts';
import { callId, questionId } from '../values/ids.ts';

/** `plan`: what choosing it decides about the plan that the question is about. A question with such options is a plan review. */
export const questionOption = z.object({
  label: z.string(),
  description: z.optional(z.string()),
  plan: z.optional(z.enum(['ask', 'auto', 'dismiss'])),
});
export type QuestionOption = z.infer<typeof questionOption>;

export const questionEvents = {
  'question.requested': z.object({
    questionId,
    callId: z.optional(callId),
    text: z.string(),
    options: z.array(questionOption),
  }),
  /** `option`: the place of the option that was chosen, from 0; none where the person answered in words of their own. */
  'question.resolved': z.object({
    questionId,
    answer: z.string(),
    option: z.optional(z.int()),
    by: z.string(),
  }),
  'question.withdrawn': z.object({ questionId, reason: z.string() }),
};
