/**
 * How models and their providers are put together, for the daemon, for one run without it, and for the verbs of the command line that need no
 * server: settings, keys, catalogue, servers of this machine, and the two services on top.
 */
import { join } from 'node:path';
import type { Clock } from './base/clock.ts';
import { Scope } from './base/scope.ts';
import { Catalogue } from './llm/catalogue.ts';
import { Credentials } from './llm/credentials.ts';
import { ListedModels } from './llm/listed-models.ts';
import { localPlaces, LocalServers } from './llm/local-servers.ts';
import { Providers, type Environment } from './llm/providers.ts';
import { Models } from './workspace/models/models.ts';
import { Connections } from './workspace/providers/connections.ts';
import { SettingsFile } from './workspace/settings/settings.ts';

export interface ModelAccessOptions {
  home: string;
  environment: Environment;
  clock: Clock;
  /** Told of every key, before anything could be logged that holds it. */
  readonly secret: (key: string) => void;
  /** What a list of models or providers says has changed. */
  readonly changed: () => void;
}

export interface ModelAccess {
  readonly settings: SettingsFile;
  readonly models: Models;
  readonly connections: Connections;
  /** A sentence for each thing that is not as it should be. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

export async function openModelAccess(options: ModelAccessOptions): Promise<ModelAccess> {
  const { home, environment, clock, secret, changed } = options;
  const scope = new Scope();
  const settings = new SettingsFile(join(home, 'settings.json'));
  await settings.refresh();
  const { credentials, corrupt } = await Credentials.open(home, clock);
  scope.own(credentials);
  const listed = scope.own(await ListedModels.open(home, clock));
  const local = new LocalServers(localPlaces(environment), clock);
  const providers = new Providers({ settings: settings.value.providers, environment, keys: credentials, clock });
  const models = scope.own(
    new Models({
      settings,
      environment,
      providers,
      catalogue: new Catalogue(home),
      listed,
      local,
      keys: credentials,
      changed,
    }),
  );
  for (const key of credentials.all) secret(key);
  for (const row of providers.rows) {
    const inForce = providers.keyOf(row);
    if (inForce !== null) secret(inForce.key);
  }
  const connections = new Connections({
    providers,
    credentials,
    listed,
    local,
    models: () => models.counts(),
    secret,
    changed,
  });
  const lost =
    corrupt === null
      ? []
      : [
          `The file of keys could not be understood (${corrupt.reason}); it is kept as ${corrupt.keptAt}. Connect the providers again.`,
        ];
  return {
    settings,
    models,
    connections,
    problems: [...settings.problems, ...models.problems, ...lost],
    close: () => scope.close(),
  };
}
