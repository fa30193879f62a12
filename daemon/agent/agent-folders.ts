/** Folders that the agents of a home need. */
import { makeOwnerOnlyFolder, type HomePaths } from '../base/files.ts';

export async function makeAgentFolders(home: HomePaths): Promise<void> {
  for (const folder of [home.home, home.sessions, home.blobs, home.locks, home.spills])
    await makeOwnerOnlyFolder(folder);
}
