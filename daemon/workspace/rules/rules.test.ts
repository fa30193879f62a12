import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProjectId } from '#protocol/values/ids.ts';
import { systemClock } from '../../base/clock.ts';
import { SystemIds } from '../../base/ids.ts';
import { maxRules } from '../../base/limits.ts';
import { Rules } from './rules.ts';

const garden = 'prj_0190a0a0-0000-7000-8000-000000000001' as ProjectId;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'alcove-rules-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function opened(): Promise<Rules> {
  const { rules, corrupt } = await Rules.open(join(folder, 'rules.json'), systemClock, new SystemIds(systemClock));
  expect(corrupt).toBeNull();
  return rules;
}

test('rules keep their order over a restart; the same one again moves to the end, where it counts most', async () => {
  const first = await opened();
  const git = { tool: 'bash', pattern: 'git *', decision: 'allow' } as const;
  const push = { tool: 'bash', pattern: 'git push *', decision: 'deny' } as const;
  await first.write(garden, git);
  await first.write(garden, push);
  await first.write(garden, git);
  await first.close();
  const second = await opened();
  expect(second.list(garden)).toMatchObject([push, git]);
  expect(second.list('prj_0190a0a0-0000-7000-8000-000000000002' as ProjectId)).toEqual([]);
  await second.close();
});

test('a file from before rules had decisions is read as it was meant', async () => {
  const old = { ruleId: 'rul_1', projectId: garden, tool: 'bash', pattern: 'bash ls', madeAt: 1 };
  const other = await opened();
  await other.add(garden, { tool: 'write', pattern: 'write a' });
  const like = other.list(garden)[0]!;
  await other.close();
  writeFileSync(join(folder, 'rules.json'), JSON.stringify({ rules: [{ ...old, ruleId: like.ruleId }] }));
  const rules = await opened();
  expect(rules.list(garden)).toEqual([{ ...old, ruleId: like.ruleId }]);
  await rules.close();
});

test('a project has maxRules rules at most, and one more changes nothing', async () => {
  const rule = (n: number) => ({
    ruleId: `rul_0190a0a0-0000-7000-8000-${String(n).padStart(12, '0')}`,
    projectId: garden,
    tool: 't',
    pattern: `${n}`,
    decision: 'ask',
    madeAt: 1,
  });
  const all = Array.from({ length: maxRules - 1 }, (_, n) => rule(n));
  writeFileSync(join(folder, 'rules.json'), JSON.stringify({ rules: all }));
  const rules = await opened();
  await rules.write(garden, { tool: 't', pattern: 'last', decision: 'deny' });
  await expect(rules.write(garden, { tool: 't', pattern: 'more', decision: 'deny' })).rejects.toMatchObject({
    code: 'too_large',
  });
  expect(rules.list(garden)).toHaveLength(maxRules);
  await rules.close();
});
