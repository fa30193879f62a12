/**
 * Where time comes from. Everything that asks for the time is handed a Clock, so that a test can stand still and a replay says the same
 * thing twice; only the composition root names `systemClock`.
 */
export interface Clock {
  /** Milliseconds since the epoch. May go backwards when a person sets the machine's clock. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
