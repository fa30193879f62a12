/** Who answers: the vendors that are known, those of the settings, and servers found on this machine. Keys go up, and never come down. */
import { z } from '../schema.ts';
import { commandId } from '../values/ids.ts';

export const providerName = z.string().check(z.regex(/^[^/\s]{1,80}$/, { error: 'expected the name of a provider' }));

export const provider = z.object({
  name: z.string(),
  label: z.string(),
  baseUrl: z.string(),
  /** Known to Alcove, named in the settings file, or a server that answers on loopback now. */
  origin: z.enum(['known', 'settings', 'found']),
  key: z.object({
    needed: z.boolean(),
    /** Where the key in force comes from; null: there is none. */
    from: z.nullable(z.enum(['stored', 'environment'])),
    /** The environment variable that is looked at. */
    variable: z.nullable(z.string()),
    /** A page of the vendor where keys are made. */
    page: z.nullable(z.string()),
  }),
  /** Whether its models can be used as things stand. */
  connected: z.boolean(),
  /** Why not, and what to do; null where it is connected. */
  reason: z.nullable(z.string()),
  models: z.int(),
});
export type Provider = z.infer<typeof provider>;

export const providerCommands = {
  'provider.list': {
    doc: 'The providers; looks for model servers on this machine first, half a second at most.',
    params: z.object({}),
    result: z.object({
      providers: z.array(provider),
      /** What is wrong with the settings file as it stands, a sentence each. */
      problems: z.array(z.string()),
    }),
  },
  'provider.connect': {
    doc: "Tries a key with the provider itself, and stores it owner-only where it is accepted. A blank key tries the one that is in force. `message` holds the provider's own answer. A key that could not be tried (no connection) is stored only with `untried`; one that was refused never.",
    params: z.object({
      commandId,
      provider: providerName,
      key: z.string().check(z.maxLength(4000)),
      untried: z.optional(z.boolean()),
    }),
    result: z.object({
      answer: z.enum(['accepted', 'refused', 'unreachable']),
      stored: z.boolean(),
      message: z.string(),
      provider,
    }),
  },
  'provider.disconnect': {
    doc: 'Deletes the stored key of a provider. A key in the environment stays in force.',
    params: z.object({ commandId, provider: providerName }),
    result: z.object({ provider }),
  },
};
