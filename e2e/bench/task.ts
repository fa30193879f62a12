/**
 * One task that a contestant does without a person: so many steps, each of which runs `echo k`. The time of a step is that from the end of the
 * provider's reply to the arrival of the next request: reading the reply, running the command, keeping both, and making the request.
 */
import { join } from 'node:path';
import type { BenchPlace, Contestant } from './contestant.ts';
import type { BenchProvider, ProviderRequest } from './provider/provider.ts';
import { timed, type Meter, type TimedRun } from './timed-run.ts';

export interface Task {
  readonly run: TimedRun;
  /** All of them, side requests too. */
  readonly requests: readonly ProviderRequest[];
  /** Milliseconds of each step. */
  readonly steps: readonly number[];
}

/** Throws where the task was not done: a quick failure is no figure. */
export async function work(
  { provider, meter }: { readonly provider: BenchProvider; readonly meter: Meter },
  contestant: Contestant,
  place: BenchPlace,
  count: number,
  timeoutMs = 3 * 60_000,
): Promise<Task> {
  const line = contestant.headless?.(place, `STEPS=${count} go on`);
  if (line === undefined) throw new Error('it cannot be run without a person');
  await provider.reset();
  const run = await timed(line, { meter, scratch: join(place.home, '..'), timeoutMs });
  const requests = await provider.requests();
  const main = mainOf(requests);
  const told = run.output.trim().split('\n').slice(-3).join(' ').slice(0, 300);
  const results = main.slice(1).filter(({ lastResult }) => lastResult?.includes('k') === true).length;
  if (run.code !== 0 || main.length !== count + 1 || results !== count)
    throw new Error(`${results} of ${count} steps were done, exit ${run.code ?? 'by a signal'}: ${told}`);
  const steps = main.slice(1).map((request, at) => (request.arrivedAt - (main[at]?.endedAt ?? NaN)) / 1000);
  return { run, requests, steps };
}

/** Those of the conversation itself. */
export function mainOf(requests: readonly ProviderRequest[]): ProviderRequest[] {
  return requests.filter(({ side }) => !side);
}
