/**
 * A folder held open, so that what is done in it happens in the folder that was judged, wherever its path leads by then (PM17). Missing folders
 * are made one by one, each in the one above it that is held, and can be taken back as long as they are empty.
 *
 * Linux names what is in an open folder by its descriptor. Where a system has no such names (macOS), each step is checked before and
 * after instead: nothing is ever read or written through a link that was there at either moment, but between the check and the step somebody
 * with this person's own rights could still put one.
 */
import { constants } from 'node:fs';
import { mkdir, open, readlink, rmdir, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../base/errors.ts';
import { isWithin, openPlace, PlaceMoved } from './paths.ts';

const byDescriptor = process.platform === 'linux';
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY;

export class HeldFolder {
  /** The outermost folder that was made for it, null where all were there. */
  readonly made: string | null;
  /** Outermost first: those that were made, below one that was there. The last is the folder itself. */
  readonly #levels: readonly Level[];
  readonly #folder: Level;

  private constructor(levels: readonly Level[]) {
    this.#levels = levels;
    this.#folder = levels.at(-1) as Level;
    this.made = levels.find((level) => level.made)?.real ?? null;
  }

  /** `real` as judged, without links. Throws PlaceMoved and system errors. */
  static async open(real: string): Promise<HeldFolder> {
    return new HeldFolder([{ real, handle: await openPlace(real, folderFlags), made: false }]);
  }

  /** The same, with all that is missing made. Where that fails, what was made is gone again. */
  static async make(real: string): Promise<HeldFolder> {
    const { level, missing } = await innermostThere(real);
    const levels = [level];
    try {
      for (const name of missing) levels.push(await madeIn(levels.at(-1) as Level, name));
      // Held all the while, but perhaps no longer where it was judged.
      if (missing.length > 0) await (await openPlace(real, folderFlags)).close();
      return new HeldFolder(levels);
    } catch (error) {
      await takeBack(levels);
      await closeAll(levels);
      throw error;
    }
  }

  /** The path by which that name in this folder is used, while it is held. */
  at(name: string): string {
    return nameIn(this.#folder, name);
  }

  /** What stands under that name itself: a link is refused as ELOOP. Never blocks on a FIFO. */
  openFile(name: string): Promise<FileHandle> {
    return open(this.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  }

  /** Its names outlive a power cut, and its own name, where it is new. */
  async sync(): Promise<void> {
    // Some file systems cannot sync a folder; what was changed stands all the same.
    for (const { handle } of this.#levels.toReversed()) await handle.sync().catch(() => {});
  }

  /** Takes away what was made for it, unless something stands in it by now. */
  takeBack(): Promise<void> {
    return takeBack(this.#levels);
  }

  close(): Promise<void> {
    return closeAll(this.#levels);
  }
}

/** Takes the folders from the innermost to the outermost away, as long as nothing stands in them. */
export async function removeEmptyFolders(innermost: string, outermost: string): Promise<void> {
  for (let at = innermost; isWithin(at, outermost); at = dirname(at)) {
    const above = await HeldFolder.open(dirname(at)).catch(() => null); // gone or moved: no longer ours to tidy
    if (above === null) continue;
    const gone = await rmdir(above.at(basename(at))).then(
      () => true,
      (error: unknown) => systemCode(error) === 'ENOENT',
    );
    await above.close();
    if (!gone) return;
  }
}

interface Level {
  readonly real: string;
  readonly handle: FileHandle;
  /** By us: it may be taken away again. */
  readonly made: boolean;
}

async function innermostThere(real: string): Promise<{ level: Level; missing: string[] }> {
  const missing: string[] = [];
  for (let at = real; ; at = dirname(at)) {
    try {
      return { level: { real: at, handle: await openPlace(at, folderFlags), made: false }, missing };
    } catch (error) {
      if (systemCode(error) !== 'ENOENT' || dirname(at) === at) throw error;
      missing.unshift(basename(at));
    }
  }
}

async function madeIn(above: Level, name: string): Promise<Level> {
  const real = join(above.real, name);
  const made = await mkdir(nameIn(above, name)).then(
    () => true,
    (error: unknown) => {
      // Somebody else was quicker, or there is something other than a folder: the open tells.
      if (systemCode(error) === 'EEXIST') return false;
      throw error;
    },
  );
  try {
    const handle = byDescriptor ? await openUnlinked(nameIn(above, name), real) : await openPlace(real, folderFlags);
    return { real, handle, made };
  } catch (error) {
    if (made) await rmdir(nameIn(above, name)).catch(() => {}); // no longer what was made, or no longer empty
    throw error;
  }
}

async function openUnlinked(path: string, real: string): Promise<FileHandle> {
  try {
    return await open(path, folderFlags | constants.O_NOFOLLOW);
  } catch (error) {
    const link = await readlink(path).catch(() => null);
    if (link !== null)
      throw new PlaceMoved(`${real} was replaced by a link while it was being made.`, { cause: error });
    throw error;
  }
}

function nameIn(folder: Level, name: string): string {
  return byDescriptor ? `/proc/self/fd/${folder.handle.fd}/${name}` : join(folder.real, name);
}

/** Innermost first. */
async function takeBack(levels: readonly Level[]): Promise<void> {
  for (let index = levels.length - 1; index > 0; index -= 1) {
    const { real, made } = levels[index] as Level;
    if (!made) return;
    const gone = await rmdir(nameIn(levels[index - 1] as Level, basename(real))).then(
      () => true,
      () => false,
    );
    if (!gone) return;
  }
}

async function closeAll(levels: readonly Level[]): Promise<void> {
  for (const { handle } of levels) await handle.close();
}
