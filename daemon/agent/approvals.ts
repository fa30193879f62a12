/**
 * Which call needs a person: policy only, no waiting. In order:
 *   A1  what a tool refuses (its assessment) is refused in every mode
 *   A2  plan mode only looks: a change is refused, and so is a command that is not known to only look, or has a caution
 *   A3  a caution (destructive, protected, not understood) asks in every mode, and no rule and no grant covers it
 *   A4  what a rule denies is refused in every mode, before anything is asked; what a rule asks about is asked about in every mode
 *   A5  reading runs; auto runs; what rules or grants allow as a whole runs; everything else asks
 */
import type { CallDetails } from '#protocol/values/display.ts';
import type { Mode } from '#protocol/values/model.ts';
import type { Assessment } from '../tools/tool.ts';
import { ruleWords, rulingOn, type Allowed } from './rules.ts';

export type Verdict =
  | { verdict: 'run' }
  | { verdict: 'ask'; reason: string; caution: boolean; rulePattern: string; preview: CallDetails | null }
  | { verdict: 'refuse'; reason: string };

export function judge(
  assessment: Exclude<Assessment, { effect: 'question' | 'agent' }>,
  tool: string,
  mode: Mode,
  allowed: readonly Allowed[],
  place: string,
): Verdict {
  if (assessment.effect === 'refused') return { verdict: 'refuse', reason: assessment.reason };
  const ruling = rulingOn(assessment, tool, allowed);
  if (ruling.decision === 'deny') {
    const rule = ruleWords({ ...ruling.by, decision: 'deny' });
    return {
      verdict: 'refuse',
      reason: `A rule of this project denies it (${rule}), because of: ${ruling.subject}. It did not run, and no answer would let it. Find another way, or say what you need.`,
    };
  }
  const looks = assessment.effect === 'read';
  const planned = looks || (assessment.effect === 'command' && assessment.looks);
  if (mode === 'plan' && !planned) {
    return {
      verdict: 'refuse',
      reason: `Plan mode is read-only, so ${tool} did not run${assessment.effect === 'command' ? ': this command is not known to only look' : ''}. Say what you would do; the person can switch the mode and let you go on.`,
    };
  }
  const preview = assessment.effect === 'change' ? assessment.preview : null;
  const { caution, rulePattern } = assessment;
  if (caution !== null) return { verdict: 'ask', reason: caution, caution: true, rulePattern, preview };
  if (ruling.decision === 'ask') {
    const reason = `Asked because a rule of this project says so: ${ruleWords({ ...ruling.by, decision: 'ask' })}.`;
    return { verdict: 'ask', reason, caution: false, rulePattern, preview };
  }
  if (looks || mode !== 'ask' || ruling.decision === 'allow') return { verdict: 'run' };
  return {
    verdict: 'ask',
    reason: `Asked because ${tool} asks first in ${place}.`,
    caution: false,
    rulePattern,
    preview,
  };
}
