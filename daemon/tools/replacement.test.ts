import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replaceTexts, type TextEdit } from './replacement.ts';

const edit = (oldText: string, newText: string, everywhere = false): TextEdit => ({ oldText, newText, everywhere });

function replaced(file: string | Uint8Array, ...edits: TextEdit[]): string {
  const result = replaceTexts(Buffer.from(file as string), edits);
  return result.ok ? result.bytes.toString('utf8') : `problem: ${result.problem}`;
}

describe('C08: line ends are not compared, and stay', () => {
  const file = 'alpha\r\nbeta\r\ngamma';
  test('one place', () => expect(replaced(file, edit('alpha\nbeta', 'ALPHA\nBETA'))).toBe('ALPHA\r\nBETA\r\ngamma'));
  test('every place', () =>
    expect(replaced(file, edit('alpha\nbeta', 'ALPHA\nBETA', true))).toBe('ALPHA\r\nBETA\r\ngamma'));
  test('old text with CRLF on a file with LF', () =>
    expect(replaced('a\nb\nc', edit('a\r\nb', 'x\r\ny\r\nz'))).toBe('x\ny\nz\nc'));
  test('a new line beside the last one, which has no end', () =>
    expect(replaced(file, edit('gamma', 'gamma\ndelta'))).toBe('alpha\r\nbeta\r\ngamma\r\ndelta'));
  test('what stays equal keeps its own end in a mixed file', () => {
    expect(replaced('a\r\nb\nc\r\nd', edit('a\nb\nc\nd', 'a\nb\nX\nd'))).toBe('a\r\nb\nX\r\nd');
  });
  test('a file without line ends takes those it is given', () =>
    expect(replaced('one', edit('one', 'one\r\ntwo\r\n'))).toBe('one\r\ntwo\r\n'));
  test('a carriage return alone is a character', () => expect(replaced('a\rb\r\nc', edit('a\rb', 'x'))).toBe('x\r\nc'));
});

describe('TL3: a byte order mark stays and is not compared', () => {
  test('with CRLF and text that has neither', () =>
    expect(replaced('\ufeffone\r\ntwo\r\n', edit('one\ntwo', '1\n2'))).toBe('\ufeff1\r\n2\r\n'));
  test('when old and new text bring one', () =>
    expect(replaced('\ufeffone', edit('\ufeffone', '\ufefftwo'))).toBe('\ufefftwo'));
});

describe('C09: new text is literal', () => {
  test.each(['$&', '$$', '$`', "$'", '$1', '$<name>', '\\n', '\\1'])('%s', (text) => {
    expect(replaced('log("done");\n', edit('log("done");', `log("${text} ok");`))).toBe(`log("${text} ok");\n`);
    expect(replaced('x x', edit('x', text, true))).toBe(`${text} ${text}`);
  });
});

describe('TL4: bytes outside the edit stay', () => {
  test('a Latin-1 byte', () => {
    const result = replaceTexts(Buffer.from('caf\xe9\nold\nna\xefve', 'latin1'), [edit('old', 'néw')]);
    expect(result.ok && result.bytes).toEqual(
      Buffer.concat([Buffer.from('caf\xe9\n', 'latin1'), Buffer.from('néw'), Buffer.from('\nna\xefve', 'latin1')]),
    );
  });
  test('a combining form is neither composed nor taken for its composed form', () => {
    expect(replaced('cafe\u0301 a', edit('a', 'b'))).toMatch(/^problem:/); // also in "cafe"
    expect(replaced('cafe\u0301 x', edit('x', 'é'))).toBe('cafe\u0301 é');
    expect(replaced('cafe\u0301', edit('café', 'tea'))).toMatch(/differs from the file only in the Unicode form/);
  });
  test('NUL in the file or in the new text is refused', () => {
    expect(replaced('a\0b', edit('a', 'c'))).toMatch(/NUL bytes/);
    expect(replaced('ab', edit('a', '\0'))).toMatch(/NUL character/);
  });
  test('growing beyond the limit is refused', () => {
    expect(replaced('x'.repeat(1000), edit('x', 'y'.repeat(5000), true))).toMatch(/beyond 4 MiB/);
  });
});

describe('TL1: a batch is located in the original, all or nothing', () => {
  test('edits do not see each other', () => expect(replaced('a b c', edit('a', 'b'), edit('b', 'a'))).toBe('b a c'));
  test('order of the edits does not matter', () =>
    expect(replaced('a b c', edit('c', '3'), edit('a', '1'))).toBe('1 b 3'));
  test('neighbours may touch', () => expect(replaced('ab', edit('b', '2'), edit('a', '1'))).toBe('12'));
  test('a missing one names itself and the nearest text', () => {
    expect(
      replaced('function sum(a, b) {\n  return a + b;\n}\n', edit('sum', 'add'), edit('  return a - b;', 'x')),
    ).toBe(
      'problem: Edit 2 of 2: oldText was not found. Line 2 of the file is "  return a + b;" where oldText has "  return a - b;". ' +
        'Nearest text:\n2\t  return a + b;',
    );
  });
  test('an ambiguous one names the lines', () => {
    expect(replaced('x\ny\nx\n', edit('x', 'z'))).toMatch(/there 2 times \(lines 1, 3\)/);
    expect(replaced('aaa', edit('aa', 'b'))).toMatch(/there 2 times/);
  });
  test('overlapping ones are named', () =>
    expect(replaced('one\ntwo\nthree', edit('one\ntwo', '1'), edit('two\nthree', '2'))).toMatch(
      /^problem: Edit 2 of 2 overlaps edit 1 of 2 in line 2/,
    ));
  test('the same one twice overlaps itself', () =>
    expect(replaced('one', edit('one', '1'), edit('one', '1'))).toMatch(/overlaps/));
  test('empty old text', () => expect(replaced('one', edit('', '1'))).toMatch(/oldText is empty/));
  test('no change', () =>
    expect(replaced('one\r\ntwo', edit('one\r\ntwo', 'one\ntwo'))).toMatch(/Nothing would change/));
  test('an empty file', () => expect(replaced('', edit('one', '1'))).toMatch(/The file is empty/));
});

describe('the nearest text helps', () => {
  test.each([
    ['indentation', 'if (x) {\n    go();\n}\n', 'if (x) {\n  go();\n}', /only in indentation/],
    ['trailing spaces', 'one  \ntwo\nthree\n', 'one\ntwo', /only in spaces at the ends/],
    ['quotes', 'say(“hi”)\n', 'say("hi")', /only in quotes/],
    ['case', 'Hello World\n', 'hello world', /only in upper and lower case/],
    ['line numbers from read', 'a\nb\n', '1\ta\n2\tb', /leave those out/],
    [
      'a line that is a little different',
      'alpha\nconst width = computeWidth(box);\nomega\n',
      'const width = computeWidth(node);',
      /Line 2 of the file/,
    ],
    ['nothing alike', 'alpha\nbeta\n', 'zzzzqqqq', /No line of the file comes close/],
  ])('%s', (_, file, oldText, says) => {
    expect(replaced(file, edit(oldText, 'x'))).toMatch(says);
  });
  test('in a large file with little work', () => {
    const file = Array.from(
      { length: 60_000 },
      (_, line) => `const value${line} = compute(${line}, "some text that is long enough");`,
    ).join('\n');
    const from = process.cpuUsage();
    expect(replaced(file, edit('const valve = computed(77, "other text that is long enough");', 'x'))).toMatch(
      /Nearest text/,
    );
    expect(process.cpuUsage(from).user).toBeLessThan(2_000_000);
  });
});

describe('compared with plain strings', () => {
  const piece = fc
    .array(fc.constantFrom('a', 'b', '\n', '$&', '$$', 'é', 'e\u0301', '😀', ' ', '\t', '{', '\ufffd'), {
      maxLength: 30,
    })
    .map((parts) => parts.join(''));
  const count = (text: string, part: string) => {
    let places = 0;
    for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) places++;
    return places;
  };

  test('one edit in LF, CRLF, with and without a mark, as a string would be replaced', () => {
    fc.assert(
      fc.property(piece, piece, piece, piece, fc.boolean(), fc.boolean(), (before, old, after, now, returns, mark) => {
        const text = before + old + after;
        fc.pre(old !== '' && old !== now && text.includes('\n') && count(text, old) === 1);
        const form = (value: string) => (mark ? '\ufeff' : '') + (returns ? value.replaceAll('\n', '\r\n') : value);
        expect(replaced(form(text), edit(old, now))).toBe(form(before + now + after));
      }),
      { numRuns: 2_000 },
    );
  });

  test('every place, as split and join would', () => {
    fc.assert(
      fc.property(
        piece,
        piece,
        fc.array(fc.constantFrom('a', 'b', 'é', '\n'), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (text, now, parts, returns) => {
          const old = parts.join('');
          const wanted = text.split(old).join(now);
          fc.pre(text.includes(old) && text.includes('\n') && wanted !== text);
          const form = (value: string) => (returns ? value.replaceAll('\n', '\r\n') : value);
          expect(replaced(form(text), edit(old, now, true))).toBe(form(wanted));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('any bytes around stay', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (before, after) => {
        const [head, tail] = [before, after].map((bytes) =>
          Buffer.from(bytes.map((byte) => (byte === 0 ? 1 : byte))),
        ) as [Buffer, Buffer];
        const result = replaceTexts(Buffer.concat([head, Buffer.from('«old»'), tail]), [edit('«old»', '«new»')]);
        expect(result.ok && result.bytes).toEqual(Buffer.concat([head, Buffer.from('«new»'), tail]));
      }),
      { numRuns: 1_000 },
    );
  });
});
