import { readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { prepend } from '#protocol/conversation/base.ts';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import type { Draft, SessionEvent } from '#protocol/event.ts';
import { workingSession } from '#protocol/testing/working-session.ts';
import { walkHeaders } from '../log/reader.ts';
import { FaultyDisk } from '../testing/faulty-disk.ts';
import { reopen, sessionWith, type MadeSession } from '../testing/session-with.ts';
import { History } from './history.ts';
import { Session } from './session.ts';
import { WatchedLog } from './watched-log.ts';

/** The events of many steps, each its own frame as a busy turn leaves them; the turn is still open. */
const events = workingSession(60).events.map(({ seq: _, at: __, ...draft }) => draft as unknown as Draft);
const turnEnd: Draft = { type: 'turn.ended', turnId: 'trn_1' as never, outcome: 'completed' };

async function frames(made: MadeSession): Promise<number> {
  let count = 0;
  for await (const { kind } of walkHeaders(made.place.log)) if (kind === 'frame') count += 1;
  return count;
}

/** Before its first turn ends nothing is repacked. */
async function chatty(options: Parameters<typeof sessionWith>[0] = {}): Promise<MadeSession> {
  const made = await sessionWith(options);
  // The session begins with the two events that the builder begins with, too.
  for (const event of events.slice(events.findIndex(({ type }) => type === 'input.queued')))
    await made.session.append([event]);
  return made;
}

/** Resolves once the log has been repacked. */
async function untilRepacked(made: MadeSession, before: number): Promise<void> {
  while (statSync(made.place.log).ino === before) await new Promise(setImmediate);
}

async function whole(
  history: { page(before: number): Promise<{ base: Conversation; events: SessionEvent[] }> },
  seq: number,
) {
  let shown: Conversation | null = null;
  for (let before = seq + 1; before > 1;) {
    const page = await history.page(before);
    const folded = page.events.reduce(reduce, page.base);
    expect(folded.seq).toBe(before - 1);
    shown = shown === null ? folded : prepend(folded, shown);
    before = page.base.seq + 1;
  }
  return shown;
}

describe('a session that has worked', () => {
  test('is repacked when its turn has ended: a few frames, the same conversation, and it goes on', async () => {
    const made = await chatty();
    const { session, place } = made;
    const [many, bytes, ino] = [await frames(made), statSync(place.log).size, statSync(place.log).ino];
    await session.append([turnEnd]);
    await untilRepacked(made, ino);
    // What is asked for now is written behind the change of files.
    await session.append([{ type: 'session.titled', title: 'Afterwards', by: 'person' }]);
    expect(many).toBeGreaterThan(1000);
    expect(await frames(made)).toBeLessThan(many / 50);
    expect(statSync(place.log).size).toBeLessThan(bytes / 4);
    await session.hydrate();
    const { conversation } = session;
    expect(await whole(session, session.seq)).toEqual(conversation);
    const again = await reopen(made);
    await again.hydrate();
    expect(again.conversation).toEqual(conversation);
    expect(made.faults).toEqual([]);
  });

  test('is repacked when it is closed, also where its writer before was killed', async () => {
    const made = await chatty();
    const many = await frames(made);
    await made.session.close();
    expect(await frames(made)).toBeLessThan(many / 50);
    expect(readdirSync(dirname(made.place.log)).some((name) => name.endsWith('.repack'))).toBe(false);
  });

  test('readers of all kinds read on, without a gap, while it is repacked under them', async () => {
    const made = await chatty();
    const { session, place } = made;
    const [other, watched] = [await History.open(place.log), await WatchedLog.open(place.log)];
    onTestFinished(() => other.close());
    onTestFinished(() => watched.close());
    const expected = await whole(session, session.seq);
    const last = session.seq;
    let [reading, rounds] = [true, 0];
    const readers = [session, other, watched].map(async (reader) => {
      while (reading) {
        expect(await whole(reader, last)).toEqual(expected);
        const after = Math.floor((last * (rounds % 7)) / 7);
        const some = await reader.read(after, 5_000);
        expect(some[0]?.seq).toBe(after + 1);
        expect(some.map(({ seq }) => seq)).toEqual(some.map((_, place) => after + 1 + place));
        rounds += 1;
      }
    });
    const ino = statSync(place.log).ino;
    await session.append([turnEnd]);
    await untilRepacked(made, ino);
    const enough = rounds + 6;
    while (rounds < enough) await new Promise(setImmediate);
    reading = false;
    await Promise.all(readers);
    const signal = AbortSignal.timeout(20_000);
    await session.append([{ type: 'session.titled', title: 'Seen', by: 'person' }]);
    await watched.changed(session.seq - 1, signal);
    expect((await watched.read(session.seq - 1, 1000)).map(({ type }) => type)).toEqual(['session.titled']);
    expect(made.faults).toEqual([]);
  });

  test('goes on as it was where the disk has no room for the copy', async () => {
    const disk = new FaultyDisk();
    const made = await chatty({ options: { openFile: disk.open } });
    const { session, place } = made;
    const before = statSync(place.log).ino;
    // The copy is another file: the log itself can still be written.
    disk.full = 'ENOSPC';
    disk.sparing = place.log;
    await session.append([turnEnd]);
    while (made.faults.length === 0) await new Promise(setImmediate);
    await session.append([{ type: 'session.titled', title: 'Still here', by: 'person' }]);
    expect(statSync(place.log).ino).toBe(before);
    expect(String(made.faults[0])).toContain('ENOSPC');
    const again = await reopen(made);
    expect(again.conversation.session?.title).toBe('Still here');
  });

  test('one that was only looked at is not repacked again', async () => {
    const made = await chatty();
    await made.session.close();
    const before = statSync(made.place.log);
    for (let times = 0; times < 3; times += 1) {
      const again = await Session.open(made.place, made.options);
      await again.append([{ type: 'session.titled', title: `${times}`, by: 'person' }]);
      await again.close();
    }
    expect(statSync(made.place.log).ino).toBe(before.ino);
  });
});
