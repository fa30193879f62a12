import { describe, expect, it } from 'vitest';
import { ansiSpans, withoutAnsi } from './ansi.ts';

const esc = '\u001b';
/** Text with what is not plain about it. */
const read = (text: string) =>
  ansiSpans(text).map(({ text: shown, style, mark }) => {
    const set = Object.entries(style).filter(([, value]) => value !== null && value !== false);
    return [
      shown,
      ...set.map(([name, value]) => (value === true ? name : `${name} ${String(value)}`)),
      ...(mark === null ? [] : [mark]),
    ];
  });

describe('command output', () => {
  it.each([
    ['plain\ntext', [['plain\ntext']]],
    [`${esc}[31mred${esc}[0m plain`, [['red', 'colour red'], [' plain']]],
    [`${esc}[1;4;92mok${esc}[22;24;39m.`, [['ok', 'colour bright-green', 'bold', 'underline'], ['.']]],
    [
      `${esc}[38;5;208mo${esc}[48;2;1;2;3mb`,
      [
        ['o', 'colour #ff8700'],
        ['b', 'colour #ff8700', 'background #010203'],
      ],
    ],
    [`${esc}[38:2::255:0:0mr`, [['r', 'colour #ff0000']]],
    [`${esc}[7minverse`, [['inverse', 'colour black', 'background white']]],
    [`${esc}[mx${esc}[;3my`, [['x'], ['y', 'italic']]],
    [`${esc}[38;5mz`, [['z', 'colour black']]],
  ])('%j has its colours', (text, spans) => {
    expect(read(text)).toEqual(spans);
  });

  it.each([
    ['cursor', `a${esc}[2K${esc}[1;1Hb`],
    ['title', `a${esc}]0;evil\u0007b`],
    ['link', `a${esc}]8;;http://x.example${esc}\\b`],
    ['mode', `a${esc}[?25lb`],
    ['character set', `a${esc}(Bb`],
    ['cut sequence', `ab${esc}[38;5`],
    ['cut title', `ab${esc}]0;evil`],
  ])('a %s sequence leaves nothing behind', (_name, text) => {
    expect(read(text)).toEqual([['ab']]);
    expect(withoutAnsi(text)).toBe('ab');
  });

  it('a line that is written over shows what it came to', () => {
    expect(read('start\n 10%\r 50%\r100%\ndone')).toEqual([['start\n100%\ndone']]);
    expect(read(`a\r${esc}[32mb`)).toEqual([['b', 'colour green']]);
    expect(read('dos\r\nlines\r\n')).toEqual([['dos\nlines\n']]);
  });

  it('control characters are drawn', () => {
    expect(read('bell\u0007')).toEqual([['bell'], ['\u2407', 'control character U+0007']]);
  });
});
