import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { rows } from '../rows.ts';
import { benchFiles, sharesIn, type BenchReport } from './micro.ts';

const report = (fullName: string, benchmarks: BenchReport['files'][0]['groups'][0]['benchmarks']): BenchReport => ({
  files: [{ groups: [{ fullName, benchmarks }] }],
});

test('a group of a bench is the share of its limit that we reach; other groups are no rows', () => {
  const benchmarks = [
    { name: 'ours', median: 4 },
    { name: 'limit: zstd', median: 3 },
  ];
  const named = report('daemon/log/frame.bench.ts > micro.write-page: events to a frame', benchmarks);
  expect([...sharesIn(named)]).toEqual([['micro.write-page', 0.75]]);
  expect([...sharesIn(report('daemon/log/frame.bench.ts > frames by wasm', benchmarks))]).toEqual([]);
});

test('a group without a limit, or that did not run, is told and not left out', () => {
  const name = 'daemon/log/frame.bench.ts > micro.append: one delta';
  expect(() => sharesIn(report(name, [{ name: 'ours', median: 4 }]))).toThrow('micro.append');
  expect(() => sharesIn(report(name, [{ name: 'ours' }, { name: 'limit: zstd', median: 3 }]))).toThrow('micro.append');
});

test('every group of the bench files has its row, and every row its group', () => {
  const sources = benchFiles.map((file) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8'));
  const whole = sources.join('\n');
  // A name that a table fills in stands in the table.
  const groups = [...whole.matchAll(/describe\('(micro\.[a-z-]+):|^ {2}\['([a-z-]+)', '/gm)];
  const ids = groups.map(([, id, filled]) => id ?? `micro.${filled ?? ''}`);
  const known = rows.filter(({ part }) => part === 'micro').map(({ id }) => id);
  expect(ids.toSorted()).toEqual(known.toSorted());
});
