/** The servers of all contestants that have one, each in a fresh place; one that fails is left out of the row, with its reason. */
import { messageOf } from '../../../daemon/base/errors.ts';
import type { Bench, BenchPlace, BenchServer, Contestant } from '../contestant.ts';

export interface Stand {
  readonly name: string;
  readonly contestant: Contestant;
  readonly place: BenchPlace;
  readonly server: BenchServer;
}

/** @param names Only these; by default all. */
export async function standsOf(bench: Bench, names?: readonly string[]): Promise<Stand[]> {
  const stands: Stand[] = [];
  for (const contestant of bench.contestants) {
    if (contestant.server === undefined || names?.includes(contestant.name) === false) continue;
    const place = await bench.place(contestant);
    stands.push({ name: contestant.name, contestant, place, server: contestant.server(place) });
  }
  return stands;
}

/**
 * Does the same with each, in turn. Who fails is skipped in this row, its server is closed, and it is not among those that are returned.
 */
export async function eachInTurn(
  bench: Bench,
  row: string,
  stands: readonly Stand[],
  work: (stand: Stand) => Promise<unknown>,
): Promise<Stand[]> {
  const left: Stand[] = [];
  for (const stand of stands) {
    try {
      await work(stand);
      left.push(stand);
    } catch (error) {
      bench.skip(stand.name, row, messageOf(error));
      await stand.server.close().catch(() => undefined);
    }
  }
  return left;
}
