/** Chance that can be had again: the moments of a kill come from a seed, which is printed, and may be given in KILL_SEED. */
import { randomInt } from 'node:crypto';

export class Chance {
  readonly seed: number;
  #state: number;

  constructor(seed: number = Number(process.env['KILL_SEED'] ?? randomInt(2 ** 31))) {
    this.seed = seed;
    this.#state = seed;
  }

  /** An integer from 0 to `limit` - 1 (mulberry32). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  /** Lets some turns of the event loop pass: the other process is somewhere else then. */
  async moment(): Promise<void> {
    for (let turns = this.below(300); turns > 0; turns -= 1) await new Promise(setImmediate);
  }
}
