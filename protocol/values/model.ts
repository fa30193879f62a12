/** Which model answers and how freely its tools may act. */
import { z } from '../schema.ts';

/** `provider/model`: the provider's name in the settings, then the model's own id (which may hold slashes itself). */
export const modelName = z
  .string()
  .check(z.regex(/^[^/\s]+\/\S+$/, { error: 'expected provider/model' }), z.maxLength(300));

/** How a person may name a model where it is taken from them: in full, or as routing understands it (`gpt-5`, `qwen3:8b`, an alias). */
export const modelWish = z
  .string()
  .check(z.regex(/^[^\s/]\S*$/, { error: 'expected provider/model, or the name of a model' }), z.maxLength(300));

export const effort = z.enum(['off', 'low', 'medium', 'high', 'xhigh']);
export type Effort = z.infer<typeof effort>;

/** ask: reads run, changes ask. plan: read-only. auto: runs; destructive commands and protected paths still ask. */
export const mode = z.enum(['ask', 'plan', 'auto']);
export type Mode = z.infer<typeof mode>;
