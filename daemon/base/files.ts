/**
 * Files under the home: where they are, that only their owner reads them, and how a small one is replaced so that after a crash either the
 * old or the new content is there, whole. Logs are appended to and are not written by this.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { systemCode } from './errors.ts';

/** Folders and files that stand directly under the home. */
export interface HomePaths {
  readonly home: string;
  /** One log a session, with its index beside it. */
  readonly sessions: string;
  readonly blobs: string;
  readonly locks: string;
  /** Whole outputs of commands that were too long for the log. */
  readonly spills: string;
  /** Who owns the home just now: only to word a refusal. */
  readonly daemon: string;
  /** SQLite: what can be deleted at any time and is rebuilt. */
  readonly index: string;
  /** The daemon's own log. */
  readonly diagnostics: string;
}

/** `alcoveHome` is the value of ALCOVE_HOME, `userHome` the person's home folder. Absolute. */
export function homeFolder(alcoveHome: string | undefined, userHome: string): string {
  if (alcoveHome === undefined || alcoveHome.trim() === '') return join(userHome, '.alcove');
  return resolve(expandHome(alcoveHome, userHome));
}

/** `~` and `~/…` as the person's home folder and what is in it; all else stays as it was typed, dots and slashes too. */
export function expandHome(path: string, userHome: string): string {
  return path === '~' || path.startsWith('~/') ? `${userHome}${path.slice(1)}` : path;
}

export function homePaths(home: string): HomePaths {
  return {
    home,
    sessions: join(home, 'sessions'),
    blobs: join(home, 'blobs'),
    locks: join(home, 'locks'),
    spills: join(home, 'spills'),
    daemon: join(home, 'daemon.json'),
    index: join(home, 'index.sqlite3'),
    diagnostics: join(home, 'diagnostics.jsonl'),
  };
}

export const ownerOnlyFolderMode = 0o700;
export const ownerOnlyFileMode = 0o600;

/** Makes the folder and what is missing above it, for the owner alone. What exists keeps its mode: it may be a person's own choice. */
export async function makeOwnerOnlyFolder(path: string): Promise<void> {
  if (await makeOne(path)) return;
  await makeOwnerOnlyFolder(dirname(path));
  if (!(await makeOne(path))) throw new Error(`${path} cannot be made: its file system has no place for it`);
}

/**
 * False where the folder above is missing. Not mkdir's own recursion: where a file system can hold no such folder at all (/proc), that of
 * Node 20 never ends.
 */
async function makeOne(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: ownerOnlyFolderMode });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST' && (await stat(path)).isDirectory()) return true;
    if (systemCode(error) === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
}

/** Replaces a file's content as a whole: a temporary neighbour, synced, renamed over it, the folder synced. Rejects with the old content kept. */
export async function writeFileAtomically(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx', ownerOnlyFileMode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    // The first failure is the one to tell; where even the temporary file cannot be removed, it stays.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes names that were added, renamed or removed in a folder outlive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
