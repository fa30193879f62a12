/**
 * A lifetime: one AbortSignal, and the things that end with it. Closing aborts the signal, then closes everything in reverse order of its
 * coming, each awaited, whatever the others throw; the errors come together at the end. Closing twice is closing once.
 */
import { assert } from './errors.ts';

type Close = () => void | Promise<void>;

export class Scope {
  readonly #controller = new AbortController();
  readonly #closes: Close[] = [];
  #closed: Promise<void> | null = null;
  #ended = false;

  /** Aborted as soon as the scope begins to close. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Hands over what must be done at the end. What comes to a scope that is closing already is closed in its turn; a scope that has ended takes no more. */
  onClose(close: Close): void {
    assert(!this.#ended, 'something was handed to a scope that has ended');
    this.#closes.push(close);
  }

  /** Takes a thing over and returns it. */
  own<T extends { close: Close }>(thing: T): T {
    this.onClose(() => thing.close());
    return thing;
  }

  /** Takes over work that nobody awaits; it must heed the signal. Its failure is heard by `failed`, at once. */
  background(work: Promise<unknown>, failed: (error: unknown) => void): void {
    const settled = work.then(
      () => undefined,
      (error: unknown) => {
        if (!this.signal.aborted) failed(error);
      },
    );
    const wait = () => settled;
    this.#closes.push(wait);
    void settled.finally(() => {
      const place = this.#closes.indexOf(wait);
      if (place >= 0) this.#closes.splice(place, 1);
    });
  }

  /** A scope that ends with this one, or sooner. */
  child(): Scope {
    const child = new Scope();
    const closeChild = () => child.close();
    this.#closes.push(closeChild);
    child.onClose(() => {
      const place = this.#closes.indexOf(closeChild);
      if (place >= 0) this.#closes.splice(place, 1);
    });
    return child;
  }

  /** Rejects with an AggregateError where something could not be closed. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    this.#controller.abort();
    const errors: unknown[] = [];
    for (let close = this.#closes.pop(); close !== undefined; close = this.#closes.pop()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    this.#ended = true;
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} things could not be closed`);
  }
}
