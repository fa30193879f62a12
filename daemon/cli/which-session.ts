/**
 * Which session a run goes on with: a file that is named, a session of the home by its id, or the newest of the folder. Naming two of them, or
 * what is not there, is an error that says what to do.
 */
import { readdir, stat } from 'node:fs/promises';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { misfit } from '#protocol/schema.ts';
import { sessionId } from '#protocol/values/ids.ts';
import { homePaths } from '../base/files.ts';
import { History } from '../session/history.ts';
import { logSuffix, placeInHome } from '../session/place.ts';
import { UsageError } from './usage-error.ts';

export interface Named {
  readonly session: string | null;
  readonly resume: string | null;
  readonly newest: boolean;
}

/** The log's file; null: a new session in the home. */
export async function whichSession(named: Named, home: string, folder: string): Promise<string | null> {
  const given = [named.session !== null, named.resume !== null, named.newest].filter(Boolean);
  if (given.length > 1)
    throw new UsageError('--session, --resume and --continue each name a session: give one of them.');
  if (named.session !== null) {
    if (!/\.jsonl(\.zst)?$/.test(named.session))
      throw new UsageError('--session takes a file that ends in .jsonl.zst or .jsonl.');
    return named.session;
  }
  if (named.resume !== null) return ofHome(named.resume, home);
  return named.newest ? newestOf(home, folder) : null;
}

async function ofHome(name: string, home: string): Promise<string> {
  if (misfit(sessionId, name) !== null)
    throw new UsageError('--resume takes the id of a session: "alcove session list" names them.');
  const { log } = placeInHome(homePaths(home), name as never);
  if ((await stat(log).catch(() => null)) === null)
    throw new UsageError(`There is no session ${name} in ${home}. "alcove session list" names them.`);
  return log;
}

/** By when they were last written. One that cannot be read is passed over. */
async function newestOf(home: string, folder: string): Promise<string> {
  const { sessions } = homePaths(home);
  const names = (await readdir(sessions).catch(() => [])).filter((name) => name.endsWith(logSuffix));
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(sessions, name);
      return { path, at: (await stat(path).catch(() => null))?.mtimeMs ?? 0 };
    }),
  );
  const real = realpathSync(folder);
  for (const { path } of files.sort((one, other) => other.at - one.at)) if (await isOf(path, real)) return path;
  throw new UsageError(`No session of this home works in ${folder}. Without --continue a new one begins.`);
}

/** Sub-agents' sessions are their parents' matter. */
async function isOf(log: string, folder: string): Promise<boolean> {
  const history = await History.open(log).catch(() => null);
  if (history === null) return false;
  try {
    const { session } = (await history.fold(await history.baseBefore(Infinity))).conversation;
    return session !== null && session.folder === folder && session.spawned === null;
  } catch {
    return false;
  } finally {
    await history.close();
  }
}
