/**
 * A fork: the events of a session, verbatim, up to a step boundary, then one frame with `session.forked` (from there on the session's identity)
 * that closes what the copy left open and withdraws its inbox. It is made aside and comes to its place whole, so that a crash leaves no session
 * that says it is another one.
 */
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { atStepBoundary } from '#protocol/conversation/base.ts';
import { emptyConversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import { RequestError } from '#protocol/errors.ts';
import type { CommandMark } from '#protocol/event.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { makeOwnerOnlyFolder, syncFolder } from '../base/files.ts';
import { frameTargetBytes } from '../base/limits.ts';
import { acquireLock } from '../base/lock.ts';
import { indexPathOf } from '../log/index-file.ts';
import { LogWriter } from '../log/writer.ts';
import { closeJobs, closeOpenWork } from './closing.ts';
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
  const { log } = target.place;
  const aside = join(dirname(log), 'forking', basename(log));
  const making = { ...target.place, log: aside };
  await makeOwnerOnlyFolder(dirname(aside));
  try {
    const lock = acquireLock(making.lock);
    if (lock === null) throw new RequestError('busy', 'The new session is being written already.');
    try {
      await remove(aside); // What an earlier try left that was killed.
      await copy(source.history, upTo, aside);
    } finally {
      lock.release();
    }
    const { published: _, ...quiet } = options;
    const session = await Session.open(making, quiet);
    try {
      await declare(session, source.sessionId, upTo, target.sessionId, command);
    } finally {
      await session.close();
    }
    await rename(indexPathOf(aside), indexPathOf(log)).catch(() => undefined); // It can be made anew.
    await rename(aside, log);
    await syncFolder(dirname(log));
  } catch (error) {
    await remove(aside);
    throw error;
  }
  return Session.open(target.place, options);
}

async function declare(
  session: Session,
  parentId: SessionId,
  upTo: number,
  sessionId: SessionId,
  command: CommandMark,
): Promise<void> {
  await session.transact((conversation) => ({
    events: [
      { type: 'session.forked', command, sessionId, parent: { sessionId: parentId, seq: upTo } },
      ...conversation.inbox.map((input) => ({
        type: 'input.withdrawn' as const,
        inputId: input.inputId,
        reason: 'The session was forked here; this input belongs to the original.',
      })),
      ...closeJobs(conversation),
      ...closeOpenWork(conversation, 'fork'),
    ],
    result: undefined,
  }));
}

/** In frames that end where a step does, so that bases can be taken there. */
async function copy(history: History, upTo: number, path: string): Promise<void> {
  const writer = await LogWriter.create(path);
  try {
    let conversation = emptyConversation;
    let lines: string[] = [];
    let characters = 0;
    for await (const { event, line } of history.whole(upTo)) {
      conversation = reduce(conversation, event);
      lines.push(line);
      characters += line.length;
      if (characters < frameTargetBytes || !atStepBoundary(conversation)) continue;
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

async function remove(log: string): Promise<void> {
  for (const path of [log, indexPathOf(log)]) await rm(path, { force: true });
}
