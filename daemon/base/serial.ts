/**
 * One thing after the other: work starts in the order in which it was asked for, when all before it has ended. A failure reaches the one
 * who asked and nobody else. Work must not wait for other work of the same queue, or both wait for ever.
 */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when everything that was asked for until now has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
