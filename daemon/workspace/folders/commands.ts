/** Handlers of the folder.* commands. */
import type { CommandName, Params, Result } from '#protocol/command.ts';
import type { Folders } from './folders.ts';

type Handled = Extract<CommandName, `folder.${string}`>;
export type FolderHandlers = { readonly [Name in Handled]: (params: Params<Name>) => Promise<Result<Name>> };

export function folderHandlers(folders: Folders): FolderHandlers {
  return {
    'folder.look': ({ text }) => folders.look(text),
    'folder.recent': () => folders.recent(),
    'folder.create': async ({ path }) => ({ path: await folders.create(path) }),
  };
}
