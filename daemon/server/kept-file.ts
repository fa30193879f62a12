/** Opens a small state file of this room; one that was corrupt is told in the daemon's own log, with the name it is kept under. */
import type { Schema } from '#protocol/schema.ts';
import type { Clock } from '../base/clock.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { Store } from '../base/store.ts';

export async function openStore<T>(
  path: string,
  schema: Schema<T>,
  initial: T,
  needs: { clock: Clock; diagnostics: Diagnostics },
): Promise<Store<T>> {
  const { store, corrupt } = await Store.open(path, schema, initial, needs.clock);
  if (corrupt !== null)
    needs.diagnostics.error('A file could not be understood; it is kept aside', { path, ...corrupt });
  return store;
}
