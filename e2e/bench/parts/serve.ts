/**
 * What a server costs before anybody has asked it for anything: how soon it answers, and what it holds and uses while a client is connected and
 * nothing happens. The first start of each is in a home that it has never seen, and is not counted.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Measured } from '../contestant.ts';
import { costOfTree, now, type TreeCost } from '../measure.ts';
import { eachInTurn, standsOf, type Stand } from './servers.ts';

/** What a start leaves behind to do, ends by then. */
const settleMs = 10_000;
const windowMs = 30_000;
const mebibyte = 1024 * 1024;

export async function serve(bench: Bench): Promise<Measured[]> {
  // Nobody in between starts nothing and holds nothing.
  let stands = (await standsOf(bench)).filter(({ name }) => name !== 'direct');
  const starts = new Map(stands.map(({ name }) => [name, [] as number[]]));
  for (let run = 0; run <= bench.runs; run += 1)
    stands = await eachInTurn(bench, 'serve.start', stands, async ({ name, server }) => {
      const ms = await server.start();
      if (run > 0) starts.get(name)?.push(ms);
      await server.close();
    });
  const measured: Measured[] = stands.map(({ name }) => ({
    id: 'serve.start',
    contestant: name,
    values: starts.get(name) ?? [],
  }));
  if (bench.quick) return measured;
  // They rest side by side: who rests uses little, and who does not is seen as well.
  stands = await eachInTurn(bench, 'serve.idle', stands, ({ server }) => server.start());
  await delay(settleMs);
  const before = new Map(stands.map(({ name, server }) => [name, costOf(server.pids)]));
  const from = now();
  await delay(windowMs);
  for (const { name, server } of stands) {
    const [first, last] = [before.get(name) ?? null, costOf(server.pids)];
    const seconds = (now() - from) / 1e6;
    await server.close();
    if (first === null || last === null) {
      bench.skip(name, 'serve.idle', 'this system does not tell what a process costs');
      continue;
    }
    measured.push(
      { id: 'serve.idle-memory', contestant: name, values: [last.rssBytes / mebibyte], note: memoryNote(last) },
      { id: 'serve.idle-cpu', contestant: name, values: [((last.cpuSeconds - first.cpuSeconds) / seconds) * 100] },
    );
  }
  return measured;
}

/** Of all trees together; null where one of them cannot be had. */
export function costOf(pids: Stand['server']['pids']): TreeCost | null {
  const costs = pids.map((pid) => costOfTree(pid));
  let sum: TreeCost = { pids: [], rssBytes: 0, pssBytes: 0, cpuSeconds: 0, peakBytes: 0 };
  for (const cost of costs) {
    if (cost === null) return null;
    sum = {
      pids: [...sum.pids, ...cost.pids],
      rssBytes: sum.rssBytes + cost.rssBytes,
      pssBytes: sum.pssBytes + cost.pssBytes,
      cpuSeconds: sum.cpuSeconds + cost.cpuSeconds,
      peakBytes: Math.max(sum.peakBytes, cost.peakBytes),
    };
  }
  return costs.length === 0 ? null : sum;
}

/** Not the proportional size alone: the bench and its provider are Node programs too, and share theirs with whoever is one. */
function memoryNote(cost: TreeCost): string {
  const processes = cost.pids.length === 1 ? 'one process' : `${cost.pids.length} processes`;
  return `RSS of ${processes}; PSS ${(cost.pssBytes / mebibyte).toFixed(0)} MiB`;
}
