/**
 * Puts new content in a file's place, at once and whole (TL7): a temporary file beside it, synced, renamed over it. A crash leaves the old or
 * the new content. Mode and owner stay; a link is not replaced, since the caller names the real file. Missing parents are made.
 *
 * The folder is held open and everything happens relative to it (on Linux, by its descriptor's name), so a folder that is replaced by a
 * link in between gets nothing (PM17).
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../base/errors.ts';
import { maxEditFileBytes } from '../base/limits.ts';
import { openPlace } from './paths.ts';

/** The world's refusal, as a sentence for the model. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused';
}

/**
 * The bytes of a regular file, at most `maxEditFileBytes`; null where nothing stands at that path.
 * Throws FileRefused for what is no such file, PlaceMoved and system errors as they come.
 */
export async function readWhole(real: string, shown: string): Promise<Buffer | null> {
  let handle;
  try {
    handle = await openPlace(real, constants.O_RDONLY);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return null;
    if (code === 'ENOTDIR')
      throw new FileRefused(`A part of ${shown} that should be a folder is a file.`, { cause: error });
    throw error;
  }
  try {
    const facts = await handle.stat();
    if (facts.isDirectory()) throw new FileRefused(`${shown} is a directory.`);
    if (!facts.isFile()) throw new FileRefused(`${shown} is not a regular file.`);
    if (facts.size > maxEditFileBytes) throw new FileRefused(tooLarge(shown, facts.size));
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

export function tooLarge(shown: string, bytes: number): string {
  return `${shown} would have ${bytes.toLocaleString('en')} bytes; edit and write handle files up to ${maxEditFileBytes / 1024 / 1024} MiB. Use a command instead.`;
}

/**
 * `expected` is the content the new one was made from (null: no file): found otherwise just before the rename, nothing is changed. A file that
 * is new takes mode and owner of `like`, where that is given.
 */
export async function replaceFile(
  real: string,
  shown: string,
  bytes: Uint8Array,
  expected: Uint8Array | null,
  like: Facts | null = null,
): Promise<void> {
  await mkdir(dirname(real), { recursive: true });
  await inFolderOf(real, async (base, target) => {
    const old = await writableFacts(target, shown);
    const temporary = join(base, `.${basename(real).slice(0, 80)}.${randomBytes(6).toString('hex')}.tmp`);
    try {
      await writeSynced(temporary, bytes, old ?? like);
      await checkUnchanged(target, shown, expected);
      await rename(temporary, target);
    } catch (error) {
      await unlink(temporary).catch(() => {}); // never made, or already in place
      throw error;
    }
  });
}

/** Takes a file away that still has the content `expected`; one that is read-only stays. */
export function removeFile(real: string, shown: string, expected: Uint8Array): Promise<void> {
  return inFolderOf(real, async (_, target) => {
    await writableFacts(target, shown);
    await checkUnchanged(target, shown, expected);
    await unlink(target);
  });
}

/** Mode and owner of what stands there, null for nothing; throws FileRefused where it is read-only. */
export async function writableFacts(target: string, shown: string): Promise<Facts | null> {
  const facts = await factsOf(target);
  if (facts !== null && (facts.mode & 0o222) === 0)
    throw new FileRefused(`${shown} is read-only (mode ${(facts.mode & 0o777).toString(8)}).`);
  return facts;
}

/** Holds the folder open meanwhile, and syncs it. */
async function inFolderOf(real: string, change: (base: string, target: string) => Promise<void>): Promise<void> {
  const parent = dirname(real);
  const folder = await openPlace(parent, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    // Names below this one are looked up in the folder that is open, wherever its path leads by now.
    const base = process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : parent;
    await change(base, join(base, basename(real)));
    await folder.sync().catch(() => {}); // some file systems cannot sync a folder; the change stands all the same
  } finally {
    await folder.close();
  }
}

/** What a replacement takes over from the file it replaces. */
export interface Facts {
  mode: number;
  uid: number;
  gid: number;
}

async function factsOf(target: string): Promise<Facts | null> {
  try {
    const { mode, uid, gid } = await lstat(target);
    return { mode: mode & 0o7777, uid, gid };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function writeSynced(path: string, bytes: Uint8Array, like: Facts | null): Promise<void> {
  // A new file gets what the umask leaves of 0666, as any editor's does.
  const file = await open(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    like === null ? 0o666 : 0o600,
  );
  try {
    await file.writeFile(bytes);
    if (like !== null) {
      const mine = await file.stat();
      // Only root may give files away; then the file is ours, as after any editor's save.
      if (mine.uid !== like.uid || mine.gid !== like.gid) await file.chown(like.uid, like.gid).catch(() => {});
      await file.chmod(like.mode);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function checkUnchanged(target: string, shown: string, expected: Uint8Array | null): Promise<void> {
  let now: Buffer | null;
  try {
    now = await readFile(target);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    now = null;
  }
  const same = now === null || expected === null ? now === expected : now.equals(expected);
  if (!same)
    throw new FileRefused(
      `${shown} was changed by somebody else at the same moment; nothing was written. Read it again.`,
    );
}
