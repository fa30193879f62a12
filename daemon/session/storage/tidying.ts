/**
 * Collects once a day while the daemon runs, and soon after a start where the last time is longer ago: beside everything else, one
 * file after the other. A failure is told, and tried again the next day.
 */
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { ownerOnlyFileMode, type HomePaths } from '../../base/files.ts';
import { tidyMs } from '../../base/limits.ts';
import { collect, type Collected } from './collect.ts';

/** A start has more urgent things to do. */
const afterStartMs = 60_000;

export interface TidyingOptions {
  home: HomePaths;
  clock: Clock;
  collected(what: Collected): void;
  fault(error: unknown): void;
}

export class Tidying {
  readonly #options: TidyingOptions;
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(options: TidyingOptions) {
    this.#options = options;
    this.#timer = this.#after(afterStartMs);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#ending.abort();
    await this.#running;
  }

  #after(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#running = this.#tidy().catch((error: unknown) => {
        if (!this.#ending.signal.aborted) this.#options.fault(error);
      });
      this.#timer = this.#after(tidyMs);
    }, ms).unref();
  }

  async #tidy(): Promise<void> {
    const { home, clock } = this.#options;
    if (clock.now() - (await lastTime(home)) < tidyMs) return;
    this.#options.collected(await collect(home, { now: clock.now(), signal: this.#ending.signal }));
    await writeFile(markOf(home), '', { mode: ownerOnlyFileMode });
  }
}

/** Its time says when. */
const markOf = (home: HomePaths): string => join(home.home, 'tidied');

async function lastTime(home: HomePaths): Promise<number> {
  return (await stat(markOf(home)).catch(() => null))?.mtimeMs ?? 0;
}
