/**
 * One writer a path: changes of the same file wait for each other in the order they were asked for (RT27), changes of different files do not.
 * One queue serves the whole daemon, since two sessions may work in one folder.
 */
import type { Place } from './paths.ts';

export class FileQueue {
  readonly #last = new Map<string, Promise<unknown>>();
  /** Finding where a path leads takes longer for some than for others: one after the other, so that the order is kept. */
  #door: Promise<unknown> = Promise.resolve();

  /** Finds the place, then runs `change` after all earlier changes of that place have ended, however they ended. */
  async run<T>(find: () => Promise<Place>, change: (place: Place) => Promise<T>): Promise<T> {
    const found = this.#door.then(find);
    const entered = found.then((place) => this.#enter(place.real, () => change(place)));
    this.#door = found.catch(() => {}); // told to its own caller
    return (await entered).result;
  }

  /** Returns an object around the promise, so that the door does not wait for the change itself. */
  #enter<T>(path: string, change: () => Promise<T>): { result: Promise<T> } {
    const mine = (this.#last.get(path) ?? Promise.resolve()).then(change, change);
    this.#last.set(path, mine);
    const leave = () => {
      if (this.#last.get(path) === mine) this.#last.delete(path);
    };
    mine.then(leave, leave);
    return { result: mine };
  }
}
