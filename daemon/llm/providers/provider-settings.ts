/**
 * What a row of `providers` in the settings file may say, and how it is read. One bad row does not take the others with it.
 *
 *   { "local": { "format": "openai-chat", "baseUrl": "http://127.0.0.1:8080/v1", "models": ["qwen3"] } }
 */
import { parse, z } from '#protocol/schema.ts';
import { effort } from '#protocol/values/model.ts';

const baseUrl = z.string().check(
  z.maxLength(2000),
  z.refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'expected an http:// or https:// address',
  }),
  z.refine((text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''), {
    error: 'must not hold a user or password; name a variable with keyEnv',
  }),
);

const dollars = z.number().check(z.nonnegative({ error: 'expected US dollars for a million tokens' }));

const tokens = z.int().check(z.positive({ error: 'expected a number of tokens' }));

const modelEntry = z.object({
  id: z.string().check(z.regex(/^\S+$/, { error: 'expected a model id without spaces' }), z.maxLength(200)),
  contextWindow: z.optional(tokens.check(z.describe('Tokens that it can read.'))),
  efforts: z.optional(z.array(effort).check(z.describe('The efforts that it takes, weakest first.'))),
  maxOutputTokens: z.optional(
    tokens.check(
      z.describe(
        'The most it may say in one reply. Heeded by anthropic-messages, which else takes the limit of the model, and by openai-responses.',
      ),
    ),
  ),
  price: z.optional(
    z
      .object({ input: dollars, output: dollars, cacheRead: z.optional(dollars), cacheWrite: z.optional(dollars) })
      .check(z.describe('US dollars for a million tokens.')),
  ),
});
export type ModelEntry = z.infer<typeof modelEntry>;

export const providerSettings = z.object({
  format: z
    .enum(['anthropic-messages', 'openai-chat', 'openai-responses'], {
      error: 'expected openai-chat, anthropic-messages or openai-responses',
    })
    .check(z.describe('The wire format that it speaks.')),
  baseUrl: baseUrl.check(
    z.describe(
      'Its address, up to the path of the format: with /v1 for the OpenAI formats, without for anthropic-messages.',
    ),
  ),
  keyEnv: z.optional(
    z
      .string()
      .check(
        z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of a variable' }),
        z.describe(
          "The environment variable that holds the key. Without it the provider needs none, unless it is a known vendor's own address.",
        ),
      ),
  ),
  login: z.optional(
    z
      .enum(['codex'])
      .check(
        z.describe(
          'Asked with the login of the Codex CLI instead of a key; for openai-responses. The known provider chatgpt does so by itself.',
        ),
      ),
  ),
  models: z.optional(
    z
      .array(z.union([modelEntry.shape.id, modelEntry]))
      .check(z.describe('What the picker offers; a model that is not listed can be named all the same.')),
  ),
});
export type ProviderSettings = z.infer<typeof providerSettings>;

export interface ParsedProviders {
  providers: ReadonlyMap<string, ProviderSettings>;
  /** A sentence for each row that was left out; the others are used. */
  problems: string[];
}

/** The built-in provider that needs neither network nor key, and its one model. */
export const offlineProvider = 'offline';
export const offlineName = 'offline/demo';

/** Reads the `providers` of the settings file. Never throws. */
export function parseProviders(value: unknown): ParsedProviders {
  const providers = new Map<string, ProviderSettings>();
  const problems: string[] = [];
  if (value === undefined) return { providers, problems };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { providers, problems: ['providers: expected an object of providers by name.'] };
  }
  for (const [name, row] of Object.entries(value)) {
    try {
      if (name === offlineProvider) throw new Error(`the name “${offlineProvider}” is reserved for the built-in demo`);
      if (!/^[^/\s]{1,80}$/.test(name))
        throw new Error('a name must be without spaces and slashes, 80 letters at most');
      providers.set(name, parse(providerSettings, row, 'it'));
    } catch (error) {
      problems.push(`providers.${name} is left out: ${error instanceof Error ? error.message : String(error)}.`);
    }
  }
  return { providers, problems };
}

export function entriesOf(settings: ProviderSettings): ModelEntry[] {
  return (settings.models ?? []).map((entry) => (typeof entry === 'string' ? { id: entry } : entry));
}
