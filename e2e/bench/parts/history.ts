/**
 * Opening a long session: the newest page, asked for once, right after the server was started anew, and what the session takes on disk while
 * nothing runs. The session of 1,000 calls is made by work, with every contestant; the logs of a million events are written by Alcove's own
 * session, as no model needs to be asked for them.
 */
import { AlcoveServer } from '../contestants/alcove-server.ts';
import type { Bench, Measured } from '../contestant.ts';
import { bytesBelow } from '../places.ts';
import { eachInTurn, standsOf, type Stand } from './servers.ts';
import { writeLongSession } from './written-sessions.ts';

const turns = 10;
const callsOfTurn = 100;
const million = 1_000_000;

export async function history(bench: Bench): Promise<Measured[]> {
  // Work of this length takes others minutes.
  const names = bench.quick ? ['alcove', 'codex'] : undefined;
  const stands = (await standsOf(bench, names)).filter(({ name }) => name !== 'direct');
  const measured: Measured[] = [];
  await eachInTurn(bench, 'history', stands, async (stand) => {
    const { name, server, place, contestant } = stand;
    bench.say(`history: ${name} works through ${turns * callsOfTurn} calls`);
    const data = contestant.dataFolder(place);
    await server.start();
    await server.close();
    const empty = data === null ? 0 : await bytesBelow(data);
    await server.start();
    const session = await server.create(place.folder);
    await server.subscribe(session, () => undefined);
    for (let turn = 0; turn < turns; turn += 1) {
      await server.send(session, `STEPS=${callsOfTurn} turn ${turn}`);
      await server.done(session);
    }
    const json = Buffer.byteLength((await server.history?.(session)) ?? '');
    await server.close();
    if (data !== null && json > 0) {
      const bytes = (await bytesBelow(data)) - empty;
      const note = `${bytes} bytes for ${json} of JSON`;
      measured.push({ id: 'history.disk', contestant: name, values: [bytes / json], note });
    }
    measured.push(...(await pagesOf(bench, stand, session, 'page')));
    if (!(server instanceof AlcoveServer)) return;

    await server.start();
    const single = await server.create(place.folder);
    await server.send(single, `STEPS=${turns * callsOfTurn}`);
    await server.done(single);
    await server.close();
    measured.push(...(await pagesOf(bench, stand, single, 'page-one-turn')));
    if (bench.quick) return;

    for (const kind of ['many', 'one'] as const) {
      bench.say(`history: a log of ${million} events is written (${kind === 'one' ? 'one turn' : 'many turns'})`);
      const written = await writeLongSession(server.home, million, kind);
      const row = kind === 'one' ? 'page-million-one-turn' : 'page-million';
      measured.push(...(await pagesOf(bench, stand, written, row)));
    }
  });
  return measured;
}

/** The first page after each of several starts. */
async function pagesOf(bench: Bench, { name, server }: Stand, session: string, row: string): Promise<Measured[]> {
  const values: number[] = [];
  const bytes: number[] = [];
  let items = 0;
  // Another start costs little beside the session, and the first page is one moment.
  for (let run = 0; run < Math.max(5, bench.runs); run += 1) {
    await server.start();
    const page = await server.page?.(session);
    await server.close();
    if (page === undefined) return [];
    values.push(page.ms);
    bytes.push(page.bytes);
    items = page.items;
  }
  return [
    { id: `history.${row}`, contestant: name, values, note: `${items} items` },
    { id: `history.${row}-bytes`, contestant: name, values: bytes },
  ];
}
