import { describe, expect, it } from 'vitest';
import type { MachineId } from '#protocol/values/ids.ts';
import { backoffMs } from './backoff.ts';
import { close, drop, greet, open, refuse, retry, start, type ConnectionState } from './connection.ts';

const machine = { machineId: 'mac_1' as MachineId, name: 'laptop', version: '0.1.0' };
const world = { now: 50, online: true, reason: 'gone', delayMs: () => 300 };

const states: Record<ConnectionState['type'], ConnectionState> = {
  connecting: { type: 'connecting', attempt: 3, since: 10 },
  authenticating: { type: 'authenticating', machine, attempt: 3, since: 10 },
  open: { type: 'open', machine, bootId: 'boot', since: 10 },
  retrying: { type: 'retrying', attempt: 3, since: 10, at: 60, reason: 'gone' },
  offline: { type: 'offline', attempt: 3, since: 10, at: 60 },
  refused: { type: 'refused', reason: 'unpaired', message: 'not paired', machine },
  closed: { type: 'closed' },
};

describe('the state of the connection', () => {
  it('a first try that succeeds goes through connecting and authenticating', () => {
    const connecting = start(10);
    const authenticating = greet(connecting, machine);
    expect([connecting, authenticating, open(authenticating, 'boot', 20)]).toEqual([
      { type: 'connecting', attempt: 1, since: 10 },
      { type: 'authenticating', machine, attempt: 1, since: 10 },
      { type: 'open', machine, bootId: 'boot', since: 20 },
    ]);
  });

  it('a loss begins to count anew, a failed try counts on and remembers since when', () => {
    expect(drop(states.open, world)).toEqual({ type: 'retrying', attempt: 1, since: 50, at: 350, reason: 'gone' });
    expect(drop(states.connecting, world)).toEqual({
      type: 'retrying',
      attempt: 4,
      since: 10,
      at: 350,
      reason: 'gone',
    });
  });

  it('without a network the state says so and tries all the same', () => {
    const offline = drop(states.open, { ...world, online: false });
    expect(offline).toEqual({ type: 'offline', attempt: 1, since: 50, at: 350 });
    expect(retry(offline, 60)).toEqual({ type: 'connecting', attempt: 1, since: 50 });
  });

  it('what comes late changes nothing', () => {
    for (const late of [states.retrying, states.offline, states.refused, states.closed]) {
      expect(drop(late, world)).toBe(late);
      expect(greet(late, machine)).toBe(late);
      expect(open(late, 'boot', 20)).toBe(late);
    }
    expect(refuse(states.closed, 'version', 'other version', null)).toBe(states.closed);
  });

  it('only what waits is tried again', () => {
    const after = Object.values(states).map((state) => retry(state, 99).type);
    expect(after).toEqual(['connecting', 'authenticating', 'open', 'connecting', 'connecting', 'connecting', 'closed']);
    expect(close()).toEqual({ type: 'closed' });
  });

  it('tries become rarer up to fifteen seconds, never all at the same moment', () => {
    expect([1, 2, 3, 10].map((attempt) => [backoffMs(attempt, 0), backoffMs(attempt, 0.999)])).toEqual([
      [150, 300],
      [300, 600],
      [600, 1199],
      [7500, 14993],
    ]);
  });
});
