/**
 * What is done when a log was opened for writing and whoever wrote it last may have been killed: what was moving is closed by appending, what
 * was at rest stays open. Doing it again changes nothing. Nothing is run again.
 */
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { atRest, openWork } from '#protocol/conversation/open.ts';
import type { Draft } from '#protocol/event.ts';
import { closeJobs, closeOpenWork } from './closing.ts';
import type { Session } from './session.ts';

export async function recover(session: Session, orphansEnded: number): Promise<void> {
  const { repaired } = session;
  await session.transact((conversation) => {
    const events: Draft[] = [];
    if (repaired !== null) {
      const message = `The last write was cut by a crash (${repaired.reason}). Everything before it is whole; what was cut is kept in ${repaired.keptAt}.`;
      events.push({ type: 'warning.raised', code: 'log_repaired', message });
    }
    if (orphansEnded > 0) {
      const processes = orphansEnded === 1 ? 'One process' : `${orphansEnded} processes`;
      events.push({
        type: 'warning.raised',
        code: 'orphans_ended',
        message: `${processes} of an interrupted command still ran and were ended.`,
      });
    }
    events.push(...closeJobs(conversation));
    // The events above do not change what is open.
    if (wasMoving(conversation)) events.push(...crashed(conversation));
    return { events, result: undefined };
  });
}

/** What closes work that a writer was killed in the middle of. */
export function crashed(conversation: Conversation): Draft[] {
  const message =
    'Alcove stopped in the middle of this turn. What had come is kept; nothing was run again. Send a message to go on.';
  const closing = closeOpenWork(conversation, 'crash');
  if (openWork(conversation) === null) return closing;
  return [...closing, { type: 'warning.raised', code: 'interrupted', message }];
}

/** Whether a conversation, as it stands in a log that nobody writes, was left by a writer that was killed at work. */
export function wasMoving(conversation: Conversation): boolean {
  return !atRest(conversation) || replyWasCut(conversation);
}

/** The reply and its calls are written together, but a write can be torn between two frames: then calls that were announced are missing, and none may run. */
function replyWasCut({ active }: Conversation): boolean {
  const step = active?.step;
  if (!step || step.reply === null) return false;
  return step.parts.filter((part) => part.kind === 'tool-call').length > step.calls.length;
}
