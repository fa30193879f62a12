/** The fresh folders that contestants work in, all below one that goes when the bench ends. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BenchPlace, Contestant } from './contestant.ts';

const run = promisify(execFile);

export class Places {
  readonly root: string;
  readonly #providerUrl: string;
  /** For a bench that is interrupted. */
  readonly #last = () => rmSync(this.root, { recursive: true, force: true });
  #made = 0;

  private constructor(root: string, providerUrl: string) {
    this.root = root;
    this.#providerUrl = providerUrl;
  }

  static async open(providerUrl: string): Promise<Places> {
    const places = new Places(await realpath(await mkdtemp(join(tmpdir(), 'alcove-bench-'))), providerUrl);
    process.on('exit', places.#last);
    return places;
  }

  async make(contestant: Contestant): Promise<BenchPlace> {
    const top = join(this.root, `${contestant.name}-${++this.#made}`);
    const place = { home: join(top, 'home'), folder: join(top, 'project'), providerUrl: this.#providerUrl };
    await mkdir(join(place.home, 'tmp'), { recursive: true });
    await mkdir(place.folder);
    await writeFile(join(place.folder, 'README.md'), '# A project\n\nIt is small.\n');
    const git = (...words: string[]) => run('git', words, { cwd: place.folder, env: gitEnvironment });
    await git('init', '--quiet');
    await git('add', '.');
    await git('commit', '--quiet', '--message', 'Begin');
    await contestant.configure(place);
    return place;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    process.off('exit', this.#last);
    // A server that was killed may have left something that still writes.
    await rm(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Nothing of the person's configuration. */
const gitEnvironment = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.invalid',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.invalid',
};

/** Of all files below a folder, as long as they say they are; 0 where there is none. */
export async function bytesBelow(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = names.map(async (name) => {
    const found = await stat(join(folder, name)).catch(() => null);
    return found?.isFile() === true ? found.size : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
