/**
 * Whether Alcove has become worse: each row that can be looked at in minutes is a ratio (rows.ts), and is held against that of the baseline. A
 * row that is missing is as bad as one that is worse, for else a part that breaks would look like one that passes.
 */
import { rows, type PartName, type Row } from './rows.ts';
import { figureOf, type Machine, type PartResult, type Results } from './results.ts';

const ours = 'alcove';

export interface Baseline {
  /** Of the newest run that wrote into it. */
  readonly date: string;
  readonly machine: Machine;
  readonly ratios: Readonly<Record<string, number>>;
}

export interface Finding {
  readonly row: string;
  readonly ok: boolean;
  readonly sentence: string;
}

export function checkedRows(parts: readonly PartName[]): Row[] {
  return rows.filter(({ part, check }) => check !== null && parts.includes(part));
}

/**
 * What is compared: the best of Alcove's runs to the best of what the check of its row names, as neighbours on a busy machine only ever make
 * a run worse. Null where either is missing.
 */
function checkedRatio(result: PartResult, row: Row): number | null {
  const own = best(result, row, row.id, ours);
  if (row.check === null || own === null) return null;
  const { against } = row.check;
  if (against === null) return own;
  if (typeof against === 'string') return own / result.yardstick[against];
  const other = best(result, row, against.row ?? row.id, against.contestant);
  return other === null || other === 0 ? null : own / other;
}

function best(result: PartResult, { better }: Row, id: string, contestant: string): number | null {
  const figure = figureOf(result, id, contestant);
  if (figure === null) return null;
  return better === 'less' ? figure.least : figure.most;
}

export function ratiosIn(results: Results): Record<string, number> {
  const ratios: Record<string, number> = {};
  for (const row of rows) {
    const result = results[row.part];
    const ratio = result === undefined ? null : checkedRatio(result, row);
    if (ratio !== null) ratios[row.id] = Number(ratio.toPrecision(4));
  }
  return ratios;
}

export function compare(ratios: Readonly<Record<string, number>>, baseline: Baseline, parts: readonly PartName[]) {
  return checkedRows(parts).map((row) => judge(row, ratios[row.id], baseline.ratios[row.id]));
}

function judge(row: Row, now: number | undefined, then: number | undefined): Finding {
  const tolerance = row.check?.tolerance ?? 0;
  const found = (ok: boolean, sentence: string): Finding => ({
    row: row.id,
    ok,
    sentence: `${row.words}: ${sentence}`,
  });
  if (now === undefined) return found(false, 'it was not measured');
  if (then === undefined) return found(false, 'the baseline does not hold it; --write puts it there');
  const limit = row.better === 'less' ? then * (1 + tolerance) : then * (1 - tolerance);
  const ok = row.better === 'less' ? now <= limit : now >= limit;
  const to = againstWords(row);
  return found(
    ok,
    `${now.toPrecision(3)}${to}, the baseline ${then.toPrecision(3)}, the limit ${limit.toPrecision(3)}`,
  );
}

function againstWords({ check, unit }: Row): string {
  const against = check?.against ?? null;
  if (against === null) return ` ${unit}`;
  return ` x ${typeof against === 'string' ? `the floor's ${against}` : against.contestant}`;
}
