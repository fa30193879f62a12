/** A piece of a reply as it streams: text, reasoning, or a coming tool call (by name; its arguments come complete with `tool-call.requested`). */
import { z } from '../schema.ts';
import { partId, stepId } from '../values/ids.ts';

export const partKind = z.enum(['text', 'reasoning', 'tool-call']);
export type PartKind = z.infer<typeof partKind>;

export const partEvents = {
  'part.started': z.object({ stepId, partId, kind: partKind, tool: z.optional(z.string()) }),
  'part.delta': z.object({ partId, text: z.string() }),
  /** `signature`: what the provider wants back with this reasoning, verbatim. */
  'part.ended': z.object({ partId, signature: z.optional(z.string()) }),
  /** Text that turned out to be planning, or the other way round. */
  'part.reclassified': z.object({ partId, kind: z.enum(['text', 'reasoning']) }),
};
