/** The floor that figures are told against: floor-loop.js, run by the Node that runs the bench. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Contestant } from '../contestant.ts';
import { environmentOf } from './environment.ts';

const program = fileURLToPath(new URL('floor-loop.js', import.meta.url));

export const floor: Contestant = {
  name: 'floor',
  prepare: async () => ({ available: true, version: `Node ${process.version.slice(1)}` }),
  configure: ({ home }) => mkdir(join(home, 'floor')),
  headless: (place, task) => ({
    command: process.execPath,
    args: [program, task],
    env: environmentOf(place, { FLOOR_URL: `${place.providerUrl}/v1/chat/completions` }),
    cwd: place.folder,
  }),
  dataFolder: ({ home }) => join(home, 'floor'),
};
