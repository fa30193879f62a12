import { expect, it } from 'vitest';
import { age, amount, dollars, duration, elapsed } from './time.ts';

const now = Date.UTC(2026, 10, 30, 12);
const minute = 60_000;

it('durations', () => {
  const took = [0, 49, 12_400, 19_949, 19_951, 41_000, 59_499, 59_600, 125_000, 3_599_600, 3_840_000].map(duration);
  expect(took).toEqual([
    ...['0.0 s', '0.0 s', '12.4 s', '19.9 s', '20 s', '41 s', '59 s', '1 min 00 s', '2 min 05 s', '1 h 00 min'],
    '1 h 04 min',
  ]);
});

it('what goes on is counted in whole seconds', () => {
  expect([-5, 999, 61_000, 3_661_000].map(elapsed)).toEqual(['0 s', '0 s', '1 min 01 s', '1 h 01 min']);
});

it('ages', () => {
  const at = [0, 9_000, 40_000, 3 * minute, 120 * minute, 3 * 1440 * minute, 16 * 1440 * minute, 400 * 1440 * minute];
  expect(at.map((ms) => age(now - ms, now))).toEqual([
    'now',
    'now',
    '40 s',
    '3 m',
    '2 h',
    'Fri',
    '14 Nov',
    '26 Oct 2025',
  ]);
  expect(age(now + minute, now)).toBe('now');
});

it('amounts and money', () => {
  expect([0, 950, 18_400, 99_949, 200_000, 1_200_000].map(amount)).toEqual([
    '0',
    '950',
    '18.4k',
    '99.9k',
    '200k',
    '1.2M',
  ]);
  expect([0, 0.001, 0.03, 12.4].map(dollars)).toEqual(['$0.00', 'under $0.01', '$0.03', '$12.40']);
});
