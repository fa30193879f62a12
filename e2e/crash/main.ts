/**
 * `npm run crash -- [--kills n] [--seed n]`: kills the daemon a thousand times at moments chosen by chance, and says what it was doing and
 * whether the law held. Needs the build. Exit codes: 0 it held, 1 it was broken (the files are kept), 2 wrong usage.
 */
import { parseArgs } from 'node:util';
import { Chance } from '../proofs/chance.ts';
import { live, tableOf } from './lives.ts';
import { World } from './world.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '1000' }, seed: { type: 'string' } },
});
const kills = Number(values.kills);
const seed = values.seed === undefined ? undefined : Number(values.seed);
if (!Number.isSafeInteger(kills) || kills < 1 || (seed !== undefined && !Number.isSafeInteger(seed))) {
  process.stderr.write('usage: npm run crash -- [--kills n] [--seed n]\n');
  process.exit(2);
}

const chance = new Chance(seed);
process.stdout.write(`seed ${chance.seed}, ${kills} kills\n`);
const startedAt = Date.now();
const world = await World.open(chance);
let broken: unknown = null;
let printed = 0;
try {
  const summary = await live(world, kills, (so) => {
    if (so.kills < printed + 50) return;
    printed = so.kills;
    process.stdout.write(`${so.kills} kills, ${seconds()} s\n`);
  });
  process.stdout.write(`\n${seconds()} s. ${tableOf(summary)}`);
} catch (error) {
  broken = error;
  process.stdout.write(`\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
}
const kept = await world.close(broken !== null);
if (kept !== null) process.stdout.write(`The home and the folder are kept in ${kept}. Again: --seed ${chance.seed}\n`);
process.exitCode = broken === null ? 0 : 1;

function seconds(): number {
  return Math.round((Date.now() - startedAt) / 1000);
}
