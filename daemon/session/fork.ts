/**
 * A fork: the events of a session, verbatim, up to a step boundary, then one frame with `session.forked` (from there on the session's identity)
 * that closes what the copy left open and withdraws its inbox.
 */
import { atStepBoundary } from '#protocol/conversation/base.ts';
import { emptyConversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import { RequestError } from '#protocol/errors.ts';
import type { CommandMark } from '#protocol/event.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { frameTargetBytes } from '../base/limits.ts';
import { acquireLock } from '../base/lock.ts';
import { LogWriter } from '../log/writer.ts';
import { rm } from 'node:fs/promises';
import { closeOpenWork } from './closing.ts';
import type { History } from './history.ts';
import type { SessionPlace } from './place.ts';
import { Session, type SessionOptions } from './session.ts';

/** Returns the new session, open. Rejects with `conflict` where `upTo` is no step boundary, and leaves no file then. */
export async function forkSession(
  source: { history: History; sessionId: SessionId },
  upTo: number,
  target: { place: SessionPlace; sessionId: SessionId },
  options: SessionOptions,
  command: CommandMark,
): Promise<Session> {
  const lock = acquireLock(target.place.lock);
  if (lock === null) throw new RequestError('busy', 'The new session is being written already.');
  try {
    await copy(source.history, upTo, target.place);
  } catch (error) {
    await rm(target.place.log, { force: true });
    throw error;
  } finally {
    lock.release();
  }
  const session = await Session.open(target.place, options);
  await session.transact((conversation) => ({
    events: [
      {
        type: 'session.forked',
        command,
        sessionId: target.sessionId,
        parent: { sessionId: source.sessionId, seq: upTo },
      },
      ...conversation.inbox.map((input) => ({
        type: 'input.withdrawn' as const,
        inputId: input.inputId,
        reason: 'The session was forked here; this input belongs to the original.',
      })),
      ...closeOpenWork(conversation, 'fork'),
    ],
    result: undefined,
  }));
  return session;
}

async function copy(history: History, upTo: number, place: SessionPlace): Promise<void> {
  const writer = await LogWriter.create(place.log);
  try {
    let conversation = emptyConversation;
    let lines: string[] = [];
    let characters = 0;
    for await (const { event, line } of history.stored({ offset: 0, seq: 0 }, 0, upTo)) {
      conversation = reduce(conversation, event);
      lines.push(line);
      characters += line.length;
      if (characters < frameTargetBytes) continue;
      await writer.append(lines, conversation.seq - lines.length + 1);
      lines = [];
      characters = 0;
    }
    if (lines.length > 0) await writer.append(lines, conversation.seq - lines.length + 1);
    if (conversation.seq !== upTo || !atStepBoundary(conversation)) {
      throw new RequestError(
        'conflict',
        `A session can be forked between two steps only; event ${upTo} is not such a place.`,
      );
    }
    await writer.sync();
  } finally {
    await writer.close();
  }
}
