/** The list of sessions: two hundred that were made by work, one short turn each, with every contestant; and the first page of ten thousand. */
import { setTimeout as delay } from 'node:timers/promises';
import { AlcoveServer } from '../contestants/alcove-server.ts';
import type { Bench, Measured } from '../contestant.ts';
import { eachInTurn, standsOf, type Stand } from './servers.ts';
import { writeShortSessions } from './written-sessions.ts';

const few = 200;
const many = 10_000;
const portion = 1000;
/** One asking is short, and the first of a connection is not like the others. */
const askings = 7;
/** What was written last is a while ago, as it is for a person who looks: for two seconds Alcove reads the names of a folder that changed. */
const settleMs = 3000;

export async function list(bench: Bench): Promise<Measured[]> {
  const measured: Measured[] = [];
  const stands = (await standsOf(bench)).filter(({ name }) => name !== 'direct');
  const made = await eachInTurn(bench, 'list.200', stands, async ({ name, server, place }) => {
    if (server.list === undefined) throw new Error('it has no list');
    bench.say(`list: ${name} makes ${few} sessions`);
    await server.start();
    for (let number = 0; number < few; number += 1) {
      const session = await server.create(place.folder);
      await server.send(session, `CHUNKS=1 session ${number}`);
      await server.done(session);
    }
    await server.restart();
  });
  const ready = await eachInTurn(bench, 'list.200', made, async ({ server }) => server.list?.());
  measured.push(...(await listings(bench, ready, 'list.200')));
  await eachInTurn(bench, 'list.200', ready, ({ server }) => server.close());
  if (bench.quick) return measured;

  const ours = await eachInTurn(bench, 'list.10000', await standsOf(bench, ['alcove']), async ({ server }) => {
    if (!(server instanceof AlcoveServer)) throw new Error('it is not ours');
    bench.say(`list: ${many} sessions are written`);
    await server.start();
    // Logs that no catalogue knows are read before the daemon answers: in portions, none of its starts takes longer than a test waits.
    let ms = 0;
    for (let written = 0; written < many; written += portion) {
      await server.stop();
      await writeShortSessions(server.home, portion);
      ms += await server.start();
    }
    bench.say(`list: the starts that found ${many} new logs took ${(ms / 1000).toFixed(1)} s together`);
    await server.restart();
    await server.list();
  });
  measured.push(...(await listings(bench, ours, 'list.10000')));
  await eachInTurn(bench, 'list.10000', ours, ({ server }) => server.close());
  return measured;
}

/** Askings in turns: A B C A B C. */
async function listings(bench: Bench, stands: readonly Stand[], id: string): Promise<Measured[]> {
  const found = new Map<string, { values: number[]; note: string }>();
  await delay(settleMs);
  for (let asking = 0; asking < askings; asking += 1)
    await eachInTurn(bench, id, stands, async ({ name, server }) => {
      const page = await server.list?.();
      if (page === undefined) return;
      const row = found.get(name) ?? { values: [], note: '' };
      row.values.push(page.ms);
      row.note = `${page.items} sessions, ${page.bytes} bytes`;
      found.set(name, row);
    });
  return [...found].map(([contestant, row]) => ({ id, contestant, ...row }));
}
