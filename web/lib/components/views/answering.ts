/** Carries an answer to a session's state, to a request or a question, and says why none can be given just now. */
import type { ApprovalId, QuestionId } from '#protocol/values/ids.ts';
import type { ConnectionState } from '../../state/app.svelte.ts';
import type { SessionState } from '../../state/session.svelte.ts';
import type { Answer } from '../approval/answer.ts';
import type { Said } from '../question/ask.ts';

/** Rejects with the daemon's words, so that they stand where the answer was given. */
export async function answerRequest(session: SessionState, approvalId: ApprovalId, answer: Answer): Promise<void> {
  await session.answer(approvalId, answer.decision, answer.scope, {
    ...(answer.note === undefined ? {} : { note: answer.note }),
    ...(answer.arguments === undefined ? {} : { arguments: answer.arguments }),
  });
  tell(session);
}

/** As `answerRequest`. */
export async function answerQuestion(session: SessionState, questionId: QuestionId, said: Said): Promise<void> {
  await session.reply(questionId, said);
  tell(session);
}

function tell(session: SessionState): void {
  const problem = session.lastError;
  if (problem === null) return;
  session.clearError();
  throw new Error(problem.message);
}

export function blockedBy(connection: ConnectionState): string | null {
  return connection.type === 'open' ? null : 'It can be answered when the daemon is reachable again.';
}
