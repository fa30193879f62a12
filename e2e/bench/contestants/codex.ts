/** Codex, without its sandbox and its approvals: what the others do not have or are told to leave out as well. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchPlace, CommandLine, Contestant } from '../contestant.ts';
import { CodexServer } from './codex-server.ts';
import { anyKey, environmentOf } from './environment.ts';
import { install, programOf } from './install.ts';

const wanted = { name: '@openai/codex', version: '0.171.0', bin: 'codex' };

export const codex: Contestant = {
  name: 'codex',
  prepare: () => install(wanted),

  async configure({ home, providerUrl }) {
    await mkdir(join(home, '.codex'));
    const settings = [
      'model = "scripted"',
      'model_provider = "bench"',
      'model_context_window = 10000000',
      'approval_policy = "never"',
      'sandbox_mode = "danger-full-access"',
      'check_for_update_on_startup = false',
      '[analytics]',
      'enabled = false',
      '[model_providers.bench]',
      'name = "bench"',
      `base_url = "${providerUrl}/v1"`,
      'wire_api = "responses"',
      'env_key = "BENCH_KEY"',
    ];
    await writeFile(join(home, '.codex', 'config.toml'), `${settings.join('\n')}\n`);
  },

  headless: (place, task) =>
    started(place, ['exec', '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check', task]),
  dataFolder: ({ home }) => join(home, '.codex'),
  server: (place) => new CodexServer(started(place, ['app-server'])),
};

function started(place: BenchPlace, args: readonly string[]): CommandLine {
  return {
    command: programOf(wanted),
    args,
    env: environmentOf(place, { BENCH_KEY: anyKey }),
    cwd: place.folder,
  };
}
