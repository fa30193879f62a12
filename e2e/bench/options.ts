/** The words behind `npm run bench --`, read: what they are for stands above main.ts. */
import { parseArgs } from 'node:util';
import { messageOf } from '../../daemon/base/errors.ts';
import { checkedRows } from './check.ts';
import type { PartName } from './rows.ts';

/** What the checks compare Alcove to; nothing has to be brought for it. */
const yardsticks = ['floor', 'direct', 'alcove'];
/** What the rows say of. */
const usualSteps = 20;

export interface Options {
  readonly parts: readonly PartName[];
  readonly contestants: readonly string[];
  readonly runs: number;
  readonly steps: number;
  readonly check: boolean;
  readonly write: boolean;
  readonly report: boolean;
  /** What the results are kept as: those of a check and of a trial are no figures for the table. */
  readonly kind: 'results' | 'check' | 'trial';
  /** A file of one's own for them. */
  readonly results: string | null;
}

export class UsageError extends Error {}

export function readOptions(
  words: readonly string[],
  known: { readonly parts: readonly PartName[]; readonly contestants: readonly string[] },
): Options {
  const values = parse(words);
  const { check, write, report } = values;
  const runs = count('runs', values.runs, check ? 3 : 5);
  const steps = count('steps', values.steps, usualSteps);
  const trial = steps !== usualSteps;
  if (trial && (check || write)) throw new UsageError('--steps is for trials: neither checked nor written.');
  const checkable = known.parts.filter((name) => checkedRows([name]).length > 0);
  return {
    parts: chosen('part', values.part, known.parts, check ? checkable : known.parts),
    contestants: chosen('contestants', values.contestants, known.contestants, check ? yardsticks : known.contestants),
    runs,
    steps,
    check,
    write,
    report,
    kind: check ? 'check' : trial ? 'trial' : 'results',
    results: values.results ?? null,
  };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
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
    }).values;
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
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
