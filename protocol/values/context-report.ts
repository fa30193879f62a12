/**
 * What fills a model's context, part by part. The parts are estimates and add up to `estimated`; what a provider has measured stands apart
 * from them, since nobody can say which part of it is whose.
 */
import { z } from '../schema.ts';

/** In the order in which a report tells them. */
export const contextParts = [
  'prompt',
  'instructions',
  'tools',
  'summary',
  'tasks',
  'inputs',
  'replies',
  'reasoning',
  'calls',
  'results',
  'pictures',
  'documents',
] as const;
export type ContextPart = (typeof contextParts)[number];

const tokens = z.int().check(z.nonnegative());

export const contextReport = z.object({
  model: z.string(),
  /** The model's window in tokens; null: unknown. */
  limit: z.nullable(tokens),
  /** The last request and its reply as the provider counted them; null: never measured, or not since the last compaction. */
  measured: z.nullable(tokens),
  /** The sum of the parts: what the next request would hold. */
  estimated: tokens,
  /** `share`: tenths of a percent of `estimated`; together they are 1000. A part that rounds to 0 is there all the same. */
  parts: z.array(
    z.object({
      part: z.enum(contextParts),
      name: z.string(),
      tokens,
      share: z.int(),
      /** Of the prompt and of each file of instructions: as it is sent. */
      text: z.optional(z.string()),
    }),
  ),
});
export type ContextReport = z.infer<typeof contextReport>;
