/** Claude Code in the version that still runs on Node 20, told not to ask and not to tell. It has no server of its own. */
import { join } from 'node:path';
import type { Contestant } from '../contestant.ts';
import { anyKey, environmentOf } from './environment.ts';
import { install, programOf } from './install.ts';

const wanted = { name: '@anthropic-ai/claude-code', version: '2.1.197', bin: 'claude' };

export const claudeCode: Contestant = {
  name: 'claude-code',
  prepare: () => install(wanted),
  configure: async () => undefined,

  headless: (place, task) => ({
    command: programOf(wanted),
    args: ['-p', task, '--dangerously-skip-permissions'],
    env: environmentOf(place, {
      ANTHROPIC_BASE_URL: place.providerUrl,
      ANTHROPIC_API_KEY: anyKey,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
      // Without it, it refuses to skip its questions for a root user, as which machines of a bench often run.
      IS_SANDBOX: '1',
    }),
    cwd: place.folder,
  }),

  dataFolder: ({ home }) => join(home, '.claude'),
};
