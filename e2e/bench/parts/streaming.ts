/**
 * From the moment when the provider writes a piece of a reply to the moment when the client has it. Each piece carries the first moment itself, and
 * the clock is the machine's, so nothing is estimated. A message that holds several pieces counts for each of them.
 */
import type { Bench, Measured } from '../contestant.ts';
import { percentile } from '../measure.ts';
import { eachInTurn, standsOf, type Stand } from './servers.ts';
import { costOf } from './serve.ts';

interface Load {
  readonly name: 'one' | 'ten' | 'flood';
  readonly sessions: number;
  readonly chunks: number;
  readonly gapMs: number;
}

const loads: readonly Load[] = [
  { name: 'one', sessions: 1, chunks: 500, gapMs: 2 },
  { name: 'ten', sessions: 10, chunks: 300, gapMs: 20 },
  // 5,000 pieces a second: as much as two cores can carry with provider and client beside the server.
  { name: 'flood', sessions: 10, chunks: 500, gapMs: 2 },
];

interface Streamed {
  readonly latencies: number[];
  /** From the first piece written to the last one seen. */
  readonly ms: number;
  readonly cpuMsPerChunk: number | null;
}

export async function streaming(bench: Bench): Promise<Measured[]> {
  const measured: Measured[] = [];
  let stands = await eachInTurn(bench, 'streaming', await standsOf(bench), async ({ server }) => {
    await server.start();
  });
  const sessions = new Map<string, string[]>();
  stands = await eachInTurn(bench, 'streaming', stands, async ({ name, server, place }) => {
    // One more than is needed: it warms up what is loaded with the first reply.
    const made: string[] = [];
    for (let count = 0; count < 10; count += 1) made.push(await server.create(place.folder));
    sessions.set(name, made);
    await streamInto({ server }, made, { name: 'ten', sessions: 10, chunks: 20, gapMs: 0 });
  });
  for (const load of bench.quick ? loads.slice(1) : loads) {
    const rows = new Map<string, { p50: number[]; p99: number[]; time: number[]; cpu: number[] }>();
    for (let run = 0; run < bench.runs; run += 1)
      stands = await eachInTurn(bench, `streaming.${load.name}`, stands, async ({ name, server }) => {
        const result = await streamInto({ server }, sessions.get(name) ?? [], load);
        const row = rows.get(name) ?? { p50: [], p99: [], time: [], cpu: [] };
        rows.set(name, row);
        row.p50.push(percentile(result.latencies, 0.5));
        row.p99.push(percentile(result.latencies, 0.99));
        row.time.push(result.ms);
        if (result.cpuMsPerChunk !== null) row.cpu.push(result.cpuMsPerChunk);
      });
    for (const { name } of stands) {
      const row = rows.get(name);
      if (row === undefined) continue;
      const add = (what: string, values: readonly number[]) => {
        if (values.length > 0) measured.push({ id: `streaming.${load.name}.${what}`, contestant: name, values });
      };
      add('p50', row.p50);
      add('p99', row.p99);
      if (load.name === 'flood') add('time', row.time);
      else add('cpu', row.cpu);
    }
  }
  await eachInTurn(bench, 'streaming', stands, ({ server }) => server.close());
  return measured;
}

/** One turn in each session, all at once. Rejects where a piece is missing. */
async function streamInto({ server }: Pick<Stand, 'server'>, all: readonly string[], load: Load): Promise<Streamed> {
  const sessions = all.slice(0, load.sessions);
  const latencies: number[] = [];
  let [first, last] = [Infinity, 0];
  for (const session of sessions) {
    const find = stampFinder();
    await server.subscribe(session, (text, at) => {
      for (const stamp of find(text)) {
        latencies.push((at - stamp) / 1000);
        first = Math.min(first, stamp);
        last = at;
      }
    });
  }
  const before = costOf(server.pids);
  await Promise.all(
    sessions.map(async (session) => {
      await server.send(session, `CHUNKS=${load.chunks} DELAY=${load.gapMs}`);
      await server.done(session);
    }),
  );
  const after = costOf(server.pids);
  const wanted = load.sessions * load.chunks;
  if (latencies.length !== wanted) throw new Error(`${latencies.length} of ${wanted} pieces came`);
  const cpu = before === null || after === null ? null : ((after.cpuSeconds - before.cpuSeconds) * 1000) / wanted;
  return { latencies, ms: (last - first) / 1000, cpuMsPerChunk: cpu };
}

/** Finds the stamps in a text that comes in pieces, also one that was cut in two. */
export function stampFinder(): (text: string) => number[] {
  let rest = '';
  return (text) => {
    const all = rest + text;
    const stamps: number[] = [];
    let end = 0;
    for (const found of all.matchAll(/@(\d+)@/g)) {
      stamps.push(Number(found[1]));
      end = found.index + found[0].length;
    }
    rest = all.slice(Math.max(end, all.length - 40));
    return stamps;
  };
}
