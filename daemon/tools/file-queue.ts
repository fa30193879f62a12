/**
 * One writer a path: changes of the same file wait for each other in the order they were asked for, changes of different files do not.
 * One queue serves the whole daemon, since two sessions may work in one folder.
 */
export class FileQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `change` after all earlier ones of this real path have ended, however they ended. */
  async run<T>(realPath: string, change: () => Promise<T>): Promise<T> {
    const before = this.#last.get(realPath) ?? Promise.resolve();
    const mine = before.then(change, change);
    this.#last.set(realPath, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(realPath) === mine) this.#last.delete(realPath);
    }
  }
}
