/**
 * Which model a name means, and the one client of each provider. Providers are rows of settings, keyed by a name a person chose; their keys
 * stand in the environment and never in the settings. A change of the settings takes effect at the next resolve: clients of rows that changed
 * are closed once their last reply has ended, all others go on as they were.
 *
 *   { "local": { "format": "openai-chat", "baseUrl": "http://127.0.0.1:8080/v1", "models": ["qwen3"] } }
 */
import { isDeepStrictEqual } from 'node:util';
import { parse, z } from '#protocol/schema.ts';
import { effort, type Effort } from '#protocol/values/model.ts';
import type { Failure, FailureCode } from '#protocol/values/outcome.ts';
import type { Clock } from '../base/clock.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import type { ModelRequest, StreamEvent } from './item.ts';
import type { ModelClient } from './model-stream.ts';
import { offlineModel } from './offline.ts';
import { openAiChat } from './openai-chat.ts';
import { openAiResponses } from './openai-responses.ts';
import type { WireOptions } from './wire-client.ts';

const baseUrl = z.string().check(
  z.maxLength(2000),
  z.refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'expected an http:// or https:// address',
  }),
  z.refine((text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''), {
    error: 'must not hold a user or password; name a variable with keyEnv',
  }),
);

const modelEntry = z.object({
  id: z.string().check(z.regex(/^\S+$/, { error: 'expected a model id without spaces' }), z.maxLength(200)),
  contextWindow: z.optional(z.int().check(z.positive({ error: 'expected a number of tokens' }))),
  efforts: z.optional(z.array(effort)),
  /** The most it may say in one reply; heeded by anthropic-messages, which demands a limit and else takes the model's own, and openai-responses. */
  maxOutputTokens: z.optional(z.int().check(z.positive({ error: 'expected a number of tokens' }))),
});

const providerSettings = z.object({
  format: z.enum(['anthropic-messages', 'openai-chat', 'openai-responses'], {
    error: 'expected openai-chat, anthropic-messages or openai-responses',
  }),
  baseUrl,
  /** Without it the provider needs no key. */
  keyEnv: z.optional(
    z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of a variable' })),
  ),
  /** What a picker offers; a model that is not listed can be named all the same. */
  models: z.optional(z.array(z.union([modelEntry.shape.id, modelEntry]))),
});
export type ProviderSettings = z.infer<typeof providerSettings>;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ParsedProviders {
  providers: ReadonlyMap<string, ProviderSettings>;
  /** A sentence for each row that was left out; the others are used. */
  problems: string[];
}

export type Resolution =
  | { type: 'resolved'; client: ModelClient; provider: string; model: string; contextWindow: number | null }
  | { type: 'unavailable'; failure: Failure };

/** One adapter a wire format. Each loads its SDK when it is first asked. */
const adapters: Record<ProviderSettings['format'], (options: WireOptions) => ModelClient> = {
  'anthropic-messages': anthropicMessages,
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
};

export interface ListedModel {
  /** `provider/model`. */
  name: string;
  provider: string;
  model: string;
  contextWindow: number | null;
  /** The efforts it takes, where the settings say. */
  efforts: Effort[] | null;
  available: boolean;
  /** Why it is not available. */
  reason?: string;
}

/** The built-in provider that needs neither network nor key, and its one model. */
export const offlineProvider = 'offline';
export const offlineName = 'offline/demo';

/** Reads the `providers` of the settings file. Never throws: one bad row does not take the others with it. */
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

export interface ProvidersOptions {
  settings: ReadonlyMap<string, ProviderSettings>;
  /** Where the keys are. */
  environment: Environment;
  clock: Clock;
  /** Replaces the built-in demo: for tests. */
  offline?: ModelClient;
}

export class Providers {
  #settings: ReadonlyMap<string, ProviderSettings>;
  readonly #environment: Environment;
  readonly #clock: Clock;
  readonly #offline: ModelClient;
  /** The client of each row as it is now. */
  readonly #clients = new Map<string, SharedClient>();
  /** Every client that may hold a connection: those of replaced rows too, until their last reply has ended. */
  readonly #open = new Set<SharedClient>();
  #closed = false;

  constructor(options: ProvidersOptions) {
    this.#settings = options.settings;
    this.#environment = options.environment;
    this.#clock = options.clock;
    this.#offline = options.offline ?? offlineModel();
  }

  /** Finds the model that `name` (`provider/model`) means. Makes no connection. Ask again for each step: settings may have changed. */
  resolve(name: string): Resolution {
    const slash = name.indexOf('/');
    const provider = name.slice(0, slash);
    const model = name.slice(slash + 1);
    if (slash < 1 || model === '') return unavailable('model_unknown', `“${name}” is not of the form provider/model.`);
    if (this.#closed) return unavailable('provider_unreachable', 'The daemon is closing.');
    if (provider === offlineProvider) {
      if (name !== offlineName) return unavailable('model_unknown', `The only offline model is ${offlineName}.`);
      return { type: 'resolved', client: this.#offline, provider, model, contextWindow: null };
    }
    const settings = this.#settings.get(provider);
    if (settings === undefined) {
      const known = [offlineProvider, ...this.#settings.keys()].join(', ');
      return unavailable('model_unknown', `No provider is called “${provider}”. There are: ${known}.`);
    }
    const obstacle = this.#obstacle(provider, settings);
    if (obstacle !== null) return { type: 'unavailable', failure: obstacle };
    const entry = entriesOf(settings).find((one) => one.id === model);
    const client = this.#client(provider, settings);
    return { type: 'resolved', client, provider, model, contextWindow: entry?.contextWindow ?? null };
  }

  /** What a picker offers, those that cannot be used now included, with the reason. */
  list(): ListedModel[] {
    const configured = [...this.#settings].flatMap(([provider, settings]) => {
      const obstacle = this.#obstacle(provider, settings);
      return entriesOf(settings).map((entry): ListedModel => ({
        name: `${provider}/${entry.id}`,
        provider,
        model: entry.id,
        contextWindow: entry.contextWindow ?? null,
        efforts: entry.efforts ?? null,
        available: obstacle === null,
        ...(obstacle !== null && { reason: obstacle.message }),
      }));
    });
    const facts = { contextWindow: null, efforts: null, available: true };
    return [...configured, { name: offlineName, provider: offlineProvider, model: 'demo', ...facts }];
  }

  /** Takes new settings. Replies that run go on to their end, with the client they began with. */
  replace(settings: ReadonlyMap<string, ProviderSettings>): void {
    for (const [name, client] of this.#clients) {
      if (isDeepStrictEqual(settings.get(name), this.#settings.get(name))) continue;
      this.#clients.delete(name);
      client.retire();
    }
    this.#settings = settings;
  }

  /** Closes every client, retired ones too; replies that run end as aborted. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#offline, ...this.#open].map((client) => client.close()));
  }

  /** Why this provider cannot be used now; null where nothing stands in the way. */
  #obstacle(provider: string, settings: ProviderSettings): Failure | null {
    if (settings.keyEnv !== undefined && this.#key(settings) === null) {
      const message = `${provider} needs a key: the environment variable ${settings.keyEnv} is not set. Set it and start the daemon again.`;
      return { code: 'unauthorized', message };
    }
    return null;
  }

  #key(settings: ProviderSettings): string | null {
    const key = settings.keyEnv === undefined ? '' : (this.#environment[settings.keyEnv] ?? '').trim();
    return key === '' ? null : key;
  }

  #client(provider: string, settings: ProviderSettings): ModelClient {
    const cached = this.#clients.get(provider);
    if (cached !== undefined) return cached;
    const make = () =>
      adapters[settings.format]({
        provider,
        baseUrl: settings.baseUrl.replace(/\/+$/, ''),
        key: this.#key(settings),
        keyName: settings.keyEnv ?? null,
        clock: this.#clock,
        maxOutputTokens: (model) => entriesOf(settings).find((one) => one.id === model)?.maxOutputTokens ?? null,
      });
    const client = new SharedClient(make, (open) => {
      if (open) this.#open.add(client);
      else this.#open.delete(client);
    });
    this.#clients.set(provider, client);
    return client;
  }
}

/**
 * The client of one row, shared by all sessions. Once retired it holds connections only while replies run: a session that resolved it before
 * the change and streams after it is served all the same.
 */
class SharedClient implements ModelClient {
  readonly #make: () => ModelClient;
  /** Told when it begins and ceases to hold what must be closed. */
  readonly #holds: (open: boolean) => void;
  #inner: ModelClient | null = null;
  #running = 0;
  #retired = false;
  #closed = false;

  constructor(make: () => ModelClient, holds: (open: boolean) => void) {
    this.#make = make;
    this.#holds = holds;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    if (this.#closed) {
      yield { type: 'aborted', usage: null };
      return;
    }
    if (this.#inner === null) {
      this.#inner = this.#make();
      this.#holds(true);
    }
    this.#running += 1;
    try {
      yield* this.#inner.stream(request, signal);
    } finally {
      this.#running -= 1;
      if (this.#retired && this.#running === 0) await this.#drop();
    }
  }

  /** Closes as soon as no reply runs. */
  retire(): void {
    this.#retired = true;
    // Closing is waited for by close() alone, and cannot fail.
    if (this.#running === 0) void this.#drop();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#drop();
  }

  async #drop(): Promise<void> {
    const inner = this.#inner;
    this.#inner = null;
    if (inner === null) return;
    this.#holds(false);
    await inner.close();
  }
}

function entriesOf(settings: ProviderSettings): z.infer<typeof modelEntry>[] {
  return (settings.models ?? []).map((entry) => (typeof entry === 'string' ? { id: entry } : entry));
}

function unavailable(code: FailureCode, message: string): Resolution {
  return { type: 'unavailable', failure: { code, message } };
}
