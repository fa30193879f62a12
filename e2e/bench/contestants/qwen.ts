/** Qwen Code in the version that still runs on Node 20. It has no server of its own. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Contestant } from '../contestant.ts';
import { anyKey, environmentOf } from './environment.ts';
import { install, programOf } from './install.ts';

const wanted = { name: '@qwen-code/qwen-code', version: '0.15.10', bin: 'qwen' };

export const qwen: Contestant = {
  name: 'qwen',
  prepare: () => install(wanted),

  async configure({ home }) {
    await mkdir(join(home, '.qwen'));
    const settings = {
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, disableAutoUpdate: true },
      security: { auth: { selectedType: 'openai' } },
    };
    await writeFile(join(home, '.qwen', 'settings.json'), JSON.stringify(settings));
  },

  headless: (place, task) => ({
    command: programOf(wanted),
    args: ['--yolo', '--auth-type', 'openai', '-m', 'scripted', '-p', task],
    env: environmentOf(place, {
      OPENAI_API_KEY: anyKey,
      OPENAI_BASE_URL: `${place.providerUrl}/v1`,
      OPENAI_MODEL: 'scripted',
    }),
    cwd: place.folder,
  }),

  dataFolder: ({ home }) => join(home, '.qwen'),
};
