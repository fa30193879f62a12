/** The crash law, fifty kills long. `npm run crash` is the same for a thousand; Needs the build. */
import { expect, it } from 'vitest';
import { live, tableOf } from '../crash/lives.ts';
import { World } from '../crash/world.ts';
import { Chance } from './chance.ts';
import { report } from './house.ts';

it(
  'RT4 RT8 RT14 RT24 killed fifty times at moments chosen by chance, every session keeps the crash law',
  { timeout: 600_000 },
  async () => {
    const chance = new Chance();
    const world = await World.open(chance);
    let held = false;
    try {
      const summary = await live(world, 50, () => undefined);
      held = true;
      report(tableOf(summary));
      expect(summary.kills).toBeGreaterThanOrEqual(50);
    } catch (error) {
      throw new Error(`KILL_SEED=${chance.seed}`, { cause: error });
    } finally {
      const kept = await world.close(!held);
      if (kept !== null) report(`the home and the folder are kept in ${kept}`);
    }
  },
);
