/** Folders that sessions work in. */
import { z } from '../schema.ts';
import { commandId, projectId } from '../values/ids.ts';
import { project } from '../values/project.ts';

export const projectCommands = {
  'project.list': {
    doc: 'The projects, and the folder that the daemon was started in where it is not one yet.',
    params: z.object({}),
    result: z.object({ projects: z.array(project), offered: z.nullable(z.string()) }),
  },
  'project.add': {
    doc: 'Adds a folder (absolute, or ~/…). Adding one that was removed brings it back with its sessions.',
    params: z.object({ commandId, path: z.string().check(z.minLength(1), z.maxLength(4096)) }),
    result: z.object({ project }),
  },
  'project.remove': {
    doc: 'Hides a project and its sessions. Files and logs are untouched.',
    params: z.object({ commandId, projectId }),
    result: z.object({}),
  },
  'project.restore': {
    doc: 'Undoes project.remove.',
    params: z.object({ commandId, projectId }),
    result: z.object({ project }),
  },
};
