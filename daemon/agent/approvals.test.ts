import { expect, test } from 'vitest';
import type { Mode } from '#protocol/values/model.ts';
import type { Assessment } from '../tools/tool.ts';
import { judge } from './approvals.ts';

const rulePattern = 'p';
const assessments = {
  read: { effect: 'read', caution: null, rulePattern },
  'read of a secret': { effect: 'read', caution: 'It holds secrets.', rulePattern },
  change: { effect: 'change', caution: null, preview: null, rulePattern },
  'protected change': { effect: 'change', caution: 'It is protected.', preview: null, rulePattern },
  command: { effect: 'command', caution: null, looks: false, rulePattern },
  'destructive command': { effect: 'command', caution: 'It deletes.', looks: false, rulePattern },
  refused: { effect: 'refused', reason: 'Never.' },
} as const satisfies Record<string, Assessment>;

/** Without anything allowed before, and with exactly this tool and pattern allowed. */
const table: Record<keyof typeof assessments, Record<Mode, [string, string]>> = {
  read: { ask: ['run', 'run'], plan: ['run', 'run'], auto: ['run', 'run'] },
  'read of a secret': { ask: ['ask!', 'ask!'], plan: ['ask!', 'ask!'], auto: ['ask!', 'ask!'] },
  change: { ask: ['ask', 'run'], plan: ['refuse', 'refuse'], auto: ['run', 'run'] },
  'protected change': { ask: ['ask!', 'ask!'], plan: ['refuse', 'refuse'], auto: ['ask!', 'ask!'] },
  command: { ask: ['ask', 'run'], plan: ['refuse', 'refuse'], auto: ['run', 'run'] },
  'destructive command': { ask: ['ask!', 'ask!'], plan: ['refuse', 'refuse'], auto: ['ask!', 'ask!'] },
  refused: { ask: ['refuse', 'refuse'], plan: ['refuse', 'refuse'], auto: ['refuse', 'refuse'] },
};
const modes: Mode[] = ['ask', 'plan', 'auto'];
const names = Object.keys(assessments) as (keyof typeof assessments)[];

test.each(names.flatMap((name) => modes.map((mode) => [name, mode] as const)))(
  'PM3 PM2 %s in mode %s',
  (name, mode) => {
    const verdict = (allowed: Parameters<typeof judge>[3]) => {
      const judged = judge(assessments[name], 'bash', mode, allowed, 'garden');
      return judged.verdict === 'ask' && judged.caution ? 'ask!' : judged.verdict;
    };
    expect([verdict([]), verdict([{ tool: 'bash', pattern: 'p' }])]).toEqual(table[name][mode]);
    // What was allowed for another tool or pattern allows nothing here.
    expect(
      verdict([
        { tool: 'other', pattern: 'p' },
        { tool: 'bash', pattern: 'q' },
      ]),
    ).toBe(table[name][mode][0]);
  },
);
