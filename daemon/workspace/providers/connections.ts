/**
 * Who can be asked: the providers with where their keys come from, and the way a key gets in and out. A key is tried before it is kept; what a
 * provider refused is never kept, and what it answered is told in its own words. No answer of this holds a key.
 */
import type { Result } from '#protocol/command.ts';
import { RequestError } from '#protocol/errors.ts';
import type { Provider } from '#protocol/commands/provider.ts';
import { nearest } from '#protocol/values/nearest.ts';
import type { WireAccess } from '../../llm/formats/wire-client.ts';
import type { Credentials } from '../../llm/providers/credentials.ts';
import { loginLockMs } from '../../base/limits.ts';
import { tryKey } from '../../llm/providers/key-trial.ts';
import type { ListedModels } from '../../llm/catalogue/listed-models.ts';
import { originOf, type FoundServer, type ProviderRow } from '../../llm/providers/provider-rows.ts';
import type { Providers } from '../../llm/providers/providers.ts';

export interface ConnectionsNeeds {
  providers: Providers;
  credentials: Credentials;
  listed: ListedModels;
  local: { look(): Promise<readonly FoundServer[]>; readonly found: readonly FoundServer[] };
  codex: WireAccess;
  /** Where proxies are named. */
  environment: Readonly<Record<string, string | undefined>>;
  /** How many models of each provider are offered now; looks at settings and servers first. */
  models(): Promise<ReadonlyMap<string, number>>;
  /** From now on this must not stand in any log. */
  secret(key: string): void;
  /** Providers or models have changed. */
  changed(): void;
}

export class Connections {
  readonly #needs: ConnectionsNeeds;

  constructor(needs: ConnectionsNeeds) {
    this.#needs = needs;
  }

  async list(): Promise<Provider[]> {
    const counts = await this.#needs.models();
    return this.#needs.providers.rows
      .filter((row) => row.origin !== 'found' || this.#answers(row))
      .map((row) => this.#shown(row, counts));
  }

  /** Tries the key with the provider and keeps it where it was accepted; a blank one tries what is in force. */
  async connect(name: string, written: string, untried: boolean): Promise<Result<'provider.connect'>> {
    const { providers, credentials, listed } = this.#needs;
    await this.#needs.models();
    const row = this.#row(name);
    const origin = originOf(row.baseUrl);
    const given = written.trim();
    if (row.login !== null) return await this.#lookAtLogin(row, given);
    if (given !== '' && !/^[\x21-\x7e]+$/.test(given))
      throw new RequestError(
        'invalid_params',
        'This is no key: a key has no spaces and only plain letters, digits and signs.',
      );
    const inForce = providers.keyOf(row);
    const key = given === '' ? (inForce?.key ?? null) : given;
    if (key === null && row.keyNeeded)
      throw new RequestError(
        'invalid_params',
        `There is no key of ${row.label} yet. Paste one${row.keysPage === null ? '' : `; they are made at ${row.keysPage}`}.`,
      );
    if (key !== null) this.#needs.secret(key);
    const trial = await tryKey(row, key, this.#needs.environment);
    const keep = given !== '' && (trial.answer === 'accepted' || (trial.answer === 'unreachable' && untried));
    if (keep) await credentials.set(name, origin, given);
    if (trial.models !== null && trial.models.length > 0) await listed.keep(name, origin, trial.models);
    if (keep || trial.models !== null) this.#changed();
    const kept = keep && trial.answer !== 'accepted' ? ' It is kept untried.' : '';
    return {
      answer: trial.answer,
      stored: credentials.get(name, origin) !== null,
      message: `${trial.message}${kept}`,
      provider: this.#shown(this.#row(name), await this.#needs.models()),
    };
  }

  /** A login is another program's: there is no key to keep, only the question whether it holds. */
  async #lookAtLogin(row: ProviderRow, given: string): Promise<Result<'provider.connect'>> {
    if (given !== '')
      throw new RequestError(
        'invalid_params',
        `${row.label} takes no key: it is asked with the login of the Codex CLI.`,
      );
    const found = await this.#needs.codex.now(AbortSignal.timeout(loginLockMs));
    this.#changed();
    return {
      answer:
        'denied' in found ? (found.denied.code === 'provider_unreachable' ? 'unreachable' : 'refused') : 'accepted',
      stored: false,
      message: 'denied' in found ? found.denied.message : 'The Codex login of this machine is used.',
      provider: this.#shown(row, await this.#needs.models()),
    };
  }

  /** Deletes the key that was given to Alcove, also that of a provider that the settings name no more. */
  async disconnect(name: string): Promise<Provider> {
    const origin = await this.#needs.credentials.remove(name);
    this.#changed();
    const counts = await this.#needs.models();
    const row = this.#needs.providers.row(name);
    if (row === null && origin !== null) return gone(name, origin);
    return this.#shown(row ?? this.#row(name), counts);
  }

  #changed(): void {
    this.#needs.providers.replace();
    this.#needs.changed();
  }

  #row(name: string): ProviderRow {
    const { providers } = this.#needs;
    const row = providers.row(name);
    if (row !== null) return row;
    const near = nearest(
      name,
      providers.rows.map((one) => one.name),
    );
    const hint = near === null ? '' : ` Did you mean “${near}”?`;
    throw new RequestError(
      'not_found',
      `No provider is called “${name}”.${hint} Others are made in the settings file.`,
    );
  }

  #answers(row: ProviderRow): boolean {
    return this.#needs.local.found.some(({ name }) => name === row.name);
  }

  #shown(row: ProviderRow, counts: ReadonlyMap<string, number>): Provider {
    const { providers } = this.#needs;
    const obstacle = providers.obstacle(row);
    const inForce = providers.keyOf(row);
    const away = row.origin === 'found' && !this.#answers(row);
    return {
      name: row.name,
      label: row.label,
      baseUrl: row.baseUrl,
      origin: row.origin,
      key: {
        needed: row.keyNeeded,
        from: inForce?.from ?? null,
        variable: inForce?.variable ?? row.keyVariables[0] ?? null,
        page: row.keysPage,
      },
      connected: obstacle === null && !away,
      reason: away
        ? `${row.label} does not answer at ${row.baseUrl}. Start it, then look again.`
        : (obstacle?.message ?? null),
      models: counts.get(row.name) ?? 0,
    };
  }
}

/** One that is in no settings any more, from what was kept of it. */
function gone(name: string, origin: string): Provider {
  return {
    name,
    label: name,
    baseUrl: origin,
    origin: 'settings',
    key: { needed: true, from: null, variable: null, page: null },
    connected: false,
    reason: `${name} is not in the settings any more.`,
    models: 0,
  };
}
