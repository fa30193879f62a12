/** What the bench makes of its figures: the check that must fail when it should, and the table that must not say more than was measured. */
import { describe, expect, test } from 'vitest';
import { checkedRows, compare, ratiosIn, type Baseline } from './check.ts';
import type { Measured } from './contestant.ts';
import { pageWith, reached, tableBegins, tableEnds, tablesOf } from './report.ts';
import type { PartResult, Results } from './results.ts';
import { partNames, rowOf, rows } from './rows.ts';

const machine = { processor: 'a processor', cores: 2, memoryGiB: 8, system: 'Linux 6', node: '20.19.0' };

function part(measured: readonly Measured[], more: Partial<PartResult> = {}): PartResult {
  return {
    date: '2026-12-01T03:48:00Z',
    machine,
    runs: 3,
    quick: false,
    versions: { floor: 'Node 20.19.0', alcove: '0.1.0' },
    yardstick: { start: 50, step: 5 },
    measured,
    skipped: [],
    ...more,
  };
}

/** Every row of the headless part, with these milliseconds for a step of Alcove's. */
function headless(stepMs: number, without?: string): Results {
  const both = (id: string, ours: number[], floors: number[]): Measured[] => [
    { id, contestant: 'alcove', values: ours },
    { id, contestant: 'floor', values: floors },
  ];
  const measured = [
    ...both('headless.step', [stepMs + 1, stepMs, stepMs + 90], [11, 10, 12]),
    ...both('headless.growth', [1.2], [1]),
    ...both('headless.start', [200], [100]),
    ...both('headless.cpu', [0.6], [0.3]),
    ...both('headless.memory', [100], [80]),
    ...both('headless.request', [5000], [200]),
    ...both('headless.disk', [0.5], [1]),
  ];
  return { headless: part(measured.filter(({ id }) => id !== without)) };
}

const baseline: Baseline = { date: '2026-12-01T03:48:00Z', machine, ratios: ratiosIn(headless(14)) };

const failed = (results: Results) =>
  compare(ratiosIn(results), baseline, ['headless']).flatMap(({ row, ok }) => (ok ? [] : [row]));

describe('the check', () => {
  test('what is as it was passes, and so does what is better or within its tolerance', () => {
    expect(baseline.ratios['headless.step']).toBe(1.4);
    expect(failed(headless(14))).toEqual([]);
    expect(failed(headless(7))).toEqual([]);
    expect(failed(headless(14 * 1.25))).toEqual([]);
  });

  test('a ratio that is worse than its tolerance fails, and says by how much', () => {
    expect(failed(headless(14 * 1.4))).toEqual(['headless.step']);
    const [finding] = compare(ratiosIn(headless(20)), baseline, ['headless']);
    expect(finding?.sentence).toBe('time of a step, over 20 steps: 2.00 x floor, the baseline 1.40, the limit 1.82');
  });

  test('a run that a neighbour disturbed does not count, as long as another was not', () => {
    const { headless: quiet } = headless(14);
    const disturbed = quiet!.measured.map((one) =>
      one.id === 'headless.start' ? { ...one, values: [one.values[0]! * 5, ...one.values] } : one,
    );
    expect(failed({ headless: part(disturbed) })).toEqual([]);
  });

  test('a machine that is slower as a whole passes: only the ratio counts', () => {
    const { headless: quiet } = headless(14);
    const slow = part(
      quiet!.measured.map((one) =>
        /step|start|cpu/.test(one.id) ? { ...one, values: one.values.map((value) => value * 3) } : one,
      ),
    );
    expect(failed({ headless: slow })).toEqual([]);
  });

  test('a row that is missing fails, and so does one whose reference is missing or that the baseline does not hold', () => {
    expect(failed(headless(14, 'headless.disk'))).toEqual(['headless.disk']);
    expect(failed({})).toEqual(checkedRows(['headless']).map(({ id }) => id));
    const alone = part(headless(14).headless!.measured.filter(({ contestant }) => contestant === 'alcove'));
    expect(failed({ headless: alone })).toEqual(['headless.step', 'headless.start', 'headless.cpu', 'headless.memory']);
    const empty = { ...baseline, ratios: {} };
    expect(compare(ratiosIn(headless(14)), empty, ['headless']).every(({ ok }) => !ok)).toBe(true);
  });

  test('a row of a server is held against the floor that was measured around its part', () => {
    const serve = part([{ id: 'serve.start', contestant: 'alcove', values: [150] }], {
      yardstick: { start: 60, step: 6 },
    });
    expect(ratiosIn({ serve })).toEqual({ 'serve.start': 2.5 });
  });

  test('where more is better, less fails, by one of ten', () => {
    const kills = (share: number) => ({
      kills: part(
        ['kills.tool', 'kills.reply', 'kills.acknowledged'].map((id) => ({
          id,
          contestant: 'alcove',
          values: [share],
        })),
      ),
    });
    const whole = { ...baseline, ratios: ratiosIn(kills(1)) };
    expect(compare(ratiosIn(kills(1)), whole, ['kills']).every(({ ok }) => ok)).toBe(true);
    expect(compare(ratiosIn(kills(0.9)), whole, ['kills']).every(({ ok }) => !ok)).toBe(true);
  });
});

describe('the rows', () => {
  test('each is there once, and what it is compared to stands in the same part', () => {
    const ids = rows.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { part: own, target, check } of rows) {
      const references = [target?.of, typeof check?.against === 'string' ? undefined : check?.against];
      for (const reference of references)
        if (reference?.row !== undefined) expect(rowOf(reference.row)?.part).toBe(own);
    }
    expect(partNames).toEqual(expect.arrayContaining(rows.map((row) => row.part)));
  });
});

describe('the table', () => {
  test('tells medians with their spread, who took part, what was missed, and who was left out and why', async () => {
    const results = headless(14);
    results.headless = part(results.headless!.measured, {
      skipped: [{ contestant: 'qwen', row: 'all', reason: 'npm has\nno network' }],
    });
    const text = await tablesOf(results);
    expect(text).toContain('2026-12-01, medians of 3 (least–most).');
    expect(text).toContain('Alcove 0.1.0, floor Node 20.19.0');
    const line = text.split('\n').find((one) => one.includes('time of a step')) ?? '';
    const cells = line.split('|').map((cell) => cell.trim());
    expect(cells).toEqual([
      '',
      'time of a step, over 20 steps, ms',
      '≤ 1.5 × floor',
      '15 (14–104)',
      '1.36 ×, yes',
      '11 (10–12)',
      '',
    ]);
    const start = text.split('\n').find((one) => one.includes('start to the first request')) ?? '';
    expect(start).toContain('not compared');
    expect(text).toContain('**no**'); // This sample grows by a fifth over its steps.
    expect(text).toContain('Left out: Qwen Code in all: npm has no network.');
  });

  test('a target is reached at its bound, and not beyond', () => {
    const row = rowOf('headless.step')!;
    const verdict = (stepMs: number) => reached(headless(stepMs).headless!, row)?.met;
    expect(verdict(15.5)).toBe(true);
    expect(verdict(15.6)).toBe(false);
  });

  test('the page keeps all that stands around its table', () => {
    const page = `# Before\n\n${tableBegins}\n\nold\n\n${tableEnds}\n\n## Misses\n\nKept.\n`;
    const written = pageWith(page, headless(14));
    expect(written.startsWith(`# Before\n\n${tableBegins}\n\n### A task without a person\n`)).toBe(true);
    expect(written.endsWith(`${tableEnds}\n\n## Misses\n\nKept.\n`)).toBe(true);
    expect(written).not.toContain('old');
    expect(pageWith(written, headless(14))).toBe(written);
    expect(() => pageWith('# Without a place\n', {})).toThrow('no place');
  });
});
