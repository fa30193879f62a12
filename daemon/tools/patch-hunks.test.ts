import { structuredPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyHunks } from './patch-hunks.ts';
import { parsePatch, type Hunk } from './patch-text.ts';

function hunksOf(text: string): readonly Hunk[] {
  const [file] = parsePatch(`*** Begin Patch\n*** Update File: a\n${text}\n*** End Patch`);
  return file?.kind === 'update' ? file.hunks : [];
}

function patched(file: string, hunks: string): string {
  const result = applyHunks(Buffer.from(file), hunksOf(hunks));
  return result.ok ? result.bytes.toString() : `refused: ${result.problem}`;
}

describe('hunks', () => {
  test.each([
    ['a line replaced', 'a\nb\nc\n', ' a\n-b\n+B', 'a\nB\nc\n'],
    ['several hunks', 'a\nb\nc\nd\ne\n', '@@\n-a\n+A\n@@\n d\n-e', 'A\nb\nc\nd\n'],
    ['hunks in another order', 'a\nb\nc\n', '@@\n-c\n+C\n@@\n-a\n+A', 'A\nb\nC\n'],
    ['new lines alone, at the end', 'a\n', '@@\n+b', 'a\nb\n'],
    ['new lines below the line that is named', 'a\nb\n', '@@ a\n+x', 'a\nx\nb\n'],
    ['new lines and space before what follows', 'a\n\nb\n', '@@\n+c\n', 'a\n\nb\nc\n'],
    ['lines into an empty file', '', '@@\n+a\n+b', 'a\nb\n'],
    ['all lines taken out', 'a\nb\n', '-a\n-b', ''],
    ['an empty line at the end of a hunk that is not in the file', 'a\nb\n', '-a\n+A\n\n@@\n-b\n+B\n', 'A\nB\n'],
    ['spaces at the ends of lines', 'a  \nb\n', ' a\n-b\n+B', 'a  \nB\n'],
    ['indentation', '\tif x:\n\t\ty\n', ' if x:\n-y\n+\t\tz', '\tif x:\n\t\tz\n'],
    ['typographic signs', 'it’s — here\nb\n', " it's - here\n-b\n+B", 'it’s — here\nB\n'],
    ['the place by the lines named above', 'f:\n x\ng:\n x\n', '@@ g:\n- x\n+ y', 'f:\n x\ng:\n y\n'],
    ['the place by two lines named', 'A\nf\nx\nB\nf\nx\n', '@@ B\n@@ f\n-x\n+y', 'A\nf\nx\nB\nf\ny\n'],
    [
      'the place by the beginning of a line',
      'class A(B):\n x\nclass C:\n x\n',
      '@@ class C\n- x\n+ y',
      'class A(B):\n x\nclass C:\n y\n',
    ],
    ['the place by the order of the hunks', 'x\nm\nx\n', '@@\n-m\n+M\n@@\n-x\n+y', 'x\nM\ny\n'],
    ['the place by the end of the file', 'x\nm\nx\n', '-x\n+y\n*** End of File', 'x\nm\ny\n'],
  ])('TL8: %s', (_, file, hunks, wanted) => {
    expect(patched(file, hunks)).toBe(wanted);
  });

  test.each([
    ['CRLF', 'a\r\nb\r\n', ' a\n-b\n+B\n+C', 'a\r\nB\r\nC\r\n'],
    ['a mixture, as the line before has it', 'a\r\nb\nc\n', ' a\n+x\n b\n+y\n c', 'a\r\nx\r\nb\ny\nc\n'],
    ['no newline at the end', 'a\nb', ' a\n-b\n+B', 'a\nB'],
    ['no newline at the end of a file that grows', 'a', ' a\n+b', 'a\nb'],
    ['a byte order mark', '\ufeffa\n', '-a\n+b', '\ufeffb\n'],
    ['a carriage return within a line', 'a\rb\nc\n', '-c\n+d', 'a\rb\nd\n'],
  ])("TL8: the file's own form stays: %s", (_, file, hunks, wanted) => {
    expect(patched(file, hunks)).toBe(wanted);
  });

  test('TL8: bytes that are not UTF-8 stay as they are', () => {
    const result = applyHunks(Buffer.from('\xff\xfe\nb\n', 'latin1'), hunksOf('-b\n+ä'));
    expect(
      result.ok && result.bytes.equals(Buffer.concat([Buffer.from('\xff\xfe\n', 'latin1'), Buffer.from('ä\n')])),
    ).toBe(true);
  });

  test.each([
    ['two places', 'x\nm\nx\n', '-x\n+y', 'refused: Its hunk fits in several places (from lines 1, 3). Add unchanged'],
    ['no place', 'alpha\nbeta\n', '-alpho\n+y', 'refused: Its hunk was not found'],
    [
      'a line named that is not there',
      'alpha\nx\n',
      '@@ gamma\n-x\n+y',
      'refused: Its hunk names a line after "@@" that is not there: "gamma".',
    ],
    [
      'a place above the line named',
      'x\nalpha\n',
      '@@ alpha\n-x\n+y',
      'refused: Its hunk fits from line 1, but not below the line',
    ],
    [
      'a place that is not at the end',
      'x\nm\n',
      '-x\n+y\n*** End of File',
      'refused: Its hunk fits from line 1, but not at the end of the file.',
    ],
    [
      'two hunks on one line',
      'a\nb\nc\n',
      '@@\n a\n-b\n@@\n-b\n c',
      'refused: Hunk 2 of 2 fits only from line 2, which overlaps',
    ],
    ['a binary file', 'a\0\n', '-a\n+b', 'refused: The file holds NUL bytes'],
  ])('TL8: refused in words: %s', (_, file, hunks, problem) => {
    expect(patched(file, hunks)).toContain(problem);
  });

  test('TL8: a hunk that is not found is answered with the nearest lines', () => {
    expect(patched('one\nsecond line\nthree\n', ' one\n-secnod line\n+2')).toBe(
      'refused: Its hunk was not found: its unchanged and removed lines must be in the file as they are. ' +
        'Line 2 of the file is "second line" where the hunk has "secnod line". Nearest text:\n1\tone\n2\tsecond line',
    );
  });
});

/** A patch as a model would write it, made from two versions of a file. */
function patchBetween(before: readonly string[], after: readonly string[], context: number): string {
  const { hunks } = structuredPatch('a', 'a', before.join(''), after.join(''), undefined, undefined, { context });
  const lines = hunks.map((hunk) => hunk.lines.filter((line) => !line.startsWith('\\')).join('\n'));
  return lines.map((text) => `@@\n${text}`).join('\n');
}

const words = fc.constantFrom('', ' ', 'a', 'b', '  a', 'ä', '}', '+x', '@@ y', '*** End Patch', 'a ');
const file = (line: fc.Arbitrary<string>) =>
  fc.record({
    lines: fc.array(line, { minLength: 1, maxLength: 30 }),
    changes: fc.array(fc.tuple(fc.nat(), fc.constantFrom('replace', 'insert', 'delete'), words), {
      minLength: 1,
      maxLength: 5,
    }),
    end: fc.constantFrom('\n', '\r\n'),
    mark: fc.constantFrom('', '\ufeff'),
  });

function changed(lines: readonly string[], changes: readonly (readonly [number, string, string])[]): string[] {
  const after = [...lines];
  for (const [where, how, word] of changes) {
    const at = where % (after.length + 1);
    if (how === 'insert') after.splice(at, 0, word);
    else if (at < after.length) after.splice(at, 1, ...(how === 'replace' ? [word] : []));
  }
  return after;
}

const whole = (lines: readonly string[], end: string, mark: string) => mark + lines.map((line) => line + end).join('');

test('TL8: a patch made from two versions of any file gives the second from the first, or is refused as unclear', () => {
  let applied = 0;
  fc.assert(
    fc.property(file(words), fc.integer({ min: 1, max: 3 }), ({ lines, changes, end, mark }, context) => {
      const after = changed(lines, changes);
      const hunks = patchBetween(
        lines.map((line) => `${line}\n`),
        after.map((line) => `${line}\n`),
        context,
      );
      fc.pre(hunks !== '');
      const result = patched(whole(lines, end, mark), hunks);
      if (result.startsWith('refused: ')) expect(result).toMatch(/fits in several places/);
      else {
        expect(result).toBe(whole(after, end, mark));
        applied += 1;
      }
    }),
    { numRuns: 500 },
  );
  expect(applied).toBeGreaterThan(100);
});

test('TL8: where each line is there once, such a patch always applies; with one old line corrupted, never', () => {
  const numbered = fc
    .array(words, { minLength: 1, maxLength: 30 })
    .map((all) => all.map((word, index) => `${index}: ${word}`));
  fc.assert(
    fc.property(file(fc.constant('')), numbered, fc.nat(), ({ changes, end, mark }, lines, which) => {
      const after = changed(
        lines,
        changes.map(([at, how, word], index) => [at, how, `new ${index} ${word}`] as const),
      );
      const hunks = patchBetween(
        lines.map((line) => `${line}\n`),
        after.map((line) => `${line}\n`),
        3,
      );
      fc.pre(hunks !== '');
      const before = whole(lines, end, mark);
      expect(patched(before, hunks)).toBe(whole(after, end, mark));
      const rows = hunks.split('\n');
      const old = rows.flatMap((row, index) => (/^[ -]\d/.test(row) ? [index] : []));
      fc.pre(old.length > 0);
      const at = old[which % old.length] as number;
      rows[at] = `${(rows[at] as string)[0] as string}~corrupt~`;
      expect(patched(before, rows.join('\n'))).toMatch(/^refused: .* was not found/);
    }),
    { numRuns: 300 },
  );
});
