/** The stamps that latencies are made of: each is found once, however its text was cut. */
import { expect, it } from 'vitest';
import { stampFinder } from './streaming.ts';

const text = '@1200@ word0 @1300@ word1 a@b.c @x@ @1400@ word2 ';

it('finds every stamp once and in order, wherever the text is cut in two', () => {
  for (let cut = 0; cut <= text.length; cut += 1) {
    const find = stampFinder();
    expect([...find(text.slice(0, cut)), ...find(text.slice(cut))], `cut at ${cut}`).toEqual([1200, 1300, 1400]);
  }
});

it('finds them in a text that comes letter by letter, also behind long pieces', () => {
  const find = stampFinder();
  const long = `@1@ ${'leaf '.repeat(100)}${text}`;
  expect([...long].flatMap((letter) => find(letter))).toEqual([1, 1200, 1300, 1400]);
});
