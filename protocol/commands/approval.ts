/** Answering requests and questions, and the rules that "always" makes. */
import { z } from '../schema.ts';
import { approvalScope } from '../events/approval.ts';
import { approvalId, commandId, projectId, questionId, ruleId, sessionId } from '../values/ids.ts';
import { jsonObject } from '../values/json.ts';

export const ruleDecision = z.enum(['allow', 'ask', 'deny']);
export type RuleDecision = z.infer<typeof ruleDecision>;

/**
 * A standing answer for calls of `tool` in `projectId`. Without a decision it came of "always", and allows calls whose own pattern is exactly
 * this one. With one a person wrote it: then `tool` and `pattern` may hold `*`, `tool` may be a category (`@read`, `@write`, `@shell`), and the
 * pattern is held against each path, and each simple command (` *` at its end: with or without arguments; `> FILE`: a file that is written).
 */
export const rule = z.object({
  ruleId,
  projectId,
  tool: z.string(),
  pattern: z.string(),
  decision: z.optional(ruleDecision),
  madeAt: z.number(),
});
export type Rule = z.infer<typeof rule>;

export const approvalCommands = {
  'approval.answer': {
    doc: 'Answers an open approval. A request that is no longer open answers `conflict` and says what became of it.',
    params: z.object({
      commandId,
      sessionId,
      approvalId,
      decision: z.enum(['allow', 'deny']),
      scope: approvalScope,
      note: z.optional(z.string().check(z.maxLength(4000))),
      arguments: z.optional(jsonObject),
    }),
    result: z.object({ seq: z.int() }),
  },
  'question.answer': {
    doc: 'Answers an open question by the place of one of its options (from 0), in words, or both. A question that is no longer open answers `stale` and says so.',
    params: z.object({
      commandId,
      sessionId,
      questionId,
      option: z.optional(z.int().check(z.nonnegative())),
      text: z.optional(z.string().check(z.maxLength(8000))),
    }),
    result: z.object({ seq: z.int() }),
  },
  'rule.list': {
    doc: 'The standing answers, by project, in their order: of those that match, the last one counts.',
    params: z.object({ projectId: z.optional(projectId) }),
    result: z.object({ rules: z.array(rule) }),
  },
  'rule.add': {
    doc: 'Writes a rule behind the others. What destroys or is protected asks all the same; the same rule twice is one, which moves to the end.',
    params: z.object({
      commandId,
      projectId,
      tool: z.string().check(z.minLength(1), z.maxLength(200)),
      pattern: z.string().check(z.minLength(1), z.maxLength(4000)),
      decision: ruleDecision,
    }),
    result: z.object({ rule }),
  },
  'rule.remove': {
    doc: 'Takes a rule back; applies from the next call.',
    params: z.object({ commandId, ruleId }),
    result: z.object({}),
  },
};
