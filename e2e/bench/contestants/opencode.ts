/** opencode, with everything it does by default, its snapshots of the working folder too: they are its undo. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchPlace, CommandLine, Contestant } from '../contestant.ts';
import { anyKey, environmentOf } from './environment.ts';
import { install, programOf } from './install.ts';
import { OpencodeServer } from './opencode-server.ts';

const wanted = { name: 'opencode-ai', version: '1.18.33', bin: 'opencode' };

export const opencode: Contestant = {
  name: 'opencode',
  prepare: () => install(wanted),

  async configure({ home, providerUrl }) {
    const folder = join(home, '.config', 'opencode');
    await mkdir(folder, { recursive: true });
    const model = { name: 'scripted', tool_call: true, limit: { context: 10_000_000, output: 32_000 } };
    const settings = {
      autoupdate: false,
      share: 'disabled',
      permission: 'allow',
      model: 'bench/scripted',
      small_model: 'bench/scripted',
      provider: {
        bench: {
          npm: '@ai-sdk/openai-compatible',
          name: 'bench',
          options: { baseURL: `${providerUrl}/v1`, apiKey: anyKey },
          models: { scripted: model },
        },
      },
    };
    await writeFile(join(folder, 'opencode.json'), JSON.stringify(settings));
  },

  headless: (place, task) => started(place, ['run', '-m', 'bench/scripted', task]),
  dataFolder: ({ home }) => join(home, '.local', 'share', 'opencode'),
  server: (place) =>
    new OpencodeServer(started(place, ['serve', '--port', '0', '--print-logs', '--log-level', 'WARN']), {
      providerID: 'bench',
      modelID: 'scripted',
    }),
};

function started(place: BenchPlace, args: readonly string[]): CommandLine {
  const offline = {
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
  return { command: programOf(wanted), args, env: environmentOf(place, offline), cwd: place.folder };
}
