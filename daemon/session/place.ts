/** Where the files of one session stand: in the home, or beside a log FILE that a person named. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { misfit } from '#protocol/schema.ts';
import { sessionId, type SessionId } from '#protocol/values/ids.ts';
import { homePaths, type HomePaths } from '../base/files.ts';

export interface SessionPlace {
  readonly log: string;
  /** The lock that the writer holds; and, only to word a refusal, who holds it. */
  readonly lock: string;
  readonly owner: string;
  readonly blobs: string;
  /** Whole outputs of commands. */
  readonly spills: string;
  /** Process groups of tools that may still run. */
  readonly processes: string;
}

export const logSuffix = '.jsonl.zst';

export function placeInHome(home: HomePaths, id: SessionId): SessionPlace {
  return {
    log: join(home.sessions, `${id}${logSuffix}`),
    lock: join(home.locks, id),
    owner: join(home.locks, `${id}.owner.json`),
    blobs: home.blobs,
    spills: join(home.spills, id),
    processes: join(home.locks, `${id}.processes`),
  };
}

/**
 * By whatever path a log is named, it has one place, and so one lock: links are followed, and a log of a home (this one or another) is that
 * home's session.
 */
export function placeOfFile(file: string): SessionPlace {
  const log = realPath(resolve(file));
  const folder = dirname(log);
  const name = basename(log, logSuffix);
  if (misfit(sessionId, name) === null) {
    const home = homePaths(dirname(folder));
    if (home.sessions === folder && existsSync(home.locks)) return placeInHome(home, name as SessionId);
  }
  return {
    log,
    lock: `${log}.lock`,
    owner: `${log}.owner.json`,
    blobs: `${log}.blobs`,
    spills: `${log}.spills`,
    processes: `${log}.processes`,
  };
}

/** Also of a file, or a folder, that is not there yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}
