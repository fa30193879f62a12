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
  run<T>(find: () => Promise<Place>, change: (place: Place) => Promise<T>): Promise<T> {
    const findAll = async () => [await find()] as const;
    return this.runAll(findAll, ([place]) => change(place));
  }

  /** The same for several places at once: after all earlier changes of any of them, before all later ones. */
  async runAll<T, Places extends readonly Place[]>(
    find: () => Promise<Places>,
    change: (places: Places) => Promise<T>,
  ): Promise<T> {
    const found = this.#door.then(find);
    // All lines are joined in one go at the door, so no two changes can wait for each other.
    const entered = found.then((places) =>
      this.#enter(
        places.map((place) => place.real),
        () => change(places),
      ),
    );
    this.#door = found.catch(() => {}); // told to its own caller
    return (await entered).result;
  }

  /** Returns an object around the promise, so that the door does not wait for the change itself. */
  #enter<T>(paths: readonly string[], change: () => Promise<T>): { result: Promise<T> } {
    const mine = Promise.allSettled(paths.map((path) => this.#last.get(path) ?? Promise.resolve())).then(change);
    for (const path of paths) this.#last.set(path, mine);
    const leave = () => {
      for (const path of paths) if (this.#last.get(path) === mine) this.#last.delete(path);
    };
    mine.then(leave, leave);
    return { result: mine };
  }
}
