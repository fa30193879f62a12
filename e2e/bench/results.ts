/**
 * What a run of the bench leaves: for each part its measured rows, with all that must be known to read them. A part is measured anew as a whole,
 * so a figure and what it is compared to are always of one run; parts of several runs stand side by side, each with its date.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem, type } from 'node:os';
import { dirname } from 'node:path';
import type { Measured } from './contestant.ts';
import { median, spread } from './measure.ts';
import type { PartName, Reference, Row } from './rows.ts';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
}

export interface Skipped {
  readonly contestant: string;
  /** A row, or the beginning of the names of several. */
  readonly row: string;
  readonly reason: string;
}

/** What the floor took around a part at best, in milliseconds: to its first request, and for a step. */
export interface Yardstick {
  readonly start: number;
  readonly step: number;
}

export interface PartResult {
  /** As `2026-12-01T03:48:00Z`. */
  readonly date: string;
  readonly machine: Machine;
  readonly runs: number;
  readonly quick: boolean;
  readonly versions: Readonly<Record<string, string>>;
  readonly yardstick: Yardstick;
  readonly measured: readonly Measured[];
  readonly skipped: readonly Skipped[];
}

export type Results = Partial<Record<PartName, PartResult>>;

export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function figureOf(result: PartResult, id: string, contestant: string): Figure | null {
  const values = result.measured.find((one) => one.id === id && one.contestant === contestant)?.values ?? [];
  return values.length === 0 ? null : { median: median(values), ...spread(values) };
}

/** How a contestant stands to what the row is compared to; null where one of the two is not there. */
export function ratioTo(result: PartResult, row: Row, contestant: string, reference: Reference): number | null {
  const own = figureOf(result, row.id, contestant);
  const other = figureOf(result, reference.row ?? row.id, reference.contestant);
  return own === null || other === null || other.median === 0 ? null : own.median / other.median;
}

export function machineHere(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown processor',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    system: `${type()} ${release()}`,
    node: process.version.slice(1),
  };
}

/** None where there is no such file. */
export async function readResults(file: string): Promise<Results> {
  const text = await readFile(file, 'utf8').catch(() => '{}');
  return JSON.parse(text) as Results;
}

export async function writeResults(file: string, results: Results): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
}
