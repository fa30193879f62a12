/**
 * The provider keys that were given to Alcove, in `keys.json` in the home, readable by its owner alone. A key is kept with the address it was
 * given for and handed out for that address only: a row of the same name that points elsewhere must not get it. Keys leave here to be sent to
 * their provider, and to be looked for where they must not stand; they are in no log, event, message or result.
 */
import { join } from 'node:path';
import { z } from '#protocol/schema.ts';
import type { Clock } from '../../base/clock.ts';
import { Store, type OpenedStore } from '../../base/store.ts';

const document = z.object({
  keys: z.record(z.string(), z.object({ origin: z.string(), key: z.string(), storedAt: z.number() })),
});
type Document = z.infer<typeof document>;

export class Credentials {
  readonly #store: Store<Document>;
  readonly #clock: Clock;

  private constructor(store: Store<Document>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  static async open(
    home: string,
    clock: Clock,
  ): Promise<{ credentials: Credentials; corrupt: OpenedStore<Document>['corrupt'] }> {
    const { store, corrupt } = await Store.open<Document>(join(home, 'keys.json'), document, { keys: {} }, clock);
    return { credentials: new Credentials(store, clock), corrupt };
  }

  /** The key of a provider at this address, or null. */
  get(provider: string, origin: string): string | null {
    const kept = own(this.#store.value.keys, provider);
    return kept?.origin === origin ? kept.key : null;
  }

  /** Every key there is: what must not stand in an environment or a log. */
  get all(): readonly string[] {
    return Object.values(this.#store.value.keys).map(({ key }) => key);
  }

  async set(provider: string, origin: string, key: string): Promise<void> {
    const kept = { origin, key, storedAt: this.#clock.now() };
    await this.#store.update(({ keys }) => ({ keys: { ...keys, [provider]: kept } }));
  }

  /** The address that the key was for; null where there was none. */
  async remove(provider: string): Promise<string | null> {
    let origin: string | null = null;
    await this.#store.update((value) => {
      const kept = own(value.keys, provider);
      if (kept === undefined) return value;
      origin = kept.origin;
      const { [provider]: _, ...keys } = value.keys;
      return { keys };
    });
    return origin;
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

/** A provider may be called `constructor`. */
function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
