/**
 * The models that can be used on this machine: the configured providers and the built-in one, as the settings stand now. A change of the
 * settings file takes effect at the next step, without a restart.
 */
import type { ModelChoice } from '#protocol/commands/model.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import type { Clock } from '../../base/clock.ts';
import type { ModelClient } from '../../llm/model-stream.ts';
import { offlineName, Providers, type Environment, type ProviderSettings } from '../../llm/providers.ts';

/** Supplied by the composition root. */
export interface ModelSettings {
  refresh(): Promise<boolean>;
  readonly value: { readonly providers: ReadonlyMap<string, ProviderSettings>; readonly model: string | null };
}

export type ResolvedModel = { client: ModelClient; model: string; contextWindow: number | null } | { failure: Failure };

export class Models {
  readonly #settings: ModelSettings;
  readonly #providers: Providers;

  constructor(settings: ModelSettings, environment: Environment, clock: Clock) {
    this.#settings = settings;
    this.#providers = new Providers({ settings: settings.value.providers, environment, clock });
  }

  /** What a session without a model of its own takes: the settings' choice, else the first that can be used, else the built-in one. */
  get default(): string {
    return (
      this.#settings.value.model ??
      this.#providers.list().find((one) => one.available && one.name !== offlineName)?.name ??
      offlineName
    );
  }

  /** Names of the environment variables that hold providers' keys: no tool may see them. */
  get keyNames(): string[] {
    return [...this.#settings.value.providers.values()].flatMap(({ keyEnv }) => keyEnv ?? []);
  }

  async resolve(name: string): Promise<ResolvedModel> {
    await this.#refresh();
    const resolution = this.#providers.resolve(name);
    return resolution.type === 'resolved' ? resolution : { failure: resolution.failure };
  }

  async list(): Promise<ModelChoice[]> {
    await this.#refresh();
    return this.#providers.list().map(({ name, model, provider, available, reason }) => ({
      name,
      label: name === offlineName ? 'Scripted demo (no AI)' : `${model} · ${provider}`,
      available,
      reason: reason ?? null,
    }));
  }

  close(): Promise<void> {
    return this.#providers.close();
  }

  async #refresh(): Promise<void> {
    if (await this.#settings.refresh()) this.#providers.replace(this.#settings.value.providers);
  }
}
