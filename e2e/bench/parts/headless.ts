/**
 * Tasks without a person (task.ts): what a step takes, what a whole run costs, and how both grow over 1,000 steps. The first run of each in a new
 * home is not counted, and a run that did not do all of its steps is none.
 */
import { messageOf } from '../../../daemon/base/errors.ts';
import type { Bench, BenchPlace, Contestant, Measured } from '../contestant.ts';
import { median } from '../measure.ts';
import { bytesBelow } from '../places.ts';
import type { ProviderRequest } from '../provider/provider.ts';
import { mainOf, work, type Task } from '../task.ts';

const mebibyte = 1024 * 1024;
/** So that growth shows: 1,000 steps to 20. */
const longer = 50;
/** How many are the first and the last steps of the long run: 40 of 1,000. */
const windowShare = 0.04;
/** opencode's 1,000 steps took four minutes on a busy machine. */
const longMs = 15 * 60_000;

export async function headless(bench: Bench): Promise<Measured[]> {
  const able = bench.contestants.filter((one) => one.headless !== undefined);
  const { meter, steps } = bench;
  const places = new Map<Contestant, BenchPlace>();
  const done = new Map<Contestant, Task[]>();
  const failed = (contestant: Contestant, error: unknown, row = 'headless') =>
    bench.skip(contestant.name, row, messageOf(error));

  for (const contestant of able) {
    try {
      const place = await bench.place(contestant);
      // The first run in a new home does what later ones need not: it is not counted.
      await work(bench, contestant, place, steps);
      places.set(contestant, place);
    } catch (error) {
      failed(contestant, error);
    }
  }
  for (let turn = 0; turn < bench.runs; turn++) {
    for (const [contestant, place] of places) {
      try {
        const task = await work(bench, contestant, place, steps);
        done.set(contestant, [...(done.get(contestant) ?? []), task]);
        bench.say(`${contestant.name}: ${median(task.steps).toFixed(1)} ms a step`);
      } catch (error) {
        failed(contestant, error);
      }
    }
  }

  const rows: Measured[] = [];
  for (const [{ name: contestant }, tasks] of done) {
    const row = (id: string, values: (number | null)[], note?: string) => {
      const known = values.filter((value) => value !== null);
      if (known.length > 0) rows.push({ id, contestant, values: known, ...(note === undefined ? {} : { note }) });
    };
    const first = tasks.map(({ requests }) => mainOf(requests)[0]);
    row(
      'headless.step',
      tasks.map((task) => median(task.steps)),
    );
    row(
      'headless.start',
      tasks.map(({ run, requests }) => ((requests[0]?.arrivedAt ?? NaN) - run.startedAt) / 1000),
    );
    row(
      'headless.cpu',
      tasks.map(({ run }) => run.cpuSeconds),
      meter,
    );
    row(
      'headless.memory',
      tasks.map(({ run }) => (run.peakBytes === null ? null : run.peakBytes / mebibyte)),
      meter,
    );
    row(
      'headless.request',
      first.map((request) => (request === undefined ? null : request.systemBytes + request.toolsBytes)),
      first[0] === undefined ? undefined : `tools: ${first[0].toolCount}`,
    );
  }
  rows.push(...(await longRuns(bench, able)));
  return rows;
}

/** A thousand steps, for those in whom the row is about growth; the others are known to be slow, and are run when asked for by name. */
async function longRuns(bench: Bench, able: readonly Contestant[]): Promise<Measured[]> {
  const longSteps = bench.steps * longer;
  const window = Math.ceil(longSteps * windowShare);
  const slow = new Set(['opencode', 'claude-code', 'qwen']);
  const growth = new Map<string, number[]>();
  const disk = new Map<string, { shares: number[]; bytes: number }>();
  for (let turn = 0; turn < (bench.quick ? 1 : Math.min(bench.runs, 3)); turn++) {
    for (const contestant of able) {
      if (slow.has(contestant.name)) continue;
      const { name } = contestant;
      try {
        const place = await bench.place(contestant);
        const folder = contestant.dataFolder(place);
        // What a home holds without any session is none of the session's.
        await work(bench, contestant, place, 1);
        const before = folder === null ? 0 : await bytesBelow(folder);
        const { steps, requests } = await work(bench, contestant, place, longSteps, longMs);
        const ratio = median(steps.slice(-window)) / median(steps.slice(0, window));
        growth.set(name, [...(growth.get(name) ?? []), ratio]);
        bench.say(`${name}: ${longSteps} steps, the last ${window} took ${ratio.toFixed(2)}x the first`);
        if (folder === null) continue;
        const bytes = (await bytesBelow(folder)) - before;
        const shares = [...(disk.get(name)?.shares ?? []), bytes / historyBytes(requests)];
        disk.set(name, { shares, bytes });
      } catch (error) {
        bench.skip(name, 'headless.growth', messageOf(error));
      }
    }
  }
  return [
    ...[...growth].map(([contestant, values]): Measured => ({ id: 'headless.growth', contestant, values })),
    ...[...disk].map(([contestant, { shares, bytes }]): Measured => ({
      id: 'headless.disk',
      contestant,
      values: shares,
      note: `${bytes.toLocaleString('en')} bytes`,
    })),
  ];
}

/** What the whole conversation is as JSON: the newest request holds it, behind what the agent says first. */
function historyBytes(requests: readonly ProviderRequest[]): number {
  const last = mainOf(requests).at(-1);
  return last === undefined ? NaN : last.bodyBytes - last.systemBytes - last.toolsBytes;
}
