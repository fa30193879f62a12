/** What the floor takes right now: rows that no floor takes part in are compared to it, as a start to a start and a moment to a step. */
import type { Bench } from './contestant.ts';
import { floor } from './contestants/floor.ts';
import { median } from './measure.ts';
import type { Yardstick } from './results.ts';
import { work } from './task.ts';

const runs = 3;
const steps = 20;

export class Yard {
  readonly #bench: Bench;
  readonly #starts: number[] = [];
  readonly #steps: number[] = [];

  constructor(bench: Bench) {
    this.#bench = bench;
  }

  /** Called before and after a part, as the machine may be busier by then. */
  async measure(): Promise<void> {
    const place = await this.#bench.place(floor);
    for (let run = 0; run < runs; run++) {
      const task = await work(this.#bench, floor, place, steps);
      this.#starts.push(((task.requests[0]?.arrivedAt ?? NaN) - task.run.startedAt) / 1000);
      this.#steps.push(median(task.steps));
    }
  }

  get yardstick(): Yardstick {
    return { start: Math.min(...this.#starts), step: Math.min(...this.#steps) };
  }
}
