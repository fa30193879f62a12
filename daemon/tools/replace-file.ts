/**
 * Puts new content in a file's place, at once and whole (TL7): a temporary file beside it, synced, renamed over it. A crash leaves the old or
 * the new content. Mode and owner stay; a link is not replaced, since the caller names the real file. Missing parents are made, and are gone
 * again where the file could not be written. All of it happens in a folder that is held (held-folder.ts), so one that is replaced by a link
 * in between gets nothing (PM17).
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../base/errors.ts';
import { maxEditFileBytes } from '../base/limits.ts';
import { HeldFolder } from './held-folder.ts';
import { openPlace } from './paths.ts';
import type { TemporaryLedger } from './tool.ts';

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
 * is new takes mode and owner of `like`, where that is given. Returns the outermost folder that was made for it, null for none.
 */
export async function replaceFile(
  real: string,
  shown: string,
  bytes: Uint8Array,
  expected: Uint8Array | null,
  temporaries: TemporaryLedger,
  like: Facts | null = null,
): Promise<string | null> {
  const name = basename(real);
  const temporaryName = temporaryNameFor(name);
  const temporaryPath = join(dirname(real), temporaryName);
  const folder = await HeldFolder.make(dirname(real));
  const temporary = folder.at(temporaryName);
  try {
    await temporaries.writing(temporaryPath);
    const old = await writableFacts(folder.at(name), shown);
    await writeSynced(temporary, bytes, old ?? like);
    await checkUnchanged(folder, name, shown, expected);
    if (expected === null) await nameNew(temporary, folder.at(name), shown);
    else await rename(temporary, folder.at(name));
    await folder.sync();
    await temporaries.written(temporaryPath).catch(() => {}); // then it is looked for in vain, once
    return folder.made;
  } catch (error) {
    // Never made, or already in place; one that could not be removed stays noted.
    const gone = await unlink(temporary).then(
      () => true,
      (failure: unknown) => systemCode(failure) === 'ENOENT',
    );
    await folder.takeBack();
    if (gone) await temporaries.written(temporaryPath).catch(() => {});
    throw error;
  } finally {
    await folder.close();
  }
}

/** Takes a file away that still has the content `expected`; one that is read-only stays. */
export async function removeFile(real: string, shown: string, expected: Uint8Array): Promise<void> {
  const folder = await HeldFolder.open(dirname(real));
  const name = basename(real);
  try {
    await writableFacts(folder.at(name), shown);
    await checkUnchanged(folder, name, shown, expected);
    await unlink(folder.at(name));
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Mode and owner of what stands there, null for nothing; throws FileRefused where it is read-only. */
export async function writableFacts(target: string, shown: string): Promise<Facts | null> {
  const facts = await factsOf(target);
  if (facts !== null && (facts.mode & 0o222) === 0)
    throw new FileRefused(`${shown} is read-only (mode ${(facts.mode & 0o777).toString(8)}).`);
  return facts;
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

async function checkUnchanged(
  folder: HeldFolder,
  name: string,
  shown: string,
  expected: Uint8Array | null,
): Promise<void> {
  if (await holds(folder, name, expected)) return;
  throw changedMeanwhile(shown);
}

function changedMeanwhile(shown: string): FileRefused {
  return new FileRefused(
    `${shown} was changed by somebody else at the same moment; nothing was written. Read it again.`,
  );
}

/** Only a regular file of the very size is read: a link, a FIFO or an endless device may stand there by now. */
async function holds(folder: HeldFolder, name: string, expected: Uint8Array | null): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await folder.openFile(name);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return expected === null;
    if (code === 'ELOOP' || code === 'ENXIO') return false; // a link, a socket
    throw error;
  }
  try {
    if (expected === null) return false;
    const facts = await file.stat();
    return facts.isFile() && facts.size === expected.length && (await file.readFile()).equals(expected);
  } finally {
    await file.close();
  }
}

/** Gives a new file its name, unless somebody else has taken that in this moment. */
async function nameNew(temporary: string, target: string, shown: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') throw changedMeanwhile(shown);
    if (code === undefined || !cannotLink.has(code)) throw error;
    await rename(temporary, target);
    return;
  }
  await unlink(temporary);
}

/** What file systems say that have no second names for a file. */
const cannotLink: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

function temporaryNameFor(name: string): string {
  return `.${nameStart(name)}.${randomBytes(6).toString('hex')}.tmp`;
}

/** Removes what a kill left of a replacement: nothing else, wherever the path leads by now, and nothing where it cannot. */
export async function removeTemporary(path: string): Promise<void> {
  if (!/^\..*\.[0-9a-f]{12}\.tmp$/s.test(basename(path))) return;
  const folder = await HeldFolder.open(dirname(path)).catch(() => null);
  if (folder === null) return;
  const facts = await lstat(folder.at(basename(path))).catch(() => null);
  if (facts?.isFile() === true) await unlink(folder.at(basename(path))).catch(() => {});
  await folder.close();
}

/** As much of a name as leaves room for what is put around it, in whole characters: a file system counts bytes. */
function nameStart(name: string): string {
  let start = '';
  for (const character of name) {
    if (Buffer.byteLength(start + character) > 80) break;
    start += character;
  }
  return start;
}
