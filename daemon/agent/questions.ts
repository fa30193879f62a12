/**
 * Questions to a person, pure: what asking writes, and what an answer writes. The answer ends the call that asked in the same frame, and where
 * it accepts a plan it sets the mode there too: after a crash it has happened whole or not at all, and nobody need have been waiting for it.
 */
import type { Conversation, OpenQuestion } from '#protocol/conversation/conversation.ts';
import { isPlanReview } from '#protocol/conversation/open.ts';
import { RequestError } from '#protocol/errors.ts';
import type { CommandMark, Draft } from '#protocol/event.ts';
import type { QuestionOption } from '#protocol/events/question.ts';
import type { CallDetails } from '#protocol/values/display.ts';
import type { CallId, QuestionId } from '#protocol/values/ids.ts';
import type { Question } from '../tools/tool.ts';

export function decideAsk(conversation: Conversation, callId: CallId, { text, options, plan }: Question): Draft[] {
  if (conversation.questions.some((one) => one.callId === callId)) return [];
  const questionId = `qst_${conversation.counts.questions + 1}` as QuestionId;
  const asked: Draft = { type: 'question.requested', questionId, callId, text, options: [...options] };
  return plan === null ? [asked] : [{ type: 'plan.proposed', text: plan, callId }, asked];
}

export interface Reply {
  questionId: QuestionId;
  /** The place of an option. */
  option?: number | undefined;
  text?: string | undefined;
  by: string;
}

/** A dead question answers `stale`; an answer that says nothing, or names an option that is not there, `invalid_params`. */
export function decideReply(conversation: Conversation, reply: Reply, command: CommandMark): Draft[] {
  const open = conversation.questions.find((one) => one.questionId === reply.questionId);
  if (open === undefined)
    throw new RequestError(
      'stale',
      'This question is no longer open: it was answered already, or withdrawn with its turn.',
    );
  const option = reply.option === undefined ? undefined : open.options[reply.option];
  if (reply.option !== undefined && option === undefined)
    throw new RequestError(
      'invalid_params',
      `This question has ${open.options.length} options; number ${reply.option} is none of them.`,
    );
  const text = reply.text?.trim() ?? '';
  if (option === undefined && text === '')
    throw new RequestError('invalid_params', 'An answer names an option, or says something.');
  const answer = [option?.label, text].filter((one) => one !== undefined && one !== '').join(': ');
  // Last, as it carries the command: its place is what a repeat is answered with.
  const resolved: Draft = {
    type: 'question.resolved',
    command,
    questionId: open.questionId,
    answer,
    ...(reply.option === undefined ? {} : { option: reply.option }),
    by: reply.by,
  };
  if (isPlanReview(open)) {
    const plan = { text: conversation.plan?.text ?? '', open };
    return [...decidePlan(plan, option, text, reply.by), resolved];
  }
  return [...endOf(open, `The person answers: ${answer}`), resolved];
}

/** Words without a choice are what the person wants other: the plan is not carried out. */
function decidePlan(
  plan: { text: string; open: OpenQuestion },
  option: QuestionOption | undefined,
  note: string,
  by: string,
): Draft[] {
  const said = note === '' ? '' : ` They say: ${note}`;
  const decided = (decision: 'accepted' | 'dismissed'): Draft => ({
    type: 'plan.decided',
    decision,
    by,
    ...(note === '' ? {} : { note }),
  });
  const mode = option?.plan;
  if (mode === undefined || mode === 'dismiss') {
    const next =
      note === ''
        ? ' Stop here and say shortly that it was dismissed.'
        : ' Change the plan accordingly and propose it again.';
    return [
      decided('dismissed'),
      ...endOf(plan.open, `The person dismissed the plan.${said}${next}`, {
        type: 'plan',
        text: plan.text,
        decision: 'dismissed',
      }),
    ];
  }
  return [
    decided('accepted'),
    { type: 'session.configured', mode },
    ...endOf(plan.open, `The person accepted the plan. The mode is ${mode} from now on: carry the plan out.${said}`, {
      type: 'plan',
      text: plan.text,
      decision: 'accepted',
    }),
  ];
}

function endOf({ callId }: OpenQuestion, text: string, details?: CallDetails): Draft[] {
  if (callId === null) return [];
  return [
    {
      type: 'tool-call.ended',
      callId,
      outcome: 'completed',
      content: [{ type: 'text', text }],
      ...(details === undefined ? {} : { details }),
    },
  ];
}
