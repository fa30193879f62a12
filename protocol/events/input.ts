/** What a person or a schedule submits. An input is queued once, may be changed while it waits, and is claimed by one step or withdrawn. */
import { z } from '../schema.ts';
import { inputPart } from '../values/content.ts';
import { inputId, stepId } from '../values/ids.ts';

export const inputTarget = z.enum(['next-turn', 'next-step']);
export type InputTarget = z.infer<typeof inputTarget>;

export const inputOrigin = z.enum(['person', 'command-line', 'schedule', 'agent']);
export type InputOrigin = z.infer<typeof inputOrigin>;

export const inputEvents = {
  'input.queued': z.object({ inputId, target: inputTarget, parts: z.array(inputPart), origin: inputOrigin }),
  'input.edited': z.object({ inputId, parts: z.array(inputPart) }),
  /** A new target, or a new place: before another waiting input, or last (null). */
  'input.moved': z.object({ inputId, target: z.optional(inputTarget), before: z.optional(z.nullable(inputId)) }),
  'input.withdrawn': z.object({ inputId, reason: z.string() }),
  'input.claimed': z.object({ stepId, inputIds: z.array(inputId) }),
};
