/**
 * What standing answers say of a call (PM4, PM6, US4): pure. Of the rules that match a subject the last one counts; a call is denied if one of
 * its subjects is, asked about if one is, and allowed only if every one is. A rule without a decision came of "always" and means exactly
 * the call that was shown; one with a decision was written by a person, with `*` in tool and pattern.
 */
import type { Rule, RuleDecision } from '#protocol/commands/approval.ts';
import type { Assessment } from '../tools/tool.ts';

/** What was answered before: for the session (grants), or always in the project (rules). */
export type Allowed = Pick<Rule, 'tool' | 'pattern' | 'decision'>;

type Judged = Extract<Assessment, { effect: 'read' | 'change' | 'command' }>;

export type Ruling =
  | { decision: 'allow' | 'none' }
  /** `by` is the rule, `subject` what it was held against. */
  | { decision: 'ask' | 'deny'; by: Allowed; subject: string };

const categories: Record<Judged['effect'], string> = { read: '@read', change: '@write', command: '@shell' };

export function rulingOn(assessment: Judged, tool: string, rules: readonly Allowed[]): Ruling {
  const subjects = subjectsOf(assessment, tool);
  const category = categories[assessment.effect];
  const exact = (rule: Allowed) =>
    rule.decision === undefined && rule.tool === tool && rule.pattern === assessment.rulePattern;
  const written = (rule: Allowed, subject: string) =>
    rule.decision !== undefined &&
    (rule.tool === category || matches(rule.tool, tool)) &&
    matches(rule.pattern, subject);
  // A command without parts (`A=1`) has nothing that a pattern could stand for.
  if (subjects.length === 0) return { decision: rules.some(exact) ? 'allow' : 'none' };
  const found = subjects.map((subject) => ({
    subject,
    by: rules.findLast((rule) => exact(rule) || written(rule, subject)),
  }));
  for (const decision of ['deny', 'ask'] as const) {
    const one = found.find(({ by }) => by?.decision === decision);
    if (one?.by !== undefined) return { decision, by: one.by, subject: one.subject };
  }
  return { decision: found.every(({ by }) => by !== undefined) ? 'allow' : 'none' };
}

/** Without its own list, what stands behind the tool's name in its pattern: a path. */
function subjectsOf(assessment: Judged, tool: string): readonly string[] {
  const { rulePattern } = assessment;
  const named = `${tool} `;
  const subjects = 'subjects' in assessment ? assessment.subjects : undefined;
  return subjects ?? [rulePattern.startsWith(named) ? rulePattern.slice(named.length) : rulePattern];
}

/** `*` is any text, spaces and slashes too; ` *` at the end also nothing at all. Linear: the earliest place of each piece is as good as any. */
function matches(pattern: string, text: string): boolean {
  if (pattern.endsWith(' *') && matches(pattern.slice(0, -2), text)) return true;
  const pieces = pattern.split('*');
  const first = pieces[0] as string;
  if (pieces.length === 1) return text === pattern;
  const last = pieces.at(-1) as string;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

/** How a person reads it. */
export function ruleWords({
  tool,
  pattern,
  decision,
}: {
  tool: string;
  pattern: string;
  decision: RuleDecision;
}): string {
  return `${decision} ${tool} ${pattern}`;
}
