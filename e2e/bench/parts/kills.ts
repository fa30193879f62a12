/**
 * SIGKILL in the middle of a tool, in the middle of a reply, and right behind an acknowledgement; then the server is started again, as a person
 * would, and it is looked at what is left. Kept is
 *   in a tool             that no process of the tool is left, and that the session takes another input;
 *   in a reply            every piece of the reply that a client had seen;
 *   behind an answer      the input that was acknowledged.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Measured } from '../contestant.ts';
import { eachInTurn, standsOf, type Stand } from './servers.ts';
import { stampFinder } from './streaming.ts';

const tries = 10;
/** Longer than a tool may outlive its server by anybody's grace. */
const toolSeconds = 60;
const waitMs = 10_000;
const pollMs = 20;
const nextTurnMs = 20_000;

type Kind = 'tool' | 'reply' | 'acknowledged';

/** One try: true where all was kept. */
const kinds: Readonly<Record<Kind, (stand: Stand, session: string, number: number) => Promise<boolean>>> = {
  async tool({ server, place }, session, number) {
    const file = `tool-${number}.pid`;
    const command = Buffer.from(`sleep ${toolSeconds} & echo $$ $! > ${file}; wait; echo done`).toString('base64');
    await server.subscribe(session, () => undefined);
    await server.send(session, `CMD=${command}`);
    // The shell, and what the shell has started.
    const pids = await numbersIn(join(place.folder, file), 2);
    await server.kill();
    await server.start();
    const left = await Promise.all(pids.map(async (pid) => ((await outlives(pid)) ? [pid] : [])));
    for (const pid of left.flat()) endGroup(pid);
    await server.subscribe(session, () => undefined);
    await server.send(session, 'CHUNKS=2 go on');
    return (await inTime(server.done(session))) && left.flat().length === 0;
  },

  async reply({ server }, session, number) {
    const seen: number[] = [];
    const find = stampFinder();
    // Another place in the reply each time.
    const enough = 20 + number * 15;
    const reached = new Promise<void>((resolve) => {
      void server.subscribe(session, (text) => {
        seen.push(...find(text));
        if (seen.length >= enough) resolve();
      });
    });
    await server.send(session, 'CHUNKS=500 DELAY=5');
    await Promise.race([reached, server.done(session)]);
    await server.kill();
    await server.start();
    const kept = (await server.history?.(session)) ?? '';
    const stamps = new Set([...kept.matchAll(/@(\d+)@/g)].map(([, stamp]) => Number(stamp)));
    return seen.every((stamp) => stamps.has(stamp));
  },

  async acknowledged({ server, place }, session, number) {
    // Every second try is the first input of a session, and of a server that has just been started: what is loaded with it is not there yet.
    const first = number % 2 === 1;
    if (first) await server.restart();
    const target = first ? await server.create(place.folder) : session;
    const mark = `MARK${number}END`;
    await server.send(target, `CHUNKS=3 DELAY=50 ${mark}`);
    await server.kill();
    await server.start();
    const kept = await (server.history?.(target) ?? Promise.resolve('')).catch(() => '');
    return kept.includes(mark);
  },
};

export async function kills(bench: Bench): Promise<Measured[]> {
  const measured: Measured[] = [];
  const stands = (await standsOf(bench)).filter(({ name }) => name !== 'direct');
  for (const kind of Object.keys(kinds) as Kind[]) {
    const kept = new Map<string, number>();
    let left = await eachInTurn(bench, `kills.${kind}`, stands, ({ server }) => server.start());
    for (let number = 0; number < tries; number += 1)
      left = await eachInTurn(bench, `kills.${kind}`, left, async (stand) => {
        const { name, server, place } = stand;
        const session = await server.create(place.folder);
        // A turn that was done before, so that what is killed is not the making of the session.
        await server.subscribe(session, () => undefined);
        await server.send(session, 'CHUNKS=2 before');
        await server.done(session);
        const whole = await kinds[kind](stand, session, number);
        kept.set(name, (kept.get(name) ?? 0) + (whole ? 1 : 0));
      });
    await eachInTurn(bench, `kills.${kind}`, left, ({ server }) => server.close());
    for (const { name } of left) {
      const count = kept.get(name) ?? 0;
      measured.push({ id: `kills.${kind}`, contestant: name, values: [count / tries], note: `${count} of ${tries}` });
    }
  }
  return measured;
}

/** So many numbers in a file, as soon as they are there. */
async function numbersIn(file: string, count: number): Promise<number[]> {
  for (let waited = 0; waited < waitMs; waited += pollMs) {
    const numbers = contentOf(file).trim().split(' ').map(Number);
    if (numbers.length === count && numbers.every((number) => number > 0)) return numbers;
    await delay(pollMs);
  }
  throw new Error('the tool did not start');
}

/** Whether the process still runs a while after the server is there again. */
async function outlives(pid: number): Promise<boolean> {
  for (let waited = 0; waited < 1000; waited += pollMs) {
    const stat = contentOf(`/proc/${pid}/stat`);
    if (stat === '' || /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))) return false;
    await delay(pollMs);
  }
  return true;
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** What a contestant left running is not left on this machine. */
function endGroup(pid: number): void {
  for (const target of [-pid, pid])
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // There is no such group, or it has ended.
    }
}

async function inTime(work: Promise<void>): Promise<boolean> {
  const late = new AbortController();
  const ended = work.then(
    () => true,
    () => false,
  );
  const waited = delay(nextTurnMs, false, { signal: late.signal }).catch(() => false);
  const result = await Promise.race([ended, waited]);
  late.abort();
  return result;
}
