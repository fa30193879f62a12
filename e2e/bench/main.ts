/**
 * `npm run bench`: measures Alcove beside what others run, each part with its contestants in turns, and prints the table.
 *
 *   --part headless,serve         only these parts
 *   --contestants floor,codex     only these contestants
 *   --runs 5                      counted runs of each
 *   --steps 3                     a trial with shorter tasks
 *   --check                       the cheap rows, held against the baseline; ends with 1 where one is worse or missing
 *   --write                       writes the table into docs/performance.md and the ratios into the baseline
 *   --report                      measures nothing: the table of what was measured last
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { format } from 'prettier';
import { checkedRows, compare, ratiosIn, type Baseline } from './check.ts';
import type { Bench, Contestant, Measured, Part } from './contestant.ts';
import { alcove } from './contestants/alcove.ts';
import { claudeCode } from './contestants/claude-code.ts';
import { codex } from './contestants/codex.ts';
import { direct } from './contestants/direct.ts';
import { floor } from './contestants/floor.ts';
import { opencode } from './contestants/opencode.ts';
import { pi } from './contestants/pi.ts';
import { qwen } from './contestants/qwen.ts';
import { Places } from './places.ts';
import { startProvider, type BenchProvider } from './provider/provider.ts';
import { pageWith, tablesOf } from './report.ts';
import { machineHere, readResults, writeResults, type PartResult, type Results, type Skipped } from './results.ts';
import { partNames, rowOf, type PartName } from './rows.ts';
import { findMeter } from './timed-run.ts';
import { Yard } from './yardstick.ts';

/** In the order in which they take turns. */
const everybody: readonly Contestant[] = [floor, direct, alcove, codex, claudeCode, pi, opencode, qwen];
/** What the checks compare Alcove to; nothing has to be brought for it. */
const yardsticks = ['floor', 'direct', 'alcove'];

/** Loaded when asked for: some bring a browser with them. */
const parts: Readonly<Partial<Record<PartName, () => Promise<Part>>>> = {
  headless: async () => (await import('./parts/headless.ts')).headless,
  serve: async () => (await import('./parts/serve.ts')).serve,
  streaming: async () => (await import('./parts/streaming.ts')).streaming,
  history: async () => (await import('./parts/history.ts')).history,
  list: async () => (await import('./parts/list.ts')).list,
  load: async () => (await import('./parts/load.ts')).load,
  kills: async () => (await import('./parts/kills.ts')).kills,
  micro: async () => (await import('./parts/micro.ts')).micro,
};

/** What the rows say of. */
const usualSteps = 20;

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const pagePath = root('docs/performance.md');
const baselinePath = root('e2e/bench/baseline.json');

interface Options {
  readonly parts: readonly PartName[];
  readonly contestants: readonly Contestant[];
  readonly runs: number;
  readonly steps: number;
  readonly check: boolean;
  readonly write: boolean;
  readonly report: boolean;
  /** Where the results are kept. */
  readonly results: string;
}

class UsageError extends Error {}

function readOptions(words: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...words],
    options: {
      part: { type: 'string' },
      contestants: { type: 'string' },
      runs: { type: 'string' },
      steps: { type: 'string' },
      check: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      report: { type: 'boolean', default: false },
      results: { type: 'string' },
    },
  });
  const { check, write, report } = values;
  const runs = count('runs', values.runs, check ? 3 : 5);
  const steps = count('steps', values.steps, usualSteps);
  const trial = steps !== usualSteps;
  if (trial && (check || write)) throw new UsageError('--steps is for trials: neither checked nor written.');
  const built = partNames.filter((name) => parts[name] !== undefined);
  const names = everybody.map(({ name }) => name);
  const wanted = chosen('contestants', values.contestants, names, check ? yardsticks : names);
  return {
    parts: chosen('part', values.part, built, check ? built.filter((name) => checkedRows([name]).length > 0) : built),
    contestants: everybody.filter(({ name }) => wanted.includes(name)),
    runs,
    steps,
    check,
    write,
    report,
    results: values.results ?? root(`test-results/bench/${check ? 'check' : trial ? 'trial' : 'results'}.json`),
  };
}

function count(option: string, given: string | undefined, otherwise: number): number {
  const value = Number(given ?? otherwise);
  if (!Number.isInteger(value) || value < 1) throw new UsageError(`--${option} takes a number from 1.`);
  return value;
}

function chosen<Name extends string>(
  option: string,
  given: string | undefined,
  all: readonly Name[],
  otherwise: readonly Name[],
): readonly Name[] {
  if (given === undefined) return otherwise;
  const unknown = given.split(',').filter((name) => !all.some((one) => one === name));
  if (unknown.length > 0)
    throw new UsageError(`--${option} knows no ${unknown.join(', ')}: it takes ${all.join(', ')}.`);
  return all.filter((name) => given.split(',').includes(name));
}

async function main(options: Options): Promise<number> {
  // A check is of one run; a table may be put together from several.
  const results = options.check && !options.report ? {} : await readResults(options.results);
  let broken: string[] = [];
  if (!options.report) broken = await measure(options, results);
  print(await tablesOf(results));

  if (options.write) await write(results);
  const measured = Object.fromEntries(options.parts.map((name) => [name, results[name]])) as Results;
  const failures = [...broken, ...(options.check ? await check(measured, options.parts) : [])];
  for (const failure of failures) print(`✗ ${failure}`);
  if (options.check && failures.length === 0) print('Nothing is worse than the baseline allows.');
  return failures.length > 0 ? 1 : 0;
}

/** Measures the parts into the results, each as soon as it is done; a sentence for each that broke. */
async function measure(options: Options, results: Results): Promise<string[]> {
  const { available, versions, skipped } = await prepare(options.contestants);
  const broken: string[] = [];
  const provider = await startProvider();
  const places = await Places.open(provider.url);
  try {
    for (const name of options.parts) {
      say(`— ${name}`);
      try {
        const common = { contestants: available, runs: options.runs, steps: options.steps, quick: options.check };
        const result = await measurePart(name, common, { provider, places, versions, skipped });
        results[name] = result;
        await writeResults(options.results, results);
        const strange = new Set(result.measured.map(({ id }) => id).filter((id) => rowOf(id) === null));
        for (const id of strange) broken.push(`${name}: rows.ts has no row ${id}`);
      } catch (error) {
        // What was measured before stands for another run, and must not be taken for this one.
        delete results[name];
        await writeResults(options.results, results);
        broken.push(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
    }
  } finally {
    await places.close();
    await provider.close();
  }
  return broken;
}

async function measurePart(
  name: PartName,
  common: Pick<Bench, 'contestants' | 'runs' | 'steps' | 'quick'>,
  given: {
    readonly provider: BenchProvider;
    readonly places: Places;
    readonly versions: Readonly<Record<string, string>>;
    readonly skipped: readonly Skipped[];
  },
): Promise<PartResult> {
  const { provider, places, versions } = given;
  const skipped: Skipped[] = [...given.skipped];
  const bench: Bench = {
    ...common,
    provider,
    meter: findMeter(),
    place: (contestant) => places.make(contestant),
    say,
    skip(contestant, row, reason) {
      say(`${contestant} is left out in ${row}: ${reason}`);
      skipped.push({ contestant, row, reason });
    },
  };
  const part = await parts[name]?.();
  const yard = new Yard(bench);
  await yard.measure();
  const date = `${new Date().toISOString().slice(0, 19)}Z`;
  const measured: Measured[] = (await part?.(bench)) ?? [];
  await yard.measure();
  const { runs, quick } = common;
  const taking = new Set(measured.map(({ contestant }) => contestant));
  const shown = Object.fromEntries(Object.entries(versions).filter(([contestant]) => taking.has(contestant)));
  const { yardstick } = yard;
  return { date, machine: machineHere(), runs, quick, versions: shown, yardstick, measured, skipped };
}

async function prepare(contestants: readonly Contestant[]) {
  const available: Contestant[] = [];
  const versions: Record<string, string> = {};
  const skipped: Skipped[] = [];
  for (const contestant of contestants) {
    const { name } = contestant;
    const found = await contestant.prepare();
    if (found.available) {
      available.push(contestant);
      versions[name] = found.version;
    } else {
      say(`${name} is left out: ${found.reason}`);
      skipped.push({ contestant: name, row: 'all', reason: found.reason });
    }
  }
  return { available, versions, skipped };
}

async function write(results: Results): Promise<void> {
  const page = await readFile(pagePath, 'utf8');
  await writeFile(pagePath, pageWith(page, results));
  const before = await readBaseline();
  const ratios = { ...before?.ratios, ...ratiosIn(results) };
  const newest = Object.values(results).map(({ date }) => date);
  const baseline: Baseline = { date: newest.sort().at(-1) ?? '', machine: machineHere(), ratios };
  await writeFile(baselinePath, await format(JSON.stringify(baseline), { parser: 'json', printWidth: 120 }));
  say('docs/performance.md and e2e/bench/baseline.json are written.');
}

/** The failures, as sentences. */
async function check(results: Results, names: readonly PartName[]): Promise<string[]> {
  const baseline = await readBaseline();
  if (baseline === null) return ['there is no baseline: npm run bench -- --check --write makes one'];
  const findings = compare(ratiosIn(results), baseline, names);
  for (const { ok, sentence } of findings) if (ok) print(`✓ ${sentence}`);
  return findings.filter(({ ok }) => !ok).map(({ sentence }) => sentence);
}

async function readBaseline(): Promise<Baseline | null> {
  const text = await readFile(baselinePath, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as Baseline);
}

/** What is going on, beside the table. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

// Ends what runs and removes what lies about, by what stands on `exit`.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
try {
  process.exitCode = await main(readOptions(process.argv.slice(2)));
} catch (error) {
  const usage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
  say(usage ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = usage ? 2 : 1;
}
