/** A home of a test's own, with the folders that sessions need, and ids that are the same in every run. */
import { join } from 'node:path';
import type { CommandMark } from '#protocol/event.ts';
import type { CommandId, ProjectId, SessionId } from '#protocol/values/ids.ts';
import type { Project } from '#protocol/values/project.ts';
import { makeAgentFolders } from '../agent/agent-folders.ts';
import type { Clock } from '../base/clock.ts';
import { homePaths, type HomePaths } from '../base/files.ts';
import type { Ids } from '../base/ids.ts';
import { temporaryFolder } from './temporary-folder.ts';

export async function temporaryHome(): Promise<HomePaths> {
  const home = homePaths(join(temporaryFolder(), 'home'));
  await makeAgentFolders(home);
  return home;
}

/** UUIDv7s of the clock's time, counted. */
export class CountingIds implements Ids {
  readonly #clock: Clock;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  uuid7(): string {
    const time = this.#clock.now().toString(16).padStart(12, '0');
    const count = (this.#count += 1).toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${count}`;
  }

  /** A command as a client makes one. */
  mark(digest = 'digest'): CommandMark {
    return { id: this.uuid7() as CommandId, digest };
  }
}

export function sessionIdOf(number: number): SessionId {
  return `ses_00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}` as SessionId;
}

export function projectAt(path: string): Project {
  return { projectId: 'prj_00000000-0000-7000-8000-000000000001' as ProjectId, name: 'garden', path, addedAt: 0 };
}
