/** One model call and the results of its tool calls. `step.replied` says that the reply is complete: only then may its calls run. */
import { z } from '../schema.ts';
import { stepId, turnId } from '../values/ids.ts';
import { effort, mode, modelName } from '../values/model.ts';
import { failure, turnOutcome } from '../values/outcome.ts';
import { usage } from '../values/usage.ts';

export const stopReason = z.enum(['end', 'tool-calls', 'length', 'refusal', 'other']);

export const stepEvents = {
  'step.started': z.object({ turnId, stepId, model: modelName, effort: z.nullable(effort), mode }),
  /** An attempt failed before any output and is made again after `delayMs`. `usage` null: the attempt's usage never came. */
  'step.retried': z.object({
    stepId,
    attempt: z.int(),
    delayMs: z.number(),
    reason: failure,
    usage: z.nullable(usage),
  }),
  'step.replied': z.object({
    stepId,
    stop: stopReason,
    /** Null: never reported. */
    usage: z.nullable(usage),
    /** US dollars; null: the price is unknown. */
    cost: z.nullable(z.number()),
    firstTokenMs: z.nullable(z.number()),
    totalMs: z.number(),
  }),
  /** `usage` stands here when the reply failed or was aborted and usage had arrived all the same. */
  'step.ended': z.object({
    stepId,
    outcome: turnOutcome,
    failure: z.optional(failure),
    usage: z.optional(z.nullable(usage)),
  }),
};
