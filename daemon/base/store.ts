/**
 * Small authoritative state as one JSON file: projects, devices, rules. Read once, held in memory, replaced as a whole. Updates happen one
 * after the other, and are seen only when they are on disk. A file that cannot be understood is never overwritten: it is kept aside, the
 * opener is told its new name, and the state starts from the beginning.
 */
import { readFile, rename } from 'node:fs/promises';
import { misfit, parse, type Schema } from '#protocol/schema.ts';
import type { Clock } from './clock.ts';
import { InvariantError, messageOf, systemCode } from './errors.ts';
import { writeFileAtomically } from './files.ts';
import { SerialQueue } from './serial.ts';

export interface OpenedStore<T> {
  readonly store: Store<T>;
  /** Where a file that was not understood is kept now, and what was wrong with it; null where all was well. */
  readonly corrupt: { readonly keptAt: string; readonly reason: string } | null;
}

export class Store<T> {
  readonly #path: string;
  readonly #schema: Schema<T>;
  readonly #updates = new SerialQueue();
  #value: T;

  private constructor(path: string, schema: Schema<T>, value: T) {
    this.#path = path;
    this.#schema = schema;
    this.#value = value;
  }

  /** A file that is missing is the initial value, and is written by the first update. Rejects where the file cannot be read at all. */
  static async open<T>(path: string, schema: Schema<T>, initial: T, clock: Clock): Promise<OpenedStore<T>> {
    const text = await readIfThere(path);
    if (text === null) return { store: new Store(path, schema, initial), corrupt: null };
    let value: T;
    try {
      value = parse(schema, JSON.parse(text), 'The file');
    } catch (error) {
      const keptAt = `${path}.corrupt-${new Date(clock.now()).toISOString().replaceAll(':', '-')}`;
      await rename(path, keptAt);
      return { store: new Store(path, schema, initial), corrupt: { keptAt, reason: messageOf(error) } };
    }
    return { store: new Store(path, schema, value), corrupt: null };
  }

  /** What is on disk. */
  get value(): T {
    return this.#value;
  }

  /** `change` returns the next value and leaves the one it is given alone; returning the same one writes nothing. */
  update(change: (value: T) => T): Promise<T> {
    return this.#updates.run(async () => {
      const next = change(this.#value);
      if (next === this.#value) return next;
      const problem = misfit(this.#schema, next);
      if (problem !== null) throw new InvariantError(`${this.#path} would not be readable again: ${problem}`);
      await writeFileAtomically(this.#path, `${JSON.stringify(next, null, 2)}\n`);
      this.#value = next;
      return next;
    });
  }

  /** Resolves when all updates that were asked for have ended. */
  close(): Promise<void> {
    return this.#updates.idle();
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
