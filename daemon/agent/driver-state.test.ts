import { expect, test } from 'vitest';
import { next, type DriverSignal, type DriverState } from './driver-state.ts';

const states: DriverState[] = ['idle', 'running', 'pausing', 'paused', 'aborting'];

/** Each state, and where each signal leads from it; what is not here means nothing there. */
const table: Record<DriverState, Partial<Record<DriverSignal, DriverState>>> = {
  idle: { wake: 'running', paused: 'paused' },
  running: { rest: 'idle', pause: 'pausing', paused: 'paused', abort: 'aborting' },
  pausing: { paused: 'paused', rest: 'idle', resume: 'running', abort: 'aborting' },
  paused: { wake: 'running', resume: 'running', abort: 'aborting' },
  aborting: { aborted: 'idle', rest: 'idle', paused: 'paused' },
};
const signals: DriverSignal[] = ['wake', 'rest', 'pause', 'paused', 'resume', 'abort', 'aborted'];

test.each(states.flatMap((state) => signals.map((signal) => [state, signal] as const)))(
  'RT12 %s, %s',
  (state, signal) => {
    expect(next(state, signal)).toBe(table[state][signal] ?? null);
  },
);
