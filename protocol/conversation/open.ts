/** What is still open: used to close after a crash or an abort, to tell a turn at rest from one that was moving, and for the screen's spinner. */
import type { Conversation, OpenApproval, OpenQuestion, Part, Step, Turn } from './conversation.ts';
import type { ToolCall } from './tool-call.ts';

export interface OpenWork {
  readonly turn: Turn;
  readonly step: Step | null;
  readonly parts: readonly Part[];
  /** Calls without an end. */
  readonly calls: readonly ToolCall[];
  readonly approvals: readonly OpenApproval[];
  readonly questions: readonly OpenQuestion[];
}

export function openWork(conversation: Conversation): OpenWork | null {
  const turn = conversation.active;
  if (turn === null) return null;
  return {
    turn,
    step: turn.step,
    parts: turn.step?.parts.filter((part) => part.endedAt === null) ?? [],
    calls: turn.step?.calls.filter((call) => call.state !== 'ended') ?? [],
    approvals: conversation.approvals,
    questions: conversation.questions,
  };
}

/**
 * A turn in which nothing moves: no compaction is made and no check runs, and it stands between two steps, or its step has replied, no call is started without an end, and a person is
 * waited for. A call that a sub-agent carries out rests when the sub-agent does, which its own log tells. It stays open over a restart, and an
 * answer (or resume) continues it.
 */
export function atRest(conversation: Conversation): boolean {
  if (conversation.compacting !== null) return false;
  const open = openWork(conversation);
  if (open === null) return true;
  if (open.step === null) return open.turn.check?.outcome !== null;
  return open.step.reply !== null && open.calls.every((call) => call.state !== 'running' || call.child !== null);
}

/** A check that failed and that the agent has not been told of: once in a turn, as it may put right what it did. */
export function failedCheckOf({ check }: Turn): { readonly title: string; readonly text: string } | null {
  if (check?.outcome !== 'failed' || check.told || check.runs > 1) return null;
  return { title: check.title, text: check.text };
}

/** A question that decides about a plan. */
export function isPlanReview(question: Pick<OpenQuestion, 'options'>): boolean {
  return question.options.some((option) => option.plan !== undefined);
}
