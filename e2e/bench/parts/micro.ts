/**
 * The hot paths by themselves, each beside its limit: the bench files that stand beside the source, run by vitest. A group called `micro.…` is a row;
 * its value is the share of the limit's speed that we reach, of the medians, since on a shared machine a mean tells about the neighbours.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Bench, Measured } from '../contestant.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
export const benchFiles = [
  'daemon/log/frame.bench.ts',
  'protocol/conversation/reduce.bench.ts',
  'daemon/agent/context/context.bench.ts',
];
/** One run of them takes half a minute. */
const enoughRuns = 3;
const longestMs = 5 * 60_000;

export async function micro(bench: Bench): Promise<Measured[]> {
  const values = new Map<string, number[]>();
  for (let run = 0; run < (bench.quick ? 1 : Math.min(bench.runs, enoughRuns)); run += 1) {
    for (const [id, share] of sharesIn(await runBenches())) {
      values.set(id, [...(values.get(id) ?? []), share]);
      bench.say(`${id}: ${share.toFixed(2)} of the limit`);
    }
  }
  return [...values].map(([id, shares]) => ({ id, contestant: 'alcove', values: shares }));
}

/** What vitest says of its benches, as far as it is read here. */
export interface BenchReport {
  readonly files: readonly {
    readonly groups: readonly {
      readonly fullName: string;
      readonly benchmarks: readonly { readonly name: string; readonly median?: number }[];
    }[];
  }[];
}

/** The share of the limit that each group reaches, by the id of its row. Throws where a group has not both, as its row would be missing in silence. */
export function sharesIn(report: BenchReport): Map<string, number> {
  const shares = new Map<string, number>();
  for (const { fullName, benchmarks } of report.files.flatMap(({ groups }) => groups)) {
    const id = /(?:^| > )(micro\.[a-z-]+): /.exec(fullName)?.[1];
    if (id === undefined) continue;
    const limit = benchmarks.find(({ name }) => name.startsWith('limit: '))?.median;
    const ours = benchmarks.find(({ name }) => name === 'ours')?.median;
    if (limit === undefined || ours === undefined || limit <= 0 || ours <= 0)
      throw new Error(`${fullName} has no figure for its limit or for ours.`);
    shares.set(id, limit / ours);
  }
  return shares;
}

/** One file at a time: they would take the processor from each other. */
async function runBenches(): Promise<BenchReport> {
  const folder = await mkdtemp(join(tmpdir(), 'alcove-micro-'));
  const report = join(folder, 'report.json');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const options = ['--run', '--project', 'node', '--no-file-parallelism', '--outputJson', report];
  try {
    await promisify(execFile)(process.execPath, [vitest, 'bench', ...options, ...benchFiles], {
      cwd: root,
      timeout: longestMs,
      maxBuffer: 16 * 1024 * 1024,
    });
    return JSON.parse(await readFile(report, 'utf8')) as BenchReport;
  } finally {
    await rm(folder, { recursive: true });
  }
}
