/** One-time codes (US10): each works once, for ten minutes, and five wrong tries in all void what was open. */
import { expect, test } from 'vitest';
import { maxWrongCodes, pairingMs, typedCodeLength } from '#protocol/limits.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { Pairings, typedAlphabet } from './pairing.ts';

function open() {
  const clock = new ManualClock();
  return { clock, pairings: new Pairings(clock) };
}

test('a link carries 128 bits; a typed code has eight characters that cannot be confused', () => {
  const { code, typed } = open().pairings.create();
  expect(Buffer.from(code, 'base64url')).toHaveLength(16);
  expect(typed).toMatch(new RegExp(`^[${typedAlphabet}]{4}-[${typedAlphabet}]{4}$`));
  expect(typed.replace('-', '')).toHaveLength(typedCodeLength);
});

test('either form works once, and ends the other', () => {
  const { pairings } = open();
  const first = pairings.create();
  expect([pairings.redeem(first), pairings.redeem(first), pairings.redeem({ typed: first.typed })]).toEqual([
    true,
    false,
    false,
  ]);
  const second = pairings.create();
  expect([pairings.redeem({ typed: second.typed }), pairings.redeem(second)]).toEqual([true, false]);
});

test('case, dashes and spaces of a typed code do not count', () => {
  const { pairings } = open();
  const typed = pairings.create().typed.toLowerCase().replace('-', '').split('').join(' - ');
  expect(pairings.redeem({ typed: ` ${typed} ` })).toBe(true);
});

test('a typed code is no link code and the other way round', () => {
  const { pairings } = open();
  const { code, typed } = pairings.create();
  expect([pairings.redeem({ code: typed }), pairings.redeem({ typed: code })]).toEqual([false, false]);
});

test('a code ends after ten minutes', () => {
  const { clock, pairings } = open();
  const [first, second] = [pairings.create(), pairings.create()];
  expect(second.expiresAt).toBe(clock.now() + pairingMs);
  clock.advance(pairingMs - 1);
  expect(pairings.redeem(first)).toBe(true);
  clock.advance(1);
  expect(pairings.redeem(second)).toBe(false);
});

test('four wrong tries leave a code alone; the fifth voids all that were open, a later one is not touched', () => {
  const { pairings } = open();
  const guess = () => pairings.redeem({ typed: 'AAAA-AAAA' });
  const [first, second, third] = [pairings.create(), pairings.create(), pairings.create()];
  for (let n = 1; n < maxWrongCodes; n += 1) guess();
  expect(pairings.redeem(first)).toBe(true);
  const late = pairings.create();
  guess();
  expect([pairings.redeem(second), pairings.redeem(third)]).toEqual([false, false]);
  expect(pairings.redeem(late)).toBe(true);
});
