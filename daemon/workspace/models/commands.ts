/** Handlers of the model.* commands. */
import type { CommandName, Params, Result } from '#protocol/command.ts';
import type { Models } from './models.ts';

type Handled = Extract<CommandName, `model.${string}`>;
export type ModelHandlers = { readonly [Name in Handled]: (params: Params<Name>) => Promise<Result<Name>> };

/** `problems`: what is wrong with the settings. */
export function modelHandlers(models: Models, problems: () => readonly string[]): ModelHandlers {
  return {
    'model.list': async () => ({ models: await models.list(), default: models.default, problems: [...problems()] }),
    'model.choose': async ({ model }) => {
      await models.choose(model);
      return {};
    },
  };
}
