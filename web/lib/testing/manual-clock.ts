/**
 * A clock that stands still until a test moves it, and ids that count. Timers fire in order of their time, each with the clock
 * standing at it.
 */
import type { Clock, Ids } from '../base/clock.ts';
import type { Frames } from '../base/repaint.ts';

export class ManualClock implements Clock {
  #now: number;
  #timers: { at: number; action: () => void }[] = [];

  constructor(now = Date.UTC(2026, 10, 30, 12)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, action: () => void): () => void {
    const timer = { at: this.#now + delayMs, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (let due = this.#earliest(end); due !== undefined; due = this.#earliest(end)) {
      this.#timers = this.#timers.filter((one) => one !== due);
      this.#now = Math.max(this.#now, due.at);
      due.action();
    }
    this.#now = end;
  }

  /** Time passes and no timer fires, as while a laptop sleeps. */
  sleep(ms: number): void {
    this.#now += ms;
  }

  #earliest(end: number): { at: number; action: () => void } | undefined {
    const [first] = this.#timers.filter((one) => one.at <= end).sort((one, other) => one.at - other.at);
    return first;
  }
}

/** UUIDv7s that count up, made at the time of the clock. */
export function countingIds(clock: Clock): Ids {
  let count = 0;
  return {
    next: () => {
      const time = clock.now().toString(16).padStart(12, '0');
      return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(++count).padStart(12, '0')}`;
    },
  };
}

/** Repaints when the test says so. */
export class ManualFrames implements Frames {
  #actions: (() => void)[] = [];

  next(action: () => void): () => void {
    this.#actions.push(action);
    return () => {
      this.#actions = this.#actions.filter((one) => one !== action);
    };
  }

  repaint(): void {
    const actions = this.#actions;
    this.#actions = [];
    for (const action of actions) action();
  }
}
