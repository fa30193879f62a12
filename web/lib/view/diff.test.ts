import { expect, it } from 'vitest';
import { diffRows, type DiffRow } from './diff.ts';

/** `[ ]` around words that are marked. */
const read = (rows: DiffRow[]) =>
  rows.map((row) => {
    if (row.type === 'hunk' || row.type === 'note') return `${row.type} ${row.text}`;
    const text = row.marks.map((mark) => (mark.changed ? `[${mark.text}]` : mark.text)).join('');
    return `${row.before ?? ' '} ${row.after ?? ' '} ${row.type} ${text}`;
  });

it('lines have their numbers, and the words that differ are marked', () => {
  const diff = [
    '--- a/src/cart.ts',
    '+++ b/src/cart.ts',
    '@@ -7,3 +7,4 @@ export function total(',
    ' const rate = 0.2;',
    '-return round2(subtotal * rate - coupon);',
    '+return round2(net * rate - coupon);',
    '+// done',
    ' }',
    '\\ No newline at end of file',
    '',
  ].join('\n');
  expect(read(diffRows(diff))).toEqual([
    'hunk @@ -7,3 +7,4 @@ export function total(',
    '7 7 context const rate = 0.2;',
    '8   removed return round2([subtotal] * rate - coupon);',
    '  8 added return round2([net] * rate - coupon);',
    '  9 added // done',
    '9 10 context }',
    'note No newline at end of file',
  ]);
});

it('a line and its successor are compared where there are as many of each', () => {
  const diff = '@@ -1,2 +1,2 @@\n-let one = 1;\n-keep this line, old\n+let one = 2;\n+keep this line, new\n';
  expect(read(diffRows(diff))).toEqual([
    'hunk @@ -1,2 +1,2 @@',
    '1   removed let one = [1];',
    '2   removed keep this line, [old]',
    '  1 added let one = [2];',
    '  2 added keep this line, [new]',
  ]);
});

it('one line that became two is compared with the one that it is most like', () => {
  const diff = [
    '@@ -8 +8,2 @@',
    '-return round2(subtotal * (1 + rate) - coupon);',
    '+const net = Math.max(0, subtotal - coupon);',
    '+return round2(net * (1 + rate));',
  ].join('\n');
  expect(read(diffRows(diff)).slice(1)).toEqual([
    '8   removed return round2([subtotal] * (1 + rate)[ - coupon]);',
    '  8 added const net = Math.max(0, subtotal - coupon);',
    '  9 added return round2([net] * (1 + rate));',
  ]);
});

it('counterparts keep their order, though another pair would be more alike', () => {
  const diff =
    '@@ -1,2 +1,2 @@\n-alpha beta gamma one\n-delta epsilon two\n+delta epsilon three\n+alpha beta gamma four\n';
  expect(read(diffRows(diff)).slice(1)).toEqual([
    '1   removed alpha beta gamma [one]',
    '2   removed delta epsilon two',
    '  1 added delta epsilon three',
    '  2 added alpha beta gamma [four]',
  ]);
});

it('a rewrite of much is not marked word by word', () => {
  const lines = (sign: string, word: string): string => `${sign}a line with ${word} in it\n`.repeat(200);
  const rows = diffRows(`@@ -1,200 +1,200 @@\n${lines('-', 'one')}${lines('+', 'two')}`);
  expect(rows.some((row) => 'marks' in row && row.marks.some((mark) => mark.changed))).toBe(false);
});

it('lines that have little in common are not marked word by word', () => {
  const rows = diffRows('@@ -1 +1 @@\n-completely different words here\n+nothing shared at all\n');
  expect(read(rows).slice(1)).toEqual([
    '1   removed completely different words here',
    '  1 added nothing shared at all',
  ]);
});

it('lines that look like the head of a diff are lines where they stand in one', () => {
  const rows = diffRows('@@ -1,2 +1,2 @@\n--- old list\n+++ new list\n @@ -1 +1 @@\n@@ -9 +9 @@\n-a\n+b\n');
  expect(read(rows)).toEqual([
    'hunk @@ -1,2 +1,2 @@',
    '1   removed [--] [old] list',
    '  1 added [++] [new] list',
    '2 2 context @@ -1 +1 @@',
    'hunk @@ -9 +9 @@',
    '9   removed a',
    '  9 added b',
  ]);
});

it('a new file begins at line one', () => {
  expect(read(diffRows('--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+one\n+two\n')).slice(1)).toEqual([
    '  1 added one',
    '  2 added two',
  ]);
});

it('what is no diff gives no rows', () => {
  expect(diffRows('')).toEqual([]);
  expect(diffRows('Binary files differ')).toEqual([]);
});
