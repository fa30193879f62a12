/** Held against real files (the sources beside this one) and the mistakes that models make when they copy from one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeNearest } from './nearest.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const sources = readdirSync(folder)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .filter((text) => text.split('\n').length > 60);

interface Mistake {
  readonly name: string;
  /** Null where these lines cannot be got wrong so. */
  make(lines: string[]): string[] | null;
  readonly says: RegExp;
}

const changed = (lines: string[], change: (line: string) => string) => {
  const after = lines.map(change);
  return after.join('\n') === lines.join('\n') ? null : after;
};
const middle = (lines: string[]) => (lines.length < 3 ? null : Math.floor(lines.length / 2));

const mistakes: readonly Mistake[] = [
  {
    name: 'tabs for spaces',
    make: (lines) => changed(lines, (line) => line.replace(/^( {2})+/, (spaces) => '\t'.repeat(spaces.length / 2))),
    says: /differs from the file only in indentation: Line \d+ of the file begins with \d+ spaces? where oldText has \d+ tabs?\./,
  },
  {
    name: 'another indentation',
    make: (lines) => changed(lines, (line) => (line.startsWith('  ') ? `  ${line}` : line)),
    says: /only in indentation: Line \d+ of the file begins with \d+ spaces where oldText has \d+ spaces\./,
  },
  {
    name: 'spaces at the end',
    make: (lines) => lines.map((line) => `${line} `),
    says: /only in spaces at the ends of lines: Line \d+ of the file ends with no space where oldText has 1 space\./,
  },
  {
    name: 'typographic quotes',
    make: (lines) => changed(lines, (line) => line.replaceAll("'", '’')),
    says: /only in quotes, dashes or special spaces: Line \d+ of the file has "'" \(U\+0027\) where oldText has "’" \(U\+2019\)\./,
  },
  {
    name: 'HTML entities',
    make: (lines) =>
      changed(lines, (line) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')),
    says: /only in characters that are written as HTML entities/,
  },
  {
    name: 'escaped twice',
    make: (lines) => (lines.length < 2 || /\\/.test(lines.join('')) ? null : [lines.join('\\n')]),
    says: /escaped twice/,
  },
  {
    name: 'the line numbers of read',
    make: (lines) => lines.map((line, index) => `${index + 1}\t${line}`),
    says: /line numbers that read puts before each line: leave those out/,
  },
  {
    name: 'a line left out',
    make: (lines) => {
      const at = middle(lines);
      return at === null || lines[at]?.trim() === '' || lines[at + 1]?.trim() === '' ? null : lines.toSpliced(at, 1);
    },
    says: /Line \d+ of the file, ".*", is left out in oldText\.|Line \d+ of the file is/,
  },
  {
    name: 'a line made up',
    make: (lines) => {
      const at = middle(lines);
      return at === null || lines[at]?.trim() === '' ? null : lines.toSpliced(at, 0, '  const made = up();');
    },
    says: /Before line \d+ of the file oldText has a line that is not there: " {2}const made = up\(\);"\./,
  },
  {
    name: 'a word changed',
    make: (lines) => {
      const at = lines.findIndex((line) => /[a-z]{5}/.test(line));
      return at === -1 ? null : lines.with(at, (lines[at] as string).replace(/[a-z]{5}/, 'other'));
    },
    says: /Line \d+ of the file is ".*" where oldText has ".*"\./,
  },
];

/** A place in a file that is there once, of lines that say something. */
const excerpt = fc
  .tuple(fc.constantFrom(...sources), fc.nat(), fc.integer({ min: 1, max: 8 }))
  .map(([file, where, count]) => {
    const lines = file.split('\n');
    const start = where % (lines.length - count);
    return { file, start, lines: lines.slice(start, start + count) };
  })
  .filter(({ file, lines }) => lines.join('').length > 20 && file.split(lines.join('\n')).length === 2);

describe('a text that a model copied with a mistake', () => {
  test.each(mistakes)('$name: the answer says so, and shows the place', ({ make, says }) => {
    const tally = { right: 0, all: 0 };
    fc.assert(
      fc.property(excerpt, ({ file, start, lines }) => {
        const made = make(lines);
        fc.pre(made !== null && !file.includes(made.join('\n')));
        const told = describeNearest(file, made.join('\n'));
        const shown = /Nearest text:\n(\d+)\t/.exec(told);
        tally.all += 1;
        if (says.test(told) && (shown === null || Math.abs(Number(shown[1]) - 1 - start) <= 1)) tally.right += 1;
      }),
      { numRuns: 120, seed: 7 },
    );
    expect(tally.all).toBeGreaterThan(50);
    // Where lines repeat in a file another place can be as near; almost always it is the one that was meant.
    expect(tally.right / tally.all).toBeGreaterThan(0.85);
  });
});

describe('what is not seen is named', () => {
  test.each([
    [
      'composed and decomposed letters',
      'a café\n',
      'a cafe\u0301',
      /Unicode form .* has "é" \(U\+00E9\) where oldText has "e" \(U\+0065\)\./,
    ],
    ['a no-break space', 'at 3\u202fPM\n', 'at 3 PM', /has "\u202f" \(U\+202F\) where oldText has " " \(U\+0020\)\./],
    ['carriage returns as line ends', 'one\rtwo\rthree', 'one\ntwo', /end with a carriage return alone \(\\r\)/],
    [
      'a carriage return at the end of a line',
      'one\r\r\ntwo\n',
      'one\ntwo',
      /ends with 2 carriage returns|ends with 1 carriage return where oldText has no space/,
    ],
    [
      'a lone bracket far from what was meant',
      `f() {\n  a();\n}\n${'other();\n'.repeat(50)}g() {\n  return sum(one, two);\n}\n`,
      '  return sum(one, too);\n}',
      /Line 55 of the file is/,
    ],
  ])('%s', (_, file, wanted, says) => {
    expect(describeNearest(file.replaceAll('\r\n', '\n'), wanted)).toMatch(says);
  });
});

test('the largest file of the shortest lines is compared in bounded work', () => {
  const file = 'a\nb\n'.repeat(1024 * 1024);
  const from = process.cpuUsage();
  expect(describeNearest(file, Array.from({ length: 40 }, () => 'ab').join('\n'))).toMatch(
    /No line of the file comes close/,
  );
  expect(process.cpuUsage(from).user).toBeLessThan(10_000_000);
});
