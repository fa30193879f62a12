/**
 * What a repository's .gitignore files leave out, on the way down from folder to folder, for the search of our own. The nearest file that has a word
 * on a path decides; a folder with a .git starts anew. Outside a repository the files count from the searched folder on. As ripgrep does it,
 * so that both find the same.
 */
import { constants } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Ignore } from 'ignore';
import { maxIgnoreFileBytes } from '../base/limits.ts';
import { openPlace } from './paths.ts';

export async function inRepository(folder: string): Promise<boolean> {
  return (await repositoryOf(folder)) !== null;
}

async function repositoryOf(folder: string): Promise<string | null> {
  for (let at = folder; ; at = dirname(at)) {
    if (await isThere(join(at, '.git'))) return at;
    if (dirname(at) === at) return null;
  }
}

export class IgnoreRules {
  readonly #folder: string;
  readonly #rules: Ignore | null;
  readonly #above: IgnoreRules | null;
  readonly #repository: boolean;

  private constructor(folder: string, rules: Ignore | null, above: IgnoreRules | null, repository: boolean) {
    this.#folder = folder;
    this.#rules = rules;
    this.#above = above;
    this.#repository = repository;
  }

  /**
   * For the folder that is searched, with those that hold in it from above. It was asked for itself, so what would leave it out does not count.
   */
  static async of(folder: string): Promise<IgnoreRules> {
    const root = await repositoryOf(folder);
    const way = root === null ? [] : relative(root, folder).split('/');
    let rules = new IgnoreRules('/', null, null, root !== null);
    if (root === null || root === folder) return rules;
    for (let depth = 0; depth < way.length; depth++) {
      const at = join(root, ...way.slice(0, depth));
      const file = await rulesIn(at);
      file?.add(
        way.slice(depth).map(
          (_, index, rest) =>
            `!/${rest
              .slice(0, index + 1)
              .map(literal)
              .join('/')}`,
        ),
      );
      rules = new IgnoreRules(at, file, rules, true);
    }
    return rules;
  }

  /** `names` is all that is in the folder. */
  async into(folder: string, names: ReadonlySet<string>): Promise<IgnoreRules> {
    const rules = names.has('.gitignore') ? await rulesIn(folder) : null;
    const anew = this.#repository && names.has('.git');
    return new IgnoreRules(folder, rules, anew ? null : this, this.#repository);
  }

  leavesOut(path: string, isFolder: boolean): boolean {
    const named = relative(this.#folder, path) + (isFolder ? '/' : '');
    const verdict = this.#rules?.test(named);
    if (verdict?.ignored) return true;
    if (verdict?.unignored) return false;
    return this.#above?.leavesOut(path, isFolder) ?? false;
  }
}

async function rulesIn(folder: string): Promise<Ignore | null> {
  const file = await openPlace(join(folder, '.gitignore'), constants.O_RDONLY).catch(() => null); // none, or not for us
  if (file === null) return null;
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > maxIgnoreFileBytes) return null;
    const text = await file.readFile('utf8');
    // Loaded when there is a file to judge by: most searches are ripgrep's, and it would be a part of every start.
    const { default: ignore } = await import('ignore');
    return ignore({ ignorecase: false }).add(text.replace(/^\ufeff/, ''));
  } finally {
    await file.close();
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function literal(name: string): string {
  return name.replace(/[\\*?[\]! ]/g, '\\$&');
}
