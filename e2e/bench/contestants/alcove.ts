/**
 * Alcove as it was built last and as its users run it, with all that it promises: a durable log, checksums, fences and limits. In the mode
 * `auto` a command such as `echo k` runs without a question, by the same judgement as for everybody.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchPlace, Contestant } from '../contestant.ts';
import { AlcoveServer } from './alcove-server.ts';
import { environmentOf } from './environment.ts';

const program = fileURLToPath(new URL('../../../dist/daemon/main.js', import.meta.url));
const description = new URL('../../../package.json', import.meta.url);
/** A model server that happens to run on this machine is none of the bench's. */
const quiet = { ALCOVE_LOCAL_SERVERS: 'off' };

export const alcove: Contestant = {
  name: 'alcove',

  async prepare() {
    if (!existsSync(program)) return { available: false, reason: 'it is not built: npm run build' };
    const { version } = JSON.parse(readFileSync(description, 'utf8')) as { version: string };
    return { available: true, version: `${version}${commitOf()}` };
  },

  async configure(place) {
    const home = this.dataFolder(place) ?? '';
    await mkdir(home, { mode: 0o700 });
    const provider = {
      format: 'openai-chat',
      baseUrl: `${place.providerUrl}/v1`,
      // As large as that of the others, so that nobody makes room in the middle of 1,000 steps.
      models: [{ id: 'scripted', contextWindow: 10_000_000 }],
    };
    const settings = { model: 'bench/scripted', providers: { bench: provider } };
    await writeFile(join(home, 'settings.json'), JSON.stringify(settings), { mode: 0o600 });
  },

  headless: (place: BenchPlace, task: string) => ({
    command: process.execPath,
    args: [program, 'run', '--mode', 'auto', task],
    env: environmentOf(place, quiet),
    cwd: place.folder,
  }),

  dataFolder: ({ home }) => join(home, '.alcove'),

  server: (place) => new AlcoveServer(place, quiet),
};

/** Which sources a figure is of; nothing where this is no checkout of git. */
function commitOf(): string {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty'], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
  });
  return status === 0 ? ` (${stdout.trim()})` : '';
}
