/** Folders of the machine, for choosing one: names only, never what files hold. */
import { z } from '../schema.ts';
import { commandId } from '../values/ids.ts';

const path = z.string().check(z.maxLength(4096));

export const folderEntry = z.object({
  name: z.string(),
  /** Absolute. */
  path: z.string(),
  /** Holds a git repository. */
  repository: z.boolean(),
  /** Is a project already. */
  project: z.boolean(),
});
export type FolderEntry = z.infer<typeof folderEntry>;

/** How many folders one answer names. */
export const maxFolderEntries = 200;

export const folderCommands = {
  'folder.look': {
    doc: 'Completes a path as it is typed (absolute, or ~/…; empty: the home of the person): the folders inside `folder` whose names begin with the rest of it. A name that starts with a dot is told only where the typed one does.',
    params: z.object({ text: path }),
    result: z.object({
      /** The folder that was looked into, absolute; null where there is none such. */
      folder: z.nullable(z.string()),
      parent: z.nullable(z.string()),
      entries: z.array(folderEntry),
      /** More than were told. */
      more: z.boolean(),
      /** The typed path as a folder that can be opened, absolute; null where it is none. */
      exact: z.nullable(z.string()),
      /** Why one should think before opening `exact` (a home, the root of the file system); null where nothing speaks against it. */
      caution: z.nullable(z.string()),
      /** Why it cannot be looked into or opened, and what to do. */
      problem: z.nullable(z.string()),
    }),
  },
  'folder.recent': {
    doc: 'Folders to offer: projects by last work, then those that were removed, then the folder the daemon was started in.',
    params: z.object({}),
    result: z.object({ folders: z.array(folderEntry), home: z.string() }),
  },
  'folder.create': {
    doc: 'Makes a folder, and those above it that are missing.',
    params: z.object({ commandId, path: path.check(z.minLength(1)) }),
    result: z.object({ path: z.string() }),
  },
};
