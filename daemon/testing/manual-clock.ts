/** Time that stands still until a test moves it. */
import type { Clock } from '../base/clock.ts';

export class ManualClock implements Clock {
  #now: number;

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  /** Also backwards, as a person may set the machine's clock. */
  advance(ms: number): void {
    this.#now += ms;
  }
}
