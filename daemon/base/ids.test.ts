import { expect, test } from 'vitest';
import { sessionId, timeOfId } from '#protocol/values/ids.ts';
import { misfit } from '#protocol/schema.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { newId, SystemIds } from './ids.ts';

test('ids only grow: within a millisecond, past the counter, and when the clock is set back', () => {
  const clock = new ManualClock();
  const ids = new SystemIds(clock);
  const made: string[] = [];
  for (let count = 0; count < 10_000; count += 1) made.push(ids.uuid7());
  clock.advance(-60_000);
  for (let count = 0; count < 100; count += 1) made.push(ids.uuid7());
  clock.advance(120_000);
  for (let count = 0; count < 100; count += 1) made.push(ids.uuid7());
  expect(made).toEqual([...made].sort());
  expect(new Set(made).size).toBe(made.length);
});

test('an id says when it was made and fits the schema of its noun', () => {
  const clock = new ManualClock();
  const id = newId('ses', new SystemIds(clock));
  expect(timeOfId(id)).toBe(clock.now());
  expect(misfit(sessionId, id)).toBeNull();
});
