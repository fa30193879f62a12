/**
 * Which call needs a person: policy only, no waiting. In order:
 *   A1  what a tool refuses (its assessment) is refused in every mode
 *   A2  plan mode only looks: a change is refused, and so is a command that is not known to only look, or has a caution
 *   A3  a caution (destructive, protected, not understood) asks in every mode, and no rule and no grant covers it
 *   A4  reading runs; auto runs; a rule or a grant of exactly this tool and pattern runs; everything else asks
 */
import type { Grant } from '#protocol/conversation/conversation.ts';
import type { CallDetails } from '#protocol/values/display.ts';
import type { Mode } from '#protocol/values/model.ts';
import type { Assessment } from '../tools/tool.ts';

export type Verdict =
  | { verdict: 'run' }
  | { verdict: 'ask'; reason: string; caution: boolean; rulePattern: string; preview: CallDetails | null }
  | { verdict: 'refuse'; reason: string };

/** What was allowed before: for the session (grants), or always in the project (rules). */
export type Allowed = Pick<Grant, 'tool' | 'pattern'>;

export function judge(
  assessment: Exclude<Assessment, { effect: 'question' | 'agent' }>,
  tool: string,
  mode: Mode,
  allowed: readonly Allowed[],
  place: string,
): Verdict {
  if (assessment.effect === 'refused') return { verdict: 'refuse', reason: assessment.reason };
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
  if (looks || mode !== 'ask') return { verdict: 'run' };
  if (allowed.some((one) => one.tool === tool && one.pattern === rulePattern)) return { verdict: 'run' };
  return {
    verdict: 'ask',
    reason: `Asked because ${tool} asks first in ${place}.`,
    caution: false,
    rulePattern,
    preview,
  };
}
