/**
 * `npm run bench`: measures Alcove beside what others run, each part with its contestants in turns, and prints the table.
 *
 *   --part headless,serve         only these parts
 *   --contestants floor,codex     only these contestants
 *   --runs 5                      counted runs of each
 *   --steps 3                     a trial with shorter tasks
 *   --check                       the cheap rows, held against the baseline; ends with 1 where one is worse or missing
 *   --write                       writes the table into docs/performance.md, and the ratios into the baseline
 *   --check --write               measures the cheap rows and makes them the baseline
 *   --report                      measures nothing: the table of what was measured last
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { compare, ratiosIn, type Baseline } from './check.ts';
import type { Bench, Contestant, Measured, Part } from './contestant.ts';
import { alcove } from './contestants/alcove.ts';
import { claudeCode } from './contestants/claude-code.ts';
import { codex } from './contestants/codex.ts';
import { direct } from './contestants/direct.ts';
import { floor } from './contestants/floor.ts';
import { opencode } from './contestants/opencode.ts';
import { pi } from './contestants/pi.ts';
import { qwen } from './contestants/qwen.ts';
import { readOptions, UsageError, type Options } from './options.ts';
import { Places } from './places.ts';
import { startProvider, type BenchProvider } from './provider/provider.ts';
import { pageWith, tablesOf } from './report.ts';
import { machineHere, readResults, writeResults, type PartResult, type Results, type Skipped } from './results.ts';
import { partNames, rowOf, type PartName } from './rows.ts';
import { findMeter } from './timed-run.ts';
import { Yard } from './yardstick.ts';

/** In the order in which they take turns. */
const everybody: readonly Contestant[] = [floor, direct, alcove, codex, claudeCode, pi, opencode, qwen];
/** Loaded when asked for: some bring a browser with them. */
const parts: Readonly<Partial<Record<PartName, () => Promise<Part>>>> = {
  headless: async () => (await import('./parts/headless.ts')).headless,
  serve: async () => (await import('./parts/serve.ts')).serve,
  streaming: async () => (await import('./parts/streaming.ts')).streaming,
  pixels: async () => (await import('./parts/pixels.ts')).pixels,
  history: async () => (await import('./parts/history.ts')).history,
  list: async () => (await import('./parts/list.ts')).list,
  load: async () => (await import('./parts/load.ts')).load,
  kills: async () => (await import('./parts/kills.ts')).kills,
  micro: async () => (await import('./parts/micro.ts')).micro,
};

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const pagePath = root('docs/performance.md');
const baselinePath = root('e2e/bench/baseline.json');

async function main(options: Options): Promise<number> {
  // A check is of one run; a table may be put together from several.
  const file = options.results ?? root(`test-results/bench/${options.kind}.json`);
  const results = options.check && !options.report ? {} : await readResults(file);
  let broken: string[] = [];
  if (!options.report) broken = await measure(options, results, file);
  print(await tablesOf(results));

  // A quick run is no table; its ratios are a baseline like any other's.
  if (options.write && !options.check) await writePage(results);
  if (options.write) await writeBaseline(results);
  const measured = Object.fromEntries(options.parts.map((name) => [name, results[name]])) as Results;
  const failures = [...broken, ...(options.check && !options.write ? await check(measured, options.parts) : [])];
  for (const failure of failures) print(`✗ ${failure}`);
  if (options.check && !options.write && failures.length === 0) print('Nothing is worse than the baseline allows.');
  return failures.length > 0 ? 1 : 0;
}

/** Measures the parts into the results, each as soon as it is done; a sentence for each that broke. */
async function measure(options: Options, results: Results, file: string): Promise<string[]> {
  const { available, versions, skipped } = await prepare(
    everybody.filter(({ name }) => options.contestants.includes(name)),
  );
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
        await writeResults(file, results);
        const strange = new Set(result.measured.map(({ id }) => id).filter((id) => rowOf(id) === null));
        for (const id of strange) broken.push(`${name}: rows.ts has no row ${id}`);
      } catch (error) {
        // What was measured before stands for another run, and must not be taken for this one.
        delete results[name];
        await writeResults(file, results);
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

async function writePage(results: Results): Promise<void> {
  const page = await readFile(pagePath, 'utf8');
  await writeFile(pagePath, pageWith(page, results));
  say('docs/performance.md is written.');
}

/** Rows that were not measured stay as they were. */
async function writeBaseline(results: Results): Promise<void> {
  const before = await readBaseline();
  const ratios = { ...before?.ratios, ...ratiosIn(results) };
  const newest = Object.values(results).map(({ date }) => date);
  const baseline: Baseline = { date: newest.sort().at(-1) ?? '', machine: machineHere(), ratios };
  await writeFile(baselinePath, await format(JSON.stringify(baseline), { parser: 'json', printWidth: 120 }));
  say('e2e/bench/baseline.json is written.');
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
  const known = {
    parts: partNames.filter((name) => parts[name] !== undefined),
    contestants: everybody.map(({ name }) => name),
  };
  process.exitCode = await main(readOptions(process.argv.slice(2), known));
} catch (error) {
  if (error instanceof UsageError) say(error.message);
  else say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
