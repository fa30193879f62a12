/** Handlers of the provider.* commands. */
import type { CommandName, Params, Result } from '#protocol/command.ts';
import type { Connections } from './connections.ts';

type Handled = Extract<CommandName, `provider.${string}`>;
export type ProviderHandlers = { readonly [Name in Handled]: (params: Params<Name>) => Promise<Result<Name>> };

/** `problems`: what is wrong with the settings. */
export function providerHandlers(connections: Connections, problems: () => readonly string[]): ProviderHandlers {
  return {
    'provider.list': async () => ({ providers: await connections.list(), problems: [...problems()] }),
    'provider.connect': ({ provider, key, untried }) => connections.connect(provider, key, untried ?? false),
    'provider.disconnect': async ({ provider }) => ({ provider: await connections.disconnect(provider) }),
  };
}
