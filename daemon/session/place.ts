/** Where the files of one session stand: in the home, or beside a log FILE that a person named. */
import { join, resolve } from 'node:path';
import type { SessionId } from '#protocol/values/ids.ts';
import type { HomePaths } from '../base/files.ts';

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

export function placeInHome(home: HomePaths, sessionId: SessionId): SessionPlace {
  return {
    log: join(home.sessions, `${sessionId}${logSuffix}`),
    lock: join(home.locks, sessionId),
    owner: join(home.locks, `${sessionId}.owner.json`),
    blobs: home.blobs,
    spills: join(home.spills, sessionId),
    processes: join(home.locks, `${sessionId}.processes`),
  };
}

export function placeOfFile(file: string): SessionPlace {
  const log = resolve(file);
  return {
    log,
    lock: `${log}.lock`,
    owner: `${log}.owner.json`,
    blobs: `${log}.blobs`,
    spills: `${log}.spills`,
    processes: `${log}.processes`,
  };
}
