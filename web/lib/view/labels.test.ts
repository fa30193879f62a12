import { expect, it } from 'vitest';
import { noUsage } from '#protocol/values/usage.ts';
import { costWords, firstLines, inputWords, sizeWords, tokenWords, turnEndWords } from './labels.ts';
import { pageTitle } from './title.ts';

const usage = { ...noUsage, input: 18_000, output: 400, steps: 2 };
const turn = { files: 2, added: 14, removed: 3, calls: 3, durationMs: 41_000, usage, cost: 0.03, unknownCost: 0 };

it('the end of a turn', () => {
  expect(turnEndWords(turn)).toEqual(['2 files +14 -3', '3 tools', '41 s', '18.4k tok', '$0.03']);
  expect(turnEndWords({ ...turn, files: 0, calls: 0, usage: noUsage })).toEqual(['41 s']);
});

it('what is not known is never a zero', () => {
  expect(tokenWords({ ...noUsage, steps: 1, unknownSteps: 1 })).toBe('tokens unknown');
  expect(tokenWords({ ...usage, unknownSteps: 1 })).toBe('at least 18.4k tok');
  expect(costWords({ cost: 0, unknownCost: 1 })).toBe('cost unknown');
  expect(costWords({ cost: 0.5, unknownCost: 1 })).toBe('at least $0.50');
  expect(costWords({ cost: 0, unknownCost: 0 })).toBe('$0.00');
});

it('the title says how many need the person', () => {
  expect([pageTitle(2, 'Coupons'), pageTitle(0, 'Coupons'), pageTitle(1, null)]).toEqual([
    '(2) Coupons, Alcove',
    'Coupons, Alcove',
    '(1) Alcove',
  ]);
});

it('says how long a text is that did not come by itself, and shows its first lines', () => {
  const blob = { sha256: 'a'.repeat(64), bytes: 303_104 };
  expect(
    inputWords([
      { type: 'text', text: 'look' },
      { type: 'text-blob', blob },
    ]),
  ).toBe('look\n303 KB of text');
  expect([sizeWords(12), sizeWords(1_250_000)]).toEqual(['12 bytes', '1.3 MB']);
  expect(firstLines('1\n2')).toBe('1\n2');
  expect(firstLines('line\n'.repeat(100)).split('\n')).toHaveLength(8);
  expect(firstLines('x'.repeat(10_000))).toHaveLength(801);
});

it('says once that nothing is known of the usage', () => {
  const quiet = { files: 0, added: 0, removed: 0, calls: 0, durationMs: 1000, cost: 0, unknownCost: 1 };
  expect(turnEndWords({ ...quiet, usage: { ...noUsage, steps: 1, unknownSteps: 1 } })).toEqual([
    '1.0 s',
    'usage unknown',
  ]);
});
