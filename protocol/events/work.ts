/** What an agent says of its own work: plan, task list, sub-agents, skills and hooks; and pictures of the working tree around a run. */
import { z } from '../schema.ts';
import { callId, sessionId, turnId } from '../values/ids.ts';
import { usageTotals } from '../values/usage.ts';

export const todo = z.object({ text: z.string(), state: z.enum(['open', 'doing', 'done']) });
export type Todo = z.infer<typeof todo>;

export const workEvents = {
  'plan.proposed': z.object({ text: z.string(), callId: z.optional(callId) }),
  'plan.decided': z.object({
    decision: z.enum(['accepted', 'dismissed']),
    by: z.string(),
    note: z.optional(z.string()),
  }),
  'todo.replaced': z.object({ todos: z.array(todo) }),
  /** `callId` and `sessionId`: the call of this session that started it, and the session that it works in. */
  'agent.started': z.object({ agent: z.string(), callId: z.optional(callId), sessionId: z.optional(sessionId) }),
  'agent.intent-stated': z.object({ agent: z.string(), text: z.string() }),
  'agent.handed-off': z.object({ agent: z.string(), to: z.string() }),
  /** With what a sub-agent spent, those that it started counted in: it is counted apart from the session's own. */
  'agent.ended': z.object({
    agent: z.string(),
    outcome: z.string(),
    callId: z.optional(callId),
    sessionId: z.optional(sessionId),
    usage: z.optional(usageTotals),
    cost: z.optional(z.number()),
    unknownCost: z.optional(z.int()),
  }),
  'skill.applied': z.object({ skill: z.string() }),
  'hook.started': z.object({ hook: z.string() }),
  'hook.ended': z.object({ hook: z.string(), outcome: z.string() }),
  'checkpoint.made': z.object({ checkpoint: z.string(), turnId: z.optional(turnId) }),
  'checkpoint.restored': z.object({ checkpoint: z.string() }),
  'change.baseline-taken': z.object({ turnId, checkpoint: z.string() }),
  'change.summarised': z.object({
    turnId,
    files: z.array(z.object({ path: z.string(), added: z.int(), removed: z.int() })),
  }),
};
