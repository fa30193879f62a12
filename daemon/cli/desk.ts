/** Models and providers for a verb of the command line: of the daemon where one runs, which then tells every page, else straight from the home. */
import type { Params, Result } from '#protocol/command.ts';
import type { Provider } from '#protocol/commands/provider.ts';
import type { CommandId } from '#protocol/values/ids.ts';
import { systemClock } from '../base/clock.ts';
import { homePaths, makeOwnerOnlyFolder } from '../base/files.ts';
import { SystemIds } from '../base/ids.ts';
import { acquireLock } from '../base/lock.ts';
import { join } from 'node:path';
import { openModelAccess } from '../model-access.ts';
import { inHome } from './home-refusal.ts';
import { NotRunningError, Running } from './running.ts';
import type { Surroundings } from './surroundings.ts';

export interface Desk {
  models(): Promise<Pick<Result<'model.list'>, 'models' | 'default'>>;
  providers(): Promise<Provider[]>;
  connect(params: Omit<Params<'provider.connect'>, 'commandId'>): Promise<Result<'provider.connect'>>;
  disconnect(provider: string): Promise<Result<'provider.disconnect'>>;
  close(): Promise<void>;
}

/** `writing`: keys may be written, so no daemon may start meanwhile. */
export async function openDesk(around: Surroundings, writing: boolean): Promise<Desk> {
  try {
    return deskOf(await Running.find(around.home));
  } catch (error) {
    if (!(error instanceof NotRunningError)) throw error;
  }
  return await inHome(around.home, deskInHome(around, writing));
}

async function deskInHome(around: Surroundings, writing: boolean): Promise<Desk> {
  const home = homePaths(around.home);
  await makeOwnerOnlyFolder(home.home);
  if (writing) await makeOwnerOnlyFolder(home.locks);
  const lock = writing ? acquireLock(join(home.locks, 'home')) : null;
  if (writing && lock === null)
    throw new Error('Alcove is just starting or ending on this home. Try again in a moment; nothing was changed.');
  const nobody = () => undefined;
  const access = await openModelAccess({
    home: around.home,
    environment: around.environment,
    clock: systemClock,
    secret: nobody,
    changed: nobody,
  });
  tell(access.problems);
  const { models, connections } = access;
  return {
    models: async () => ({ models: await models.list(), default: models.default }),
    providers: () => connections.list(),
    connect: ({ provider, key, untried }) => inHome(around.home, connections.connect(provider, key, untried ?? false)),
    disconnect: async (provider) => ({ provider: await inHome(around.home, connections.disconnect(provider)) }),
    async close() {
      await access.close();
      lock?.release();
    },
  };
}

/** What is wrong with the settings: nobody else would say it to one who wrote them a moment ago. */
function tell(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`alcove: ${problem}\n`);
}

function deskOf(running: Running): Desk {
  const commandId = () => new SystemIds(systemClock).uuid7() as CommandId;
  return {
    models: async () => {
      const { problems, ...found } = await running.call('model.list', {});
      tell(problems);
      return found;
    },
    providers: async () => {
      const { problems, providers } = await running.call('provider.list', {});
      tell(problems);
      return providers;
    },
    connect: (params) => running.call('provider.connect', { commandId: commandId(), ...params }),
    disconnect: (provider) => running.call('provider.disconnect', { commandId: commandId(), provider }),
    close: () => Promise.resolve(),
  };
}
