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

test('what is too large, or too different, has counts only, and soon', () => {
  const lines = (count: number, word: string) =>
    Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join('');
  const from = performance.now();
  expect(diff(lines(20_000, 'old'), lines(20_000, 'new'))).toEqual({ added: 20_000, removed: 20_000, text: null });
  const large = 'x'.repeat(maxDiffBytes);
  expect(diff(`a\n${large}`, `b\n${large}`)).toEqual({ added: 1, removed: 1, text: null });
  expect(performance.now() - from).toBeLessThan(5_000);
});
