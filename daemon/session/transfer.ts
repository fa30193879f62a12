/**
 * Sessions out and in as JSON Lines, the events verbatim: what was exported and imported again is the same session, byte for byte as lines. A
 * file is taken whole or not at all; it comes to its place complete, so that a crash leaves either no session or all of it. Pictures and other
 * blobs are not in it: where they lie in the home they are found, elsewhere they are missing.
 */
import { rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { emptyConversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import { RequestError } from '#protocol/errors.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { makeOwnerOnlyFolder, syncFolder, type HomePaths } from '../base/files.ts';
import { acquireLock } from '../base/lock.ts';
import { readEvents } from '../log/reader.ts';
import { LogWriter } from '../log/writer.ts';
import { placeInHome } from './place.ts';

/**
 * Takes a log (.jsonl or .jsonl.zst) into the home under its own id. Rejects with `invalid_params`, naming the line, where it is no whole
 * session, and with `conflict` where that session is there already: then nothing was changed.
 */
export async function importLog(file: string, home: HomePaths): Promise<{ sessionId: SessionId; events: number }> {
  const sessionId = await identityOf(file);
  const place = placeInHome(home, sessionId);
  const lock = acquireLock(place.lock);
  const there = new RequestError('conflict', `The session ${sessionId} is there already. Nothing was changed.`);
  if (lock === null) throw there;
  const aside = join(dirname(place.log), 'importing', basename(place.log));
  try {
    if ((await stat(place.log).catch(() => null)) !== null) throw there;
    await makeOwnerOnlyFolder(dirname(aside));
    await rm(aside, { force: true }); // What an earlier try left that was killed.
    const events = await copyLines(file, aside);
    await rename(aside, place.log);
    await syncFolder(dirname(place.log));
    return { sessionId, events };
  } finally {
    await rm(aside, { force: true });
    lock.release();
  }
}

/** Reads all of it before anything is written. */
async function identityOf(file: string): Promise<SessionId> {
  let conversation = emptyConversation;
  for await (const found of readEvents(file)) {
    if (found.kind === 'damage') throw unfit(file, found.lastSeq + 1, found.reason);
    for (const { event } of found.events) {
      const next = reduce(conversation, event);
      const anomaly = next.anomalies.length > conversation.anomalies.length ? next.anomalies.at(-1) : undefined;
      if (anomaly !== undefined)
        throw unfit(file, event.seq, `the event ${event.type} does not fit: ${anomaly.problem}`);
      conversation = next;
    }
  }
  if (conversation.session === null)
    throw new RequestError(
      'invalid_params',
      `${file} holds no session: its first line is no "session.created". Nothing was imported.`,
    );
  return conversation.session.sessionId;
}

function unfit(file: string, line: number, reason: string): RequestError {
  return new RequestError('invalid_params', `${file}, line ${line}: ${reason}. Nothing was imported.`);
}

async function copyLines(file: string, to: string): Promise<number> {
  const writer = await LogWriter.create(to);
  try {
    for await (const found of readEvents(file)) {
      if (found.kind === 'damage') throw unfit(file, found.lastSeq + 1, 'it changed while it was read');
      await writer.append(
        found.events.map(({ line }) => line),
        writer.tail.lastSeq + 1,
      );
    }
    await writer.sync();
    return writer.tail.lastSeq;
  } finally {
    await writer.close();
  }
}
