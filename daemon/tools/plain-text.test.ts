import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PlainTextStream, withoutControls, withoutOverdrawn } from './plain-text.ts';

describe('terminal output as plain text', () => {
  test.each([
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['cursor moves', '\u001b[2K\u001b[1Gdone\u001b[?25h', 'done'],
    ['a title', '\u001b]0;title\u0007text', 'text'],
    ['a link', '\u001b]8;;https://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['a character set', '\u001b(Btext\u001b=', 'text'],
    ['a bell and a backspace', 'a\u0007b\u0008', 'ab'],
    ['tabs, lines and returns stay', 'a\tb\r\n', 'a\tb\r\n'],
    ['a sequence that never ends', 'a\u001b[', 'a['],
  ])('%s', (_, given, wanted) => expect(withoutControls(given)).toBe(wanted));

  test('a progress bar is what is seen in the end', () => {
    expect(withoutOverdrawn('start\r\n 10%\r 50%\r100%\nend\r')).toBe('start\n100%\nend');
  });

  test('a stream gives the same, wherever it is cut', () => {
    const units = fc.constantFrom(
      'a',
      'é',
      '😀',
      '\n',
      '\r',
      '\u001b[31m',
      '\u001b[0m',
      '\u001b]0;t\u0007',
      '\u001b(B',
      '\u001b]8;;x\u001b\\',
    );
    fc.assert(
      fc.property(fc.array(units, { maxLength: 20 }), fc.array(fc.nat(60), { maxLength: 6 }), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(''));
        const stream = new PlainTextStream();
        const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort((a, b) => a - b);
        let text = '';
        ends.forEach((end, index) => (text += stream.push(bytes.subarray(ends[index - 1] ?? 0, end))));
        expect(text + stream.end()).toBe(withoutControls(bytes.toString()));
      }),
      { numRuns: 2_000 },
    );
  });
});
