/**
 * `--strategy`: how a run comes to its end. react goes on until the model calls no more tools; single is one step without tools; plan works the
 * plan out in plan mode, has it reviewed, and carries it out, in one command. What is said here is what the run asks of the session.
 */
import type { Mode } from '#protocol/values/model.ts';
import { nearest } from '#protocol/values/nearest.ts';
import { UsageError } from './usage-error.ts';

const strategies = ['react', 'single', 'plan'] as const;
export type Strategy = (typeof strategies)[number];

export interface Way {
  readonly strategy: Strategy;
  /** The mode that the session is set to; null: as it is. */
  readonly mode: Mode | null;
  /** In which mode a plan is carried out without asking anybody; null: a person decides. */
  readonly accepts: 'ask' | 'auto' | null;
}

export function readWay(given: { strategy: string | null; mode: Mode | null; yes: boolean }, onTerminal: boolean): Way {
  const { mode, yes } = given;
  const strategy = strategyOf(given.strategy ?? 'react');
  if (strategy !== 'plan') {
    if (yes) throw new UsageError('--yes accepts a plan: it goes with --strategy plan.');
    return { strategy, mode, accepts: null };
  }
  if (mode === 'plan')
    throw new UsageError('--strategy plan begins in plan mode; --mode says how the plan is carried out: ask or auto.');
  if (yes || (mode === 'auto' && !onTerminal)) {
    // Where nobody can be asked, a plan that is carried out asking would be denied every change.
    return { strategy, mode: 'plan', accepts: mode ?? (onTerminal ? 'ask' : 'auto') };
  }
  if (!onTerminal)
    throw new UsageError(
      'Somebody has to accept the plan: run this in a terminal, or accept it beforehand with --yes (carries it out by itself, as --mode auto does).',
    );
  return { strategy, mode: 'plan', accepts: null };
}

function strategyOf(name: string): Strategy {
  const known = strategies.find((one) => one === name);
  if (known !== undefined) return known;
  const meant = nearest(name, strategies);
  const hint = meant === null ? '' : ` Did you mean ${meant}?`;
  throw new UsageError(`There is no strategy "${name}".${hint} Strategies: ${strategies.join(', ')}.`);
}
