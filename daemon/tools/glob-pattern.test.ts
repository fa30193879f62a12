import { expect, test } from 'vitest';
import { globPattern } from './glob-pattern.ts';

test.each([
  ['*.ts', ['a.ts', 'x/y/a.ts'], ['a.tsx', 'a.ts/b']],
  ['./src/*.ts', ['src/a.ts'], ['src/x/a.ts', 'a.ts']],
  ['src/**/*.ts', ['src/a.ts', 'src/x/y/a.ts'], ['lib/src/a.ts']],
  ['**/x/**', ['x/a', 'b/x/c/d'], ['a/y']],
  ['src/', ['src/a', 'src/b/c'], ['lib/src/a']],
  ['?.{js,t{s,sx}}', ['a.js', 'a.ts', 'a.tsx'], ['ab.ts', 'a.t']],
  ['[a-c]x[!0-9]', ['axb', 'cxx'], ['dxb', 'ax1']],
  ['[]x]', [']', 'x'], ['y']],
  ['\\*.ts', ['*.ts'], ['a.ts']],
  ['a[', ['a['], ['a']],
  ['[[]x].ts', ['[x].ts'], ['x.ts']],
])('%s', (pattern, matching, others) => {
  const { matches } = globPattern(pattern);
  expect(matching.filter((path) => !matches(path))).toEqual([]);
  expect(others.filter(matches)).toEqual([]);
});

test('a pattern that names something hidden wants hidden files', () => {
  expect(['.github/**', 'a/.x', '{.a,b}', '**/.eslintrc*'].map((one) => globPattern(one).namesHidden)).not.toContain(
    false,
  );
  expect(['./a', '../a', '*.ts', '**'].map((one) => globPattern(one).namesHidden)).not.toContain(true);
});

test('many stars take no time', () => {
  const from = performance.now();
  expect(globPattern(`${'*a'.repeat(40)}b`).matches('a'.repeat(4000))).toBe(false);
  expect(globPattern(`${'**/a/'.repeat(40)}b`).matches('a/'.repeat(1000))).toBe(false);
  expect(performance.now() - from).toBeLessThan(1000);
});
