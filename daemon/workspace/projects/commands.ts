/** Handlers of the project.* commands. */
import type { CommandName, Params, Result } from '#protocol/command.ts';
import type { Projects } from './projects.ts';

type Handled = Extract<CommandName, `project.${string}`>;
export type ProjectHandlers = { readonly [Name in Handled]: (params: Params<Name>) => Promise<Result<Name>> };

/** `offered`: the folder that the daemon was started in, where it is not a project yet. */
export function projectHandlers(projects: Projects, offered: () => string | null): ProjectHandlers {
  return {
    'project.list': async () => ({ projects: projects.list(), offered: offered() }),
    'project.add': async ({ path }) => ({ project: await projects.add(path) }),
    'project.remove': async ({ projectId }) => {
      await projects.remove(projectId);
      return {};
    },
    'project.restore': async ({ projectId }) => ({ project: await projects.restore(projectId) }),
  };
}
