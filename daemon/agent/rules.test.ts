import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Mode } from '#protocol/values/model.ts';
import { ToolScratch } from '../testing/tool-environment.ts';
import { bashTool } from '../tools/bash.ts';
import type { Assessment } from '../tools/tool.ts';
import { judge } from './approvals.ts';
import { rulingOn, type Allowed } from './rules.ts';

let scratch: ToolScratch;
beforeAll(() => {
  scratch = new ToolScratch();
});
afterAll(() => scratch.close());

const allow = (pattern: string, tool = 'bash'): Allowed => ({ tool, pattern, decision: 'allow' });
const ask = (pattern: string, tool = 'bash'): Allowed => ({ tool, pattern, decision: 'ask' });
const deny = (pattern: string, tool = 'bash'): Allowed => ({ tool, pattern, decision: 'deny' });

async function onCommand(command: string, rules: readonly Allowed[], mode: Mode = 'ask'): Promise<string> {
  const prepared = bashTool.prepare({ command });
  if ('problem' in prepared) throw new Error(prepared.problem);
  const assessment = (await prepared.assess(scratch.environment)) as Extract<Assessment, { effect: 'command' }>;
  const judged = judge(assessment, 'bash', mode, rules, 'garden');
  return judged.verdict === 'ask' && judged.caution ? 'ask!' : judged.verdict;
}

describe('PM4: a rule is held against every part of a command', () => {
  test.each<[string, readonly Allowed[], string]>([
    ['npm test', [], 'ask'],
    ['npm test', [allow('npm test *')], 'run'],
    ['npm test -- -g "one two"', [allow('npm test *')], 'run'],
    ['npm testing', [allow('npm test *')], 'ask'],
    ['npm test && npm run build', [allow('npm test *')], 'ask'],
    ['npm test && npm run build', [allow('npm *')], 'run'],
    ['timeout 60 npm test', [allow('npm test *')], 'run'],
    ['npm test > out.txt', [allow('npm test *')], 'ask'],
    ['npm test > out.txt', [allow('npm test *'), allow('> *.txt')], 'run'],
    ['npm test > /dev/null', [allow('npm test *')], 'run'],
    ['npm test $(touch x)', [allow('npm test *')], 'ask!'],
    ['npm test "$(touch x)"', [allow('npm test *')], 'ask!'],
    ['if true; then touch x; fi', [allow('true')], 'ask'],
    ['./npm test', [allow('npm *')], 'ask'],
    ['./timeout 5 npm test', [allow('npm *')], 'ask'],
    ['./bash run.sh', [allow('bash *')], 'ask'],
    ['/usr/bin/npm test', [allow('npm *')], 'run'],
    ['A=1', [allow('*')], 'ask'],
  ])('%s', async (command, rules, verdict) => {
    expect(await onCommand(command, rules)).toBe(verdict);
  });

  test('US4: allow git * does not cover what git is followed by, and deny rm * covers one with an assignment before it', async () => {
    expect(await onCommand('git log && curl x | sh', [allow('git *')])).toBe('ask!');
    expect(await onCommand('git fetch && curl x', [allow('git *')])).toBe('ask');
    expect(await onCommand('FOO=1 rm -rf x', [deny('rm *')])).toBe('refuse');
    expect(await onCommand('ls; (cd a && env X=1 /bin/rm b)', [deny('rm *')], 'auto')).toBe('refuse');
    expect(await onCommand('echo $(rm b)', [allow('*'), deny('rm *')], 'auto')).toBe('refuse');
  });

  test('PM4: of those that match, the last one counts', async () => {
    expect(await onCommand('git push', [allow('git *'), deny('git push *')])).toBe('refuse');
    expect(await onCommand('git push', [deny('git push *'), allow('git *')])).toBe('run');
    expect(await onCommand('git push', [allow('git *'), ask('git push *')], 'auto')).toBe('ask');
    // "Always" for this very call, given later, is a later word.
    expect(await onCommand('git push', [ask('git push *'), { tool: 'bash', pattern: 'bash git push' }])).toBe('run');
  });

  test('PM4: what destroys, and what cannot be read, asks whatever is allowed', async () => {
    for (const command of ['rm -rf x', 'sudo ls', 'eval "$X"', 'curl x | sh'])
      for (const mode of ['ask', 'auto'] as const)
        expect(await onCommand(command, [allow('*', '*')], mode)).toBe('ask!');
  });

  test('plan mode: a rule lets nothing change', async () => {
    expect(await onCommand('touch x', [allow('*', '*')], 'plan')).toBe('refuse');
    expect(await onCommand('./ls', [allow('*', '*')], 'plan')).toBe('refuse');
    expect(await onCommand('./env ls', [], 'plan')).toBe('refuse');
    expect(await onCommand('ls', [], 'plan')).toBe('run');
    expect(await onCommand('ls', [deny('*', '@shell')], 'plan')).toBe('refuse');
  });

  test('a pattern that "always" made is that call and no other, whatever stars it holds', async () => {
    const always = [{ tool: 'bash', pattern: 'bash npm run *' }];
    expect(await onCommand('npm run *', always)).toBe('run');
    expect(await onCommand('npm run build', always)).toBe('ask');
  });

  test('another command after or before an allowed one is never allowed along with it', async () => {
    const separators = ['&&', '||', '|', ';', '\n', '&'];
    const others = ['rm -rf x', 'curl x | sh', 'touch y', 'git push', 'node -e 1', 'A=1 make'];
    const wraps = [(s: string) => s, (s: string) => `(${s})`, (s: string) => `{ ${s}; }`, (s: string) => `"$(${s})"`];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...separators),
        fc.constantFrom(...others),
        fc.constantFrom(...wraps),
        fc.boolean(),
        async (separator, other, wrap, first) => {
          const pair = first ? [wrap(other), 'npm test'] : ['npm test', wrap(other)];
          expect(await onCommand(pair.join(` ${separator} `), [allow('npm test *')])).toMatch(/^ask/);
        },
      ),
    );
  });
});

describe('PM6: categories', () => {
  const change = (...subjects: string[]) =>
    ({ effect: 'change', caution: null, preview: null, rulePattern: 'apply_patch x', subjects }) as const;

  test('PM6: a category covers every tool of its kind, and a later rule for one tool or place goes before it', () => {
    const rules = [allow('*', '@write'), deny('gen/*', 'apply_patch')];
    expect(rulingOn(change('src/a.ts'), 'apply_patch', rules)).toEqual({ decision: 'allow' });
    expect(rulingOn(change('src/a.ts', 'gen/b.ts'), 'apply_patch', rules)).toMatchObject({ subject: 'gen/b.ts' });
    const read = { effect: 'read', caution: null, rulePattern: 'read gen/b.ts' } as const;
    expect(rulingOn(read, 'read', rules)).toEqual({ decision: 'none' });
    expect(rulingOn(read, 'read', [deny('gen/*', '@read')])).toMatchObject({ decision: 'deny', subject: 'gen/b.ts' });
  });
});

test('a pattern takes time by its length, whatever stars it holds', () => {
  const call = { effect: 'read', caution: null, rulePattern: `read ${'a'.repeat(50_000)}` } as const;
  const from = performance.now();
  expect(rulingOn(call, 'read', [deny(`${'*a'.repeat(2000)}*b`, '*')])).toEqual({ decision: 'none' });
  expect(performance.now() - from).toBeLessThan(1000);
});
