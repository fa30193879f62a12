import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cut, maxOpening, openingWords, withoutMarkdown } from './opening.ts';

const text = (words: string, name?: string) => ({
  type: 'text' as const,
  text: words,
  ...(name !== undefined && { name }),
});

it.each([
  ['## Fix the **cart** total', 'Fix the cart total'],
  ['> - [x] see [the issue](https://example.com/a_(b)) now', 'see the issue now'],
  ['1. run `npm test` and __look__', 'run npm test and look'],
  ['![a plan](plan.png) of it', 'a plan of it'],
  ['rename snake_case_name to *camel*', 'rename snake_case_name to camel'],
  ['2 * 3 * 4 is what', '2 * 3 * 4 is what'],
  ['<https://example.com/x> is down', 'https://example.com/x is down'],
  ['~~old~~ new', 'old new'],
  ['```ts', ''],
])('UI4: %s is called %s', (line, words) => {
  expect(withoutMarkdown(line)).toBe(words);
});

it('UI4: the opening is the first line with words; code fences and rules are passed over', () => {
  expect(openingWords([text('\n---\n```\nnpm test\n```\nWhy does this fail?')])).toBe('npm test');
  expect(openingWords([text('***')])).toBe('***');
  expect(openingWords([text('  \n ')])).toBeNull();
});

it('UI4: words come before what is attached; attachments alone are called by their name', () => {
  expect(openingWords([text('line one', 'notes.txt'), text('Look at this')])).toBe('Look at this');
  expect(openingWords([text('line one', 'notes.txt')])).toBe('notes.txt');
});

it('UI4: a cut never splits a character, an accent from its letter, or a joined emoji', () => {
  const family = '👨‍👩‍👧‍👦';
  expect(cut(`abc${family}de`, 8)).toBe('abc…');
  expect(cut('abe\u0301fgh', 4)).toBe('ab…');
  expect(cut('👍🏽👍🏽👍🏽', 4)).toBe('👍🏽…');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 2, max: 100 }), (words, limit) => {
      const short = cut(words, limit);
      expect([...short].length).toBeLessThanOrEqual(Math.max(limit, 1));
      expect(short).not.toMatch(/\p{Cs}/u);
      if (short !== words) expect(words.startsWith(short.slice(0, -1))).toBe(true);
    }),
  );
});

it('UI4: a long opening is bounded', () => {
  expect([...(openingWords([text('word '.repeat(100))]) ?? '')].length).toBeLessThanOrEqual(maxOpening);
});
