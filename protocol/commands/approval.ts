/** Answering requests and questions, and the rules that "always" makes. */
import { z } from '../schema.ts';
import { approvalScope } from '../events/approval.ts';
import { approvalId, commandId, projectId, questionId, ruleId, sessionId } from '../values/ids.ts';
import { jsonObject } from '../values/json.ts';

/** Calls of `tool` in `projectId` whose pattern is `pattern` run without being asked. The pattern is the tool's own: a command, whole, or `*` for files of the project. */
export const rule = z.object({ ruleId, projectId, tool: z.string(), pattern: z.string(), madeAt: z.number() });
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
    doc: 'What runs without being asked, by project.',
    params: z.object({ projectId: z.optional(projectId) }),
    result: z.object({ rules: z.array(rule) }),
  },
  'rule.remove': {
    doc: 'Takes a rule back; applies from the next call.',
    params: z.object({ commandId, ruleId }),
    result: z.object({}),
  },
};
