/**
 * `alcove storage`: what the home holds on the disk, by kind. `alcove storage free` removes what nobody needs. Both work beside a running
 * daemon and without one. Exit code 0.
 */
import { systemClock } from '../base/clock.ts';
import { homePaths } from '../base/files.ts';
import { collect } from '../session/storage/collect.ts';
import { amountOf, storedFiles, type Amount, type StoredKind } from '../session/storage/stored.ts';
import { endWithReader } from './reader.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from './usage-error.ts';

const kinds: readonly (readonly [StoredKind, string])[] = [
  ['logs', 'Sessions'],
  ['indexes', 'Their indexes'],
  ['blobs', 'Pictures and documents'],
  ['spills', 'Whole outputs of commands'],
  ['torn', 'Cut ends of logs'],
  ['leftovers', 'Left by crashes'],
  ['catalogue', 'The list of sessions'],
  ['diagnostics', 'The daemon’s own log'],
];

export interface StorageOptions {
  dryRun?: boolean;
  outputs?: boolean;
  torn?: boolean;
  json?: boolean;
}

export async function storage(
  around: Surroundings,
  action: string | undefined,
  options: StorageOptions,
): Promise<number> {
  endWithReader();
  if (action === undefined) return list(around, options);
  if (action === 'free') return free(around, options);
  throw new UsageError('Use "storage" or "storage free".');
}

async function list(around: Surroundings, options: StorageOptions): Promise<number> {
  for (const name of ['dryRun', 'outputs', 'torn'] as const)
    if (options[name] === true)
      throw new UsageError(`--${name === 'dryRun' ? 'dry-run' : name} belongs to "storage free".`);
  const files = await storedFiles(homePaths(around.home));
  const amounts = kinds.map(([kind, words]) => ({
    kind,
    words,
    amount: amountOf(files.filter((one) => one.kind === kind)),
  }));
  const total = amountOf(files);
  if (options.json === true) {
    const parts = Object.fromEntries(amounts.map(({ kind, amount }) => [kind, amount]));
    process.stdout.write(`${JSON.stringify({ home: around.home, ...parts, total })}\n`);
    return 0;
  }
  process.stdout.write(`${around.home}\n`);
  for (const { words, amount } of [...amounts, { words: 'In all', amount: total }])
    process.stdout.write(row(words, amount));
  return 0;
}

async function free(around: Surroundings, options: StorageOptions): Promise<number> {
  const dryRun = options.dryRun === true;
  const allOf = new Set([
    ...(options.outputs === true ? (['spills'] as const) : []),
    ...(options.torn === true ? (['torn'] as const) : []),
  ]);
  const { freed, blobsKept } = await collect(homePaths(around.home), {
    now: systemClock.now(),
    signal: new AbortController().signal,
    dryRun,
    allOf,
  });
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ home: around.home, dryRun, freed, blobsKept })}\n`);
    return 0;
  }
  process.stdout.write(dryRun ? 'This would be freed:\n' : 'Freed:\n');
  for (const [kind, words] of kinds)
    if (kind in freed) process.stdout.write(row(words, freed[kind as keyof typeof freed]));
  if (blobsKept !== null) process.stdout.write(`${blobsKept}.\n`);
  return 0;
}

function row(words: string, { files, bytes }: Amount): string {
  return `  ${words.padEnd(28)}${sizeOf(bytes).padStart(10)}  ${files === 1 ? '1 file' : `${files} files`}\n`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1] ?? ''}`;
}
