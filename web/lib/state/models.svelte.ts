/**
 * The models and providers of the machine, as the daemon tells them: which can be used, what a new session takes, and the ways to connect
 * more. A key passes through here on its way up and is kept nowhere: not in a field of this class, not in the browser's storage.
 */
import type { Result } from '#protocol/command.ts';
import type { ModelChoice } from '#protocol/commands/model.ts';
import type { Provider } from '#protocol/commands/provider.ts';
import { RequestError } from '#protocol/errors.ts';
import type { Notice } from '#protocol/notices/notice.ts';
import type { CommandId } from '#protocol/values/ids.ts';
import type { Ids } from '../base/clock.ts';
import type { Client } from '../connection/client.ts';

export interface ModelsNeeds {
  readonly client: Pick<Client, 'call'>;
  readonly ids: Ids;
}

export class ModelsState {
  readonly #needs: ModelsNeeds;
  #list = $state.raw<readonly ModelChoice[]>([]);
  #default = $state('');
  #problems = $state.raw<readonly string[]>([]);

  constructor(needs: ModelsNeeds) {
    this.#needs = needs;
  }

  get list(): readonly ModelChoice[] {
    return this.#list;
  }

  /** What a new session takes; '' before the first list has come. */
  get default(): string {
    return this.#default;
  }

  /** What is wrong with the settings file on the machine, a sentence each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  named(name: string | null): ModelChoice | undefined {
    return this.#list.find((choice) => choice.name === name);
  }

  async load(): Promise<void> {
    const { models, default: name, problems } = await this.#needs.client.call('model.list', {});
    this.#list = models;
    this.#default = name;
    this.#problems = problems;
  }

  hear(notice: Notice): void {
    if (notice.topic !== 'models') return;
    this.load().catch((error: unknown) => {
      // Lost meanwhile: the next connection loads anew.
      if (!(error instanceof RequestError)) throw error;
    });
  }

  /** From now on new sessions take it. Rejects with a RequestError. */
  async choose(model: string): Promise<void> {
    await this.#needs.client.call('model.choose', { commandId: this.#commandId(), model });
    this.#default = model;
    await this.load();
  }

  /** Looks for model servers on the machine too: half a second at most. */
  async providers(): Promise<readonly Provider[]> {
    const { providers, problems } = await this.#needs.client.call('provider.list', {});
    this.#problems = problems;
    return providers;
  }

  /** Tries the key with the provider; a blank one tries that in force. Rejects with a RequestError where it could not even be asked. */
  async connect(provider: string, key: string, untried: boolean): Promise<Result<'provider.connect'>> {
    const answer = await this.#needs.client.call('provider.connect', {
      commandId: this.#commandId(),
      provider,
      key,
      ...(untried ? { untried } : {}),
    });
    if (answer.answer === 'accepted' || answer.stored) await this.load();
    return answer;
  }

  async disconnect(provider: string): Promise<Provider> {
    const answer = await this.#needs.client.call('provider.disconnect', { commandId: this.#commandId(), provider });
    await this.load();
    return answer.provider;
  }

  #commandId(): CommandId {
    return this.#needs.ids.next() as CommandId;
  }
}
