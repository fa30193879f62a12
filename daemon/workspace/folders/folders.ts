/**
 * The folders of the machine as a picker shows them: what a half-typed path may become, those worked in lately, and making one. Tells names
 * of folders only. What may become a project is decided by the projects; here a person is told before.
 */
import type { Dir, Dirent } from 'node:fs';
import { mkdir, opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import type { Result } from '#protocol/command.ts';
import { maxFolderEntries, type FolderEntry } from '#protocol/commands/folder.ts';
import { RequestError } from '#protocol/errors.ts';
import { expandHome } from '../../base/files.ts';
import { systemCode } from '../../base/errors.ts';
import { maxFolderNames } from '../../base/limits.ts';

export interface FoldersOptions {
  /** The person's home folder, for `~/…`. */
  userHome: string;
  /** Alcove's own home: never offered. */
  forbidden: string;
  /** Folders that are projects. */
  projects(): readonly string[];
  /** Folders to offer, best first; those that are gone are left out. */
  recent(): readonly string[];
}

type Look = Result<'folder.look'>;

export class Folders {
  readonly #options: FoldersOptions;

  constructor(options: FoldersOptions) {
    this.#options = options;
  }

  /** Never rejects for what a person types: what is wrong stands in `problem`. */
  async look(text: string): Promise<Look> {
    const typed = expandHome(text.trim() === '' ? '~/' : text.trim(), this.#options.userHome);
    const nothing: Look = {
      folder: null,
      parent: null,
      entries: [],
      more: false,
      exact: null,
      caution: null,
      problem: null,
    };
    if (!isAbsolute(typed) || typed.includes('\0'))
      return { ...nothing, problem: 'Give the whole path of the folder, from / or ~/ on.' };
    const whole = typed.endsWith('/') || text.trim() === '~';
    const folder = normalize(whole ? typed : dirname(typed)).replace(/(.)\/+$/, '$1');
    const beginning = whole ? '' : basename(typed);
    const target = await this.#target(typed);
    try {
      const { entries, more } = await this.#entries(folder, beginning);
      return { folder, parent: folder === '/' ? null : dirname(folder), entries, more, ...target };
    } catch (error) {
      return { ...nothing, ...target, problem: target.problem ?? unreadable(folder, error) };
    }
  }

  async recent(): Promise<Result<'folder.recent'>> {
    const paths = [...new Set(this.#options.recent())].filter((path) => !this.#isOurs(path));
    const found = await Promise.all(
      paths.map(async (path) => ((await isFolder(path)) ? [await this.#entry(path)] : [])),
    );
    return { folders: found.flat(), home: this.#options.userHome };
  }

  /** Rejects with `invalid_params` and a sentence where it cannot be made; a folder that is there already is fine. */
  async create(path: string): Promise<string> {
    const typed = expandHome(path.trim(), this.#options.userHome);
    if (!isAbsolute(typed) || typed.includes('\0'))
      throw new RequestError('invalid_params', 'Give the whole path of the folder, from / or ~/ on.');
    const folder = normalize(typed).replace(/(.)\/+$/, '$1');
    if (this.#isOurs(folder)) throw new RequestError('invalid_params', ours(folder));
    try {
      await makeFolder(folder);
      const made = await realpath(folder);
      if (!(await isFolder(made))) throw new RequestError('invalid_params', fileThere(folder));
      return made;
    } catch (error) {
      const why = refusals[systemCode(error) ?? ''];
      if (why === undefined) throw error;
      throw new RequestError('invalid_params', `${folder} cannot be made: ${why}`, { cause: error });
    }
  }

  /** The typed path as what would be opened. */
  async #target(typed: string): Promise<Pick<Look, 'exact' | 'caution' | 'problem'>> {
    const none = { exact: null, caution: null, problem: null };
    let path: string;
    try {
      path = await realpath(typed);
    } catch {
      return none; // nothing there yet: it is being typed
    }
    if (!(await isFolder(path))) return { ...none, problem: fileThere(path) };
    if (this.#isOurs(path)) return { ...none, problem: ours(path) };
    return { exact: path, caution: this.#caution(path), problem: null };
  }

  #caution(path: string): string | null {
    const { userHome } = this.#options;
    if (path === '/')
      return 'This is the root of the whole file system: an agent would have all of this machine as its project. Open the folder of one project instead.';
    if (path === userHome)
      return 'This is your whole home folder: an agent would have everything in it as its project, keys and private files too. Open the folder of one project instead.';
    if (`${userHome}/`.startsWith(`${path}/`))
      return 'Your home folder is in here: an agent would have all of it as its project. Open the folder of one project instead.';
    return null;
  }

  #isOurs(path: string): boolean {
    return `${path}/`.startsWith(`${this.#options.forbidden}/`);
  }

  async #entries(folder: string, beginning: string): Promise<{ entries: FolderEntry[]; more: boolean }> {
    const wanted = beginning.toLowerCase();
    const names: string[] = [];
    let more = false;
    const opened: Dir = await opendir(folder);
    let seen = 0;
    for await (const one of opened) {
      if ((seen += 1) > maxFolderNames) {
        more = true;
        break;
      }
      const shown = one.name.toLowerCase().startsWith(wanted) && (wanted.startsWith('.') || !one.name.startsWith('.'));
      if (shown && (await leadsToFolder(folder, one)) && !this.#isOurs(join(folder, one.name))) names.push(one.name);
    }
    names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }) || (a < b ? -1 : 1));
    const told = names.slice(0, maxFolderEntries);
    const entries = await Promise.all(told.map((name) => this.#entry(join(folder, name))));
    return { entries, more: more || names.length > told.length };
  }

  async #entry(path: string): Promise<FolderEntry> {
    const repository = (await stat(join(path, '.git')).catch(() => null)) !== null;
    return { name: basename(path) || path, path, repository, project: this.#options.projects().includes(path) };
  }
}

async function leadsToFolder(folder: string, one: Dirent): Promise<boolean> {
  if (one.isDirectory()) return true;
  return one.isSymbolicLink() && isFolder(join(folder, one.name));
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

/** Not mkdir's own recursion: where a file system can hold no such folder at all (/proc), that of Node 20 never ends. */
async function makeFolder(path: string): Promise<void> {
  if ((await stat(path).catch(() => null)) !== null) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  try {
    await mkdir(path);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error; // made by somebody else meanwhile
  }
}

const refusals: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there. Choose another place, or change the rights of the folder above.',
  EPERM: 'the system does not allow it there. Choose another place.',
  EROFS: 'the file system is read-only. Choose another place.',
  ENOTDIR: 'a part of the path is a file. Choose another name.',
  ENOENT: 'there is no place for it. Choose another place.',
  ENAMETOOLONG: 'the name is too long. Choose a shorter one.',
  EINVAL: 'the file system does not take such a name. Choose another one.',
};

function unreadable(folder: string, error: unknown): string {
  const code = systemCode(error);
  if (code === 'ENOENT') return `There is no folder ${folder}. Check the spelling, or make it.`;
  if (code === 'ENOTDIR') return `${folder} is a file, so nothing can be in it.`;
  if (code === 'EACCES' || code === 'EPERM')
    return `You may not look into ${folder}. Choose another folder, or change its rights.`;
  return `${folder} cannot be read (${code ?? 'unknown error'}).`;
}

function fileThere(path: string): string {
  return `${path} is a file. Give the folder that it is in.`;
}

function ours(path: string): string {
  return `${path} is Alcove's own home, which agents may not touch.`;
}
