import { expect, test } from 'vitest';
import { maxDiffBytes } from '../base/limits.ts';
import { diffOf } from './diff.ts';

const diff = (before: string | null, after: string) =>
  diffOf('a.txt', before === null ? null : Buffer.from(before), Buffer.from(after));

test('a change has three lines of context and counts', () => {
  expect(diff('1\n2\n3\n4\n5\n6\n', '1\n2\n3\n4\nfive\n6\n')).toEqual({
    added: 1,
    removed: 1,
    text: '--- a/a.txt\n+++ b/a.txt\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+five\n 6\n',
  });
});

test('a new file is compared with nothing, and a missing last line end is told', () => {
  expect(diff(null, 'one')).toEqual({
    added: 1,
    removed: 0,
    text: '--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+one\n\\ No newline at end of file\n',
  });
});

test('binary content has no diff', () => expect(diff('a\0', 'b')).toEqual({ added: 0, removed: 0, text: null }));

test('what is too different is shown as replaced between the common start and end', () => {
  const lines = (count: number, word: string) =>
    Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join('');
  const [head, tail] = ['1\n2\n3\n4\n', '5\n6\n7\n8'];
  const shown = diff(head + lines(2_000, 'old') + tail, head + lines(1_999, 'new') + tail);
  expect(shown).toMatchObject({ added: 1_999, removed: 2_000 });
  const text = shown.text?.split('\n') ?? [];
  expect(text.slice(2, 7)).toEqual(['@@ -2,2006 +2,2005 @@', ' 2', ' 3', ' 4', '-old 0']);
  expect(text.slice(-5)).toEqual(['+new 1998', ' 5', ' 6', ' 7', '']);
  expect(diff(null, lines(3_000, 'new'))).toMatchObject({ added: 3_000, removed: 0 });
  expect(diff(null, lines(3_000, 'new')).text).toMatch(
    /^--- \/dev\/null\n\+\+\+ b\/a\.txt\n@@ -0,0 \+1,3000 @@\n\+new 0\n/,
  );
  expect(diff(lines(3_000, 'x'), `${lines(3_000, 'y')}z`).text).toMatch(/\n\+z\n\\ No newline at end of file\n$/);
});

test('what is too large has counts only', () => {
  const large = 'x'.repeat(maxDiffBytes);
  expect(diff(`a\n${large}`, `b\n${large}`)).toEqual({ added: 1, removed: 1, text: null });
});
