/**
 * The models that can be used on this machine: those of the providers that are connected, of servers found on it, and the built-in one, as
 * settings and keys stand now. A change takes effect at the next step, without a restart. The catalogue is loaded when a list or a known
 * vendor's model is asked for; the built-in model never waits for it.
 */
import { RequestError } from '#protocol/errors.ts';
import { misfit } from '#protocol/schema.ts';
import type { ModelChoice } from '#protocol/commands/model.ts';
import { modelWish, type Effort } from '#protocol/values/model.ts';
import { nearest } from '#protocol/values/nearest.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import { noCatalogue, type CatalogueView } from '../../llm/catalogue/catalogue.ts';
import type { ListedModel } from '../../llm/catalogue/listed-models.ts';
import { factsOf, offered, type OfferedModel } from '../../llm/catalogue/model-facts.ts';
import { originOf, type FoundServer, type ProviderRow } from '../../llm/providers/provider-rows.ts';
import { offlineName, offlineProvider, type ProviderSettings } from '../../llm/providers/provider-settings.ts';
import type { Environment, Providers } from '../../llm/providers/providers.ts';
import { routeOf } from '../../llm/providers/routing.ts';
import type { ResolvedModel } from '../../llm/resolved-model.ts';
import { whichModel } from './which-model.ts';

/** Supplied by the composition root. */
export interface ModelSettings {
  refresh(): Promise<boolean>;
  readonly value: {
    readonly providers: ReadonlyMap<string, ProviderSettings>;
    readonly model: string | null;
    readonly subAgentModel: string | null;
    readonly aliases: ReadonlyMap<string, string>;
  };
  /** Keeps it in the settings file. Rejects with a RequestError where the file cannot be understood. */
  choose(model: string): Promise<void>;
}

export interface ModelsNeeds {
  settings: ModelSettings;
  environment: Environment;
  providers: Providers;
  catalogue: { load(): Promise<CatalogueView> };
  listed: { of(provider: string, origin: string): readonly ListedModel[] | null };
  local: {
    look(): Promise<readonly FoundServer[]>;
    readonly found: readonly FoundServer[];
    readonly known: readonly FoundServer[];
  };
  /** Keys that were given to Alcove. */
  keys: { readonly all: readonly string[] };
  /** What a list says has changed. */
  changed(): void;
}

export class Models {
  readonly #needs: ModelsNeeds;
  /** The first offered model of the first connected provider, as it was last looked. */
  #fallback: string;

  constructor(needs: ModelsNeeds) {
    this.#needs = needs;
    needs.providers.replace({ found: needs.local.known });
    // Before the catalogue is there, what the settings name is known.
    const { providers } = needs;
    const row = providers.rows.find(
      (one) => one.origin === 'settings' && one.models.length > 0 && providers.obstacle(one) === null,
    );
    this.#fallback = row === undefined ? offlineName : `${row.name}/${row.models[0]?.id ?? ''}`;
  }

  /** What a session without a model of its own takes, as it is known without looking anew. */
  get default(): string {
    return this.#which(null, null);
  }

  /** What is wrong with the environment, a sentence each. */
  get problems(): readonly string[] {
    const named = this.#needs.environment['ALCOVE_MODEL']?.trim() ?? '';
    if (named === '' || misfit(modelWish, named) === null) return [];
    return ['ALCOVE_MODEL is left out: it takes the name of a model, such as offline/demo.'];
  }

  /** The model that sub-agents take (PR24); null: that of the session they work for. */
  get subAgentModel(): string | null {
    const { subAgentModel } = this.#needs.settings.value;
    return subAgentModel === null ? null : this.#routed(subAgentModel);
  }

  /** What a session takes: `flag` names a model for it, `session` is what it had. */
  async choice(flag: string | null, session: string | null): Promise<string> {
    await this.refresh();
    const now = this.#which(flag, session);
    if (flag !== null || session !== null || this.#named !== null || this.#needs.settings.value.model !== null)
      return now;
    await this.#lookForFallback();
    return this.#which(flag, session);
  }

  /** Names of environment variables that hold keys: no tool may see them. Those that hold a key under any other name too. */
  get keyNames(): string[] {
    const { providers, environment, keys, settings } = this.#needs;
    const names = new Set<string>();
    for (const { keyEnv } of settings.value.providers.values()) if (keyEnv !== undefined) names.add(keyEnv);
    for (const { keyVariables } of providers.rows) for (const variable of keyVariables) names.add(variable);
    const values = new Set([...keys.all, ...[...names].map((name) => environment[name]?.trim() ?? '')]);
    values.delete('');
    for (const [name, value] of Object.entries(environment)) {
      if (value === undefined) continue;
      if (values.has(value.trim())) names.add(name);
    }
    return [...names];
  }

  async resolve(name: string): Promise<ResolvedModel | { failure: Failure }> {
    await this.refresh();
    const { providers, local } = this.#needs;
    const provider = name.slice(0, Math.max(0, name.indexOf('/')));
    // A place that was named by hand is known by what answers there.
    if (provider !== '' && provider !== offlineProvider && providers.row(provider) === null) {
      await local.look();
      providers.replace({ found: local.known });
    }
    const resolution = providers.resolve(name);
    if (resolution.type === 'unavailable') return { failure: resolution.failure };
    const { client, row, model } = resolution;
    if (row === null) return { client, model, contextWindow: null, efforts: [], price: null };
    const facts = factsOf(row, model, await this.#catalogueFor(row), this.#listedBy(row));
    const { contextWindow, efforts, price, pictures, documents } = facts;
    return { client, model, contextWindow, efforts, price, pictures, documents };
  }

  /** The efforts that a model takes; null: unknown, so any may be tried. */
  async effortsOf(name: string): Promise<readonly Effort[] | null> {
    const found = await this.resolve(name);
    return 'failure' in found ? null : found.efforts;
  }

  async list(): Promise<ModelChoice[]> {
    await Promise.all([this.refresh(), this.#needs.local.look()]);
    const { providers, local, catalogue } = this.#needs;
    providers.replace({ found: local.known });
    const view = await catalogue.load();
    const choices = providers.rows.flatMap((row) => this.#choicesOf(row, view));
    const found = new Set(providers.rows.filter((row) => row.origin === 'found').map(({ name }) => name));
    this.#fallback = fallbackOf(choices.filter((one) => !found.has(one.provider)));
    return [...choices, offlineChoice];
  }

  /** How many models each provider offers. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { provider } of await this.list()) counts.set(provider, (counts.get(provider) ?? 0) + 1);
    return counts;
  }

  /** The known name that somebody may have meant; null where the name is known, or nothing is near. */
  async meant(name: string): Promise<{ known: boolean; nearest: string | null }> {
    const { providers, local, catalogue } = this.#needs;
    const slash = name.indexOf('/');
    const provider = name.slice(0, Math.max(0, slash));
    const id = name.slice(slash + 1);
    const isNamed = () => name === offlineName || providers.row(provider)?.models.some((one) => one.id === id) === true;
    await this.refresh();
    if (isNamed()) return { known: true, nearest: null };
    providers.replace({ found: (await local.look(), local.known) });
    const view = await catalogue.load();
    // Of vendors without a key too: what was meant has nothing to do with what can be used.
    const names = providers.rows.flatMap((row) =>
      offered(row, view, this.#listedBy(row)).map((one) => `${row.name}/${one.id}`),
    );
    // A provider of whose models nothing is known has no wrong names.
    const silent = providers.row(provider) !== null && !names.some((one) => one.startsWith(`${provider}/`));
    if (silent || names.includes(name)) return { known: true, nearest: null };
    return { known: false, nearest: nearest(name, names) };
  }

  /** Makes a model the one that new sessions take. One that nobody knows is allowed: it may be new. */
  async choose(wish: string): Promise<void> {
    await this.refresh();
    const model = this.#routed(wish);
    if (this.#named !== null && this.#named !== model)
      throw new RequestError(
        'unavailable',
        `ALCOVE_MODEL=${this.#named} was set where Alcove was started, and goes before the settings. Nothing was changed; start Alcove without it to choose here.`,
      );
    await this.#needs.settings.choose(model);
    await this.refresh();
  }

  /** Takes what has changed in the settings. */
  async refresh(): Promise<void> {
    if (!(await this.#needs.settings.refresh())) return;
    this.#needs.providers.replace({ settings: this.#needs.settings.value.providers });
    this.#needs.changed();
  }

  close(): Promise<void> {
    return this.#needs.providers.close();
  }

  get #named(): string | null {
    const named = this.#needs.environment['ALCOVE_MODEL']?.trim() ?? '';
    return named === '' || misfit(modelWish, named) !== null ? null : named;
  }

  #which(flag: string | null, session: string | null): string {
    const routed = (name: string | null) => (name === null ? null : this.#routed(name));
    const { model } = this.#needs.settings.value;
    return whichModel({
      flag: routed(flag),
      // What a session has was routed when it was taken: a provider that is gone since must not send it elsewhere.
      session,
      environment: routed(this.#named),
      settings: routed(model),
      fallback: this.#fallback,
    });
  }

  /** A name as a person says it, as `provider/model` (PR9). One with a slash stays as it is where there is no OpenRouter to take it: it may be written wrong. */
  #routed(name: string): string {
    const { providers, settings } = this.#needs;
    const has = (provider: string) => provider === offlineProvider || providers.row(provider) !== null;
    const { provider, model } = routeOf(name, { has, aliases: settings.value.aliases });
    const row = providers.row(provider);
    const whole = provider === 'openrouter' && model === name && name.includes('/');
    if (whole && (row === null || providers.obstacle(row) !== null)) return name;
    return `${provider}/${model}`;
  }

  /** A model that nobody named: found servers are no choice of anybody, so nothing looks for them. */
  async #lookForFallback(): Promise<void> {
    const { providers, catalogue } = this.#needs;
    const connected = providers.rows.filter((row) => row.origin !== 'found' && providers.obstacle(row) === null);
    const view = connected.some((row) => row.catalogue !== null) ? await catalogue.load() : noCatalogue;
    this.#fallback = fallbackOf(connected.flatMap((row) => this.#choicesOf(row, view)));
  }

  #choicesOf(row: ProviderRow, catalogue: CatalogueView): ModelChoice[] {
    const { providers, local } = this.#needs;
    if (row.origin === 'found' && local.found.every(({ name }) => name !== row.name)) return [];
    const obstacle = providers.obstacle(row);
    // Of a vendor without a key nothing is listed but what the settings name; those say why they cannot be used.
    if (obstacle !== null && row.origin === 'known') return [];
    const models = obstacle === null ? offered(row, catalogue, this.#listedBy(row)) : namedOf(row, catalogue);
    return models.map(({ id, shortlisted, efforts, documents: _, ...facts }) => ({
      ...facts,
      name: `${row.name}/${id}`,
      provider: row.name,
      providerLabel: row.label,
      available: obstacle === null,
      reason: obstacle?.message ?? null,
      shortlisted,
      efforts: efforts === null ? null : [...efforts],
    }));
  }

  #catalogueFor(row: ProviderRow): Promise<CatalogueView> {
    return row.catalogue === null ? Promise.resolve(noCatalogue) : this.#needs.catalogue.load();
  }

  #listedBy(row: ProviderRow): readonly ListedModel[] | null {
    return this.#needs.listed.of(row.name, originOf(row.baseUrl));
  }
}

function namedOf(row: ProviderRow, catalogue: CatalogueView): OfferedModel[] {
  return row.models.map(({ id }) => ({ ...factsOf(row, id, catalogue, null), shortlisted: true }));
}

/** Found servers are left out by the caller: a person chooses those. */
function fallbackOf(choices: readonly ModelChoice[]): string {
  const usable = choices.filter((one) => one.available && one.shortlisted);
  return usable[0]?.name ?? offlineName;
}

const offlineChoice: ModelChoice = {
  name: offlineName,
  label: 'Scripted demo (no AI)',
  provider: offlineProvider,
  providerLabel: 'Built in',
  available: true,
  reason: null,
  shortlisted: true,
  contextWindow: null,
  maxOutput: null,
  price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  efforts: [],
  pictures: false,
};
