/**
 * How long to wait before the next try to connect. Doubles from 0.3 s, which a person hardly notices, to 15 s, which a daemon that is down
 * for an hour can bear from every open tab; jittered, so that tabs that lost it together do not come back together.
 */
const firstMs = 300;
const longestMs = 15_000;

/** `attempt` counts from 1; `random` is in [0, 1). Answers between half and the whole of the step. */
export function backoffMs(attempt: number, random: number): number {
  const step = Math.min(longestMs, firstMs * 2 ** (attempt - 1));
  return Math.round(step / 2 + (step / 2) * random);
}
