/** pi, offline. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchPlace, CommandLine, Contestant } from '../contestant.ts';
import { anyKey, environmentOf } from './environment.ts';
import { install, programOf } from './install.ts';
import { PiServer } from './pi-server.ts';

const wanted = { name: '@mariozechner/pi-coding-agent', version: '0.73.1', bin: 'pi' };

export const pi: Contestant = {
  name: 'pi',
  prepare: () => install(wanted),

  async configure({ home, providerUrl }) {
    const folder = join(home, '.pi', 'agent');
    await mkdir(folder, { recursive: true });
    const model = {
      id: 'scripted',
      name: 'scripted',
      reasoning: false,
      input: ['text'],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 10_000_000,
      maxTokens: 32_000,
    };
    const bench = { baseUrl: `${providerUrl}/v1`, api: 'openai-completions', apiKey: anyKey, models: [model] };
    await writeFile(join(folder, 'models.json'), JSON.stringify({ providers: { bench } }));
  },

  headless: (place, task) => started(place, ['-p', task]),
  dataFolder: ({ home }) => join(home, '.pi', 'agent', 'sessions'),
  server: (place) => new PiServer((args) => started(place, ['--mode', 'rpc', ...args])),
};

function started(place: BenchPlace, args: readonly string[]): CommandLine {
  return {
    command: programOf(wanted),
    args: ['--provider', 'bench', '--model', 'scripted', ...args],
    env: environmentOf(place, { PI_OFFLINE: '1', PI_TELEMETRY: '0' }),
    cwd: place.folder,
  };
}
