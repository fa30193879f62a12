/**
 * Which model a name means, and the one client of each provider. Providers are rows (provider-rows.ts); their keys were given to Alcove or stand
 * in the environment, in this order. A change of settings, keys or servers takes effect at the next resolve: clients of rows that changed are
 * closed once their last reply has ended, all others go on as they were.
 */
import { isDeepStrictEqual } from 'node:util';
import { nearest } from '#protocol/values/nearest.ts';
import type { Failure, FailureCode } from '#protocol/values/outcome.ts';
import type { Clock } from '../../base/clock.ts';
import { anthropicMessages } from '../formats/anthropic-messages.ts';
import type { ModelRequest, StreamEvent } from '../item.ts';
import type { ModelClient } from '../model-stream.ts';
import { offlineModel } from '../scripted/offline.ts';
import { openAiChat } from '../formats/openai-chat.ts';
import { codexResponses, openAiResponses } from '../formats/openai-responses.ts';
import { originOf, rowsOf, type FoundServer, type ProviderRow } from './provider-rows.ts';
import { offlineName, offlineProvider, type ProviderSettings } from './provider-settings.ts';
import type { WireAccess, WireOptions } from '../formats/wire-client.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Resolution =
  | { type: 'resolved'; client: ModelClient; row: ProviderRow | null; provider: string; model: string }
  | { type: 'unavailable'; failure: Failure };

/** One adapter a wire format. Each loads its SDK when it is first asked. */
const adapters: Record<ProviderSettings['format'], (options: WireOptions) => ModelClient> = {
  'anthropic-messages': anthropicMessages,
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
};

/** The address behind the Codex login takes less than the format it speaks. */
function adapterOf(row: ProviderRow): (options: WireOptions) => ModelClient {
  return row.login === 'codex' ? codexResponses : adapters[row.format];
}

/** The keys that were given to Alcove. */
export interface StoredKeys {
  get(provider: string, origin: string): string | null;
}

/** A key in force, and where it is from. */
export interface KeyInForce {
  readonly key: string;
  readonly from: 'stored' | 'environment';
  /** The variable, of one from the environment. */
  readonly variable: string | null;
}

export interface CodexAccess extends WireAccess {
  /** Why there is no login to use; null where there is one. */
  readonly obstacle: Failure | null;
}

export interface ProvidersOptions {
  settings: ReadonlyMap<string, ProviderSettings>;
  environment: Environment;
  keys: StoredKeys;
  clock: Clock;
  /** The login of the Codex CLI, for rows that ask with it. */
  codex?: CodexAccess;
  /** How long vendors are asked to keep what they have read. */
  promptCache?: () => '5m' | '1h';
  /** Replaces the built-in demo: for tests. */
  offline?: ModelClient;
}

export class Providers {
  #settings: ReadonlyMap<string, ProviderSettings>;
  #found: readonly FoundServer[] = [];
  #rows: ReadonlyMap<string, ProviderRow>;
  readonly #environment: Environment;
  readonly #keys: StoredKeys;
  readonly #clock: Clock;
  readonly #codex: CodexAccess | null;
  readonly #promptCache: () => '5m' | '1h';
  readonly #offline: ModelClient;
  /** The client of each row, with the row and the key it was made for. */
  readonly #clients = new Map<string, { client: SharedClient; row: ProviderRow; key: string | null }>();
  /** Every client that may hold a connection: those of replaced rows too, until their last reply has ended. */
  readonly #open = new Set<SharedClient>();
  #closed = false;

  constructor(options: ProvidersOptions) {
    this.#settings = options.settings;
    this.#environment = options.environment;
    this.#keys = options.keys;
    this.#clock = options.clock;
    this.#codex = options.codex ?? null;
    this.#promptCache = options.promptCache ?? (() => '5m');
    this.#offline = options.offline ?? offlineModel();
    this.#rows = rowsOf(this.#settings, this.#found);
  }

  /** All there are, connected or not. */
  get rows(): readonly ProviderRow[] {
    return [...this.#rows.values()];
  }

  row(name: string): ProviderRow | null {
    return this.#rows.get(name) ?? null;
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
      return { type: 'resolved', client: this.#offline, row: null, provider, model };
    }
    const row = this.row(provider);
    if (row === null) {
      const known = [offlineProvider, ...this.#rows.keys()];
      const near = nearest(provider, known);
      const hint = near === null ? '' : ` Did you mean “${near}”?`;
      return unavailable(
        'model_unknown',
        `No provider is called “${provider}”.${hint} There are: ${known.join(', ')}.`,
      );
    }
    const obstacle = this.obstacle(row);
    if (obstacle !== null) return { type: 'unavailable', failure: obstacle };
    return { type: 'resolved', client: this.#client(row), row, provider, model };
  }

  /** Takes what may have changed; keys are looked up anew in any case. Replies that run go on to their end, with the client they began with. */
  replace(changed: { settings?: ReadonlyMap<string, ProviderSettings>; found?: readonly FoundServer[] } = {}): void {
    this.#settings = changed.settings ?? this.#settings;
    this.#found = changed.found ?? this.#found;
    this.#rows = rowsOf(this.#settings, this.#found);
    for (const [name, { client, row, key }] of this.#clients) {
      const now = this.row(name);
      const same = now !== null && isDeepStrictEqual(connectionOf(now), connectionOf(row));
      if (same && (this.keyOf(now)?.key ?? null) === key) continue;
      this.#clients.delete(name);
      client.retire();
    }
  }

  /** The key that this provider is asked with: one that was given to Alcove, else the environment's. */
  keyOf(row: ProviderRow): KeyInForce | null {
    if (row.login !== null) return null;
    const stored = this.#keys.get(row.name, originOf(row.baseUrl));
    if (stored !== null) return { key: stored, from: 'stored', variable: null };
    for (const variable of row.keyVariables) {
      const key = (this.#environment[variable] ?? '').trim();
      if (key !== '') return { key, from: 'environment', variable };
    }
    return null;
  }

  /** Why this provider cannot be used now; null where nothing stands in the way. */
  obstacle(row: ProviderRow): Failure | null {
    if (row.login !== null)
      return this.#codex === null
        ? { code: 'unauthorized', message: `${row.label} cannot be used from here.` }
        : this.#codex.obstacle;
    if (!row.keyNeeded || this.keyOf(row) !== null) return null;
    const variable = row.keyVariables[0] ?? '';
    const message = `${row.label} needs a key: connect it in the app under Providers, or with "alcove login ${row.name}", or set ${variable} and start Alcove again.`;
    return { code: 'unauthorized', message };
  }

  /** Closes every client, retired ones too; replies that run end as aborted. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#offline, ...this.#open].map((client) => client.close()));
  }

  #client(row: ProviderRow): ModelClient {
    const cached = this.#clients.get(row.name);
    if (cached !== undefined) return cached.client;
    const inForce = this.keyOf(row);
    const make = () =>
      adapterOf(row)({
        provider: row.name,
        baseUrl: row.baseUrl,
        key: inForce?.key ?? null,
        keyName: inForce?.variable ?? null,
        clock: this.#clock,
        environment: this.#environment,
        promptCache: this.#promptCache,
        ...(row.login !== null && this.#codex !== null && { access: this.#codex }),
        maxOutputTokens: (model) => row.models.find((one) => one.id === model)?.maxOutputTokens ?? null,
      });
    const client = new SharedClient(make, (open) => {
      if (open) this.#open.add(client);
      else this.#open.delete(client);
    });
    this.#clients.set(row.name, { client, row, key: inForce?.key ?? null });
    return client;
  }
}

/** What of a row a client depends on: other models on the same server are no reason for another connection. */
function connectionOf({ format, baseUrl, models }: ProviderRow) {
  const limits = models.flatMap(({ id, maxOutputTokens }) =>
    maxOutputTokens === undefined ? [] : [{ id, maxOutputTokens }],
  );
  return { format, baseUrl, limits };
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

function unavailable(code: FailureCode, message: string): Resolution {
  return { type: 'unavailable', failure: { code, message } };
}
