/**
 * How models and their providers are put together, for the daemon, for one run without it, and for the verbs of the command line that need no
 * server: settings, keys, catalogue, servers of this machine, and the two services on top.
 */
import { join } from 'node:path';
import type { Clock } from './base/clock.ts';
import { Scope } from './base/scope.ts';
import { catalogueMs, maxCatalogueBytes } from './base/limits.ts';
import { Catalogue, catalogueAddress, keepCatalogue } from './llm/catalogue/catalogue.ts';
import { CodexLogin } from './llm/providers/codex-login.ts';
import { Credentials } from './llm/providers/credentials.ts';
import { ListedModels } from './llm/catalogue/listed-models.ts';
import { localPlaces, LocalServers } from './llm/providers/local-servers.ts';
import { Providers, type Environment } from './llm/providers/providers.ts';
import { askShortly } from './llm/providers/small-answer.ts';
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
  const codex = new CodexLogin({ environment, userHome: environment['HOME'] ?? '', clock, secret });
  const providers = new Providers({
    settings: settings.value.providers,
    environment,
    keys: credentials,
    clock,
    codex,
    promptCache: () => settings.value.promptCache,
  });
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
    codex,
    environment,
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

/** Fetches the catalogue of models into the home; nothing else ever does. Rejects with a sentence, and then what was there before is in force. */
export async function refreshCatalogue(
  home: string,
  address: string | null,
  clock: Clock,
): Promise<{ models: number; from: string }> {
  const from = address ?? catalogueAddress;
  if (!URL.canParse(from) || !/^https?:$/.test(new URL(from).protocol))
    throw new Error(`${from} is no address of a catalogue: it begins with https:// or http://.`);
  const question = { url: from, headers: {}, timeoutMs: catalogueMs, maxBytes: maxCatalogueBytes };
  const answer = await askShortly(question);
  if (!answer.answered)
    throw new Error(`The catalogue could not be fetched from ${from} (${answer.why}). The one before stays in force.`);
  if (answer.status !== 200)
    throw new Error(`${from} answered ${answer.status} and no catalogue. The one before stays in force.`);
  return { ...(await keepCatalogue(home, answer.text, from, clock.now())), from };
}
