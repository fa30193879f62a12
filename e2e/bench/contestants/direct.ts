/** Nobody in between: the harness's own client straight on the provider, the floor of everything that streams. */
import type { Contestant } from '../contestant.ts';
import { DirectServer } from './direct-server.ts';

export const direct: Contestant = {
  name: 'direct',
  prepare: async () => ({ available: true, version: `Node ${process.version.slice(1)}` }),
  configure: async () => undefined,
  dataFolder: () => null,
  server: (place) => new DirectServer(place),
};
