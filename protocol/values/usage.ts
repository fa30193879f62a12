/**
 * Tokens as a provider reported them. Null means "not reported", which is never zero. `input` counts everything that was sent, cached or
 * not; `cacheRead` and `cacheWrite` are parts of it. `output` counts everything that came, `reasoning` is a part of it.
 */
import { z } from '../schema.ts';

const tokens = z.nullable(z.int().check(z.nonnegative()));
export const usage = z.object({
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  reasoning: tokens,
});
export type Usage = z.infer<typeof usage>;

/** Sums over steps. `unknownSteps` counts the replies (failed attempts too) whose usage never came: the sums are then a lower bound. */
const count = z.int().check(z.nonnegative());
export const usageTotals = z.readonly(
  z.object({
    input: count,
    output: count,
    cacheRead: count,
    cacheWrite: count,
    reasoning: count,
    steps: count,
    unknownSteps: count,
  }),
);
export type UsageTotals = z.infer<typeof usageTotals>;

export const noUsage: UsageTotals = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  steps: 0,
  unknownSteps: 0,
};

/** Adds one attempt's usage; `null` is an attempt whose usage never came. */
export function addUsage(totals: UsageTotals, one: Usage | null): UsageTotals {
  const known = one !== null && one.input !== null && one.output !== null;
  return {
    input: totals.input + (one?.input ?? 0),
    output: totals.output + (one?.output ?? 0),
    cacheRead: totals.cacheRead + (one?.cacheRead ?? 0),
    cacheWrite: totals.cacheWrite + (one?.cacheWrite ?? 0),
    reasoning: totals.reasoning + (one?.reasoning ?? 0),
    steps: totals.steps + 1,
    unknownSteps: totals.unknownSteps + (known ? 0 : 1),
  };
}

export function addTotals(one: UsageTotals, other: UsageTotals): UsageTotals {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    reasoning: one.reasoning + other.reasoning,
    steps: one.steps + other.steps,
    unknownSteps: one.unknownSteps + other.unknownSteps,
  };
}
