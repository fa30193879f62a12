/** The models that can be used on a machine: what a picker offers, with limits, prices and abilities as far as they are known. */
import { z } from '../schema.ts';
import { commandId } from '../values/ids.ts';
import { effort, modelWish } from '../values/model.ts';

/** US dollars for a million tokens; null: unknown, which is never zero. */
export const modelPrice = z.object({
  input: z.nullable(z.number()),
  output: z.nullable(z.number()),
  cacheRead: z.nullable(z.number()),
  cacheWrite: z.nullable(z.number()),
});
export type ModelPrice = z.infer<typeof modelPrice>;

export const modelChoice = z.object({
  /** provider/model, as settings and sessions name it. */
  name: z.string(),
  /** What people call the model. */
  label: z.string(),
  /** The provider's name in the settings, and what people call it. */
  provider: z.string(),
  providerLabel: z.string(),
  available: z.boolean(),
  /** Why it is not, and what to do. */
  reason: z.nullable(z.string()),
  /** Offered before anybody searches: new, able to call tools, or named in the settings. */
  shortlisted: z.boolean(),
  /** Tokens; null: unknown. */
  contextWindow: z.nullable(z.int()),
  maxOutput: z.nullable(z.int()),
  price: z.nullable(modelPrice),
  /** The efforts it takes, weakest first; empty: none can be chosen; null: unknown, so any may be tried. */
  efforts: z.nullable(z.array(effort)),
  /** Whether it sees pictures; null: unknown. */
  pictures: z.nullable(z.boolean()),
});
export type ModelChoice = z.infer<typeof modelChoice>;

export const modelCommands = {
  'model.list': {
    doc: 'Models of the providers that are connected, and the built-in one. `default` is what a new session takes.',
    params: z.object({}),
    result: z.object({
      models: z.array(modelChoice),
      default: z.string(),
      /** What is wrong with the settings file as it stands, a sentence each. */
      problems: z.array(z.string()),
    }),
  },
  'model.choose': {
    doc: 'Makes a model the one that new sessions take; kept in the settings file.',
    params: z.object({ commandId, model: modelWish }),
    result: z.object({}),
  },
};
