/** A session's log that something happened to: cut anywhere, or with a byte changed in its tail. It opens with a true beginning of itself, or is refused with the place. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import type { SessionEvent } from '#protocol/event.ts';
import { type RequestError } from '#protocol/errors.ts';
import { indexPathOf } from '../log/index-file.ts';
import { readEvents } from '../log/reader.ts';
import { agentOn, calls, ended, fakeTool, says } from '../testing/agent-on.ts';
import { sessionIdOf } from '../testing/temporary-home.ts';
import { placeInHome } from './place.ts';
import { recover } from './recovery.ts';
import { Session, type SessionOptions } from './session.ts';

const next = { type: 'session.titled', title: 'and on it goes', by: 'person' } as const;

/** A turn with a tool, in as many small frames as were written; and what it folds to at the end of each. */
async function turnOnDisk() {
  const made = await agentOn([calls('look'), says('Seen: 🌱 and あ.')], { tools: [fakeTool('look')] });
  await made.submit('Look.');
  await made.until(ended());
  await made.agent.close();
  await made.session.close();
  const frames: { offset: number; end: number; conversation: Conversation }[] = [];
  let conversation = emptyConversation;
  for await (const found of readEvents(made.place.log)) {
    if (found.kind !== 'frame') throw new Error('it should be whole');
    conversation = found.events.reduce(
      (so: Conversation, { event }: { event: SessionEvent }) => reduce(so, event),
      conversation,
    );
    frames.push({ offset: found.offset, end: found.end, conversation });
  }
  return { ...made, bytes: readFileSync(made.place.log), index: readFileSync(indexPathOf(made.place.log)), frames };
}

type Opened = { conversation: Conversation; repaired: boolean } | { refused: RequestError };

/** Opens it, closes what was open, writes on, and opens it again. */
async function goOn(made: Awaited<ReturnType<typeof turnOnDisk>>, number: number, bytes: Uint8Array): Promise<Opened> {
  const place = placeInHome(made.home, sessionIdOf(number));
  writeFileSync(place.log, bytes);
  writeFileSync(indexPathOf(place.log), made.index);
  const options: SessionOptions = { clock: made.clock, owner: 'the daemon', durability: 'kernel' };
  let session: Session;
  try {
    session = await Session.open(place, options);
  } catch (error) {
    expect(readFileSync(place.log)).toEqual(Buffer.from(bytes));
    return { refused: error as RequestError };
  }
  const { conversation, repaired } = session;
  if (conversation.session !== null) {
    await recover(session, 0);
    await session.append([next]);
  }
  const live = session.conversation;
  await session.close();
  const again = await Session.open(place, options);
  expect(again.conversation).toStrictEqual(live);
  expect(again.repaired).toBeNull();
  expect(live.anomalies).toEqual([]);
  const said = live.warnings.filter(({ code }) => code === 'log_repaired').length;
  expect(said).toBe(repaired !== null && conversation.session !== null ? 1 : 0);
  await again.close();
  return { conversation, repaired: repaired !== null };
}

async function inGroups<T>(all: readonly T[], look: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += 16) await Promise.all(all.slice(from, from + 16).map(look));
}

test('RT3 C01 C02 cut at any byte, a session opens with all of its whole frames, says where something was cut, and goes on', async () => {
  const made = await turnOnDisk();
  expect(made.frames.length).toBeGreaterThan(4);
  const cuts = Array.from({ length: made.bytes.length + 1 }, (_, place) => place);
  await inGroups(cuts, async (cut) => {
    const opened = await goOn(made, 1000 + cut, made.bytes.subarray(0, cut));
    const whole = made.frames.findLast(({ end }) => end <= cut);
    expect({ cut, opened }).toEqual({
      cut,
      opened: { conversation: whole?.conversation ?? emptyConversation, repaired: cut !== (whole?.end ?? 0) },
    });
  });
}, 180_000);

test('RT3 RT30 with any byte of its tail changed, a session opens without its last frame, or is refused with the place: it is never another', async () => {
  const made = await turnOnDisk();
  const tail = made.frames.slice(-4);
  const from = tail[0]?.offset ?? 0;
  const last = made.frames.at(-1);
  const before = made.frames.at(-2);
  const flips = Array.from({ length: made.bytes.length - from }, (_, place) => from + place);
  await inGroups(flips, async (place) => {
    const bytes = Buffer.from(made.bytes);
    bytes[place] = (bytes[place] ?? 0) ^ (place % 2 === 0 ? 0xff : 1 << (place % 8));
    const opened = await goOn(made, 10_000 + place, bytes);
    const inLast = place >= (last?.offset ?? 0);
    if ('refused' in opened) {
      const hit = tail.find(({ offset, end }) => place >= offset && place < end);
      expect({ place, inLast, message: opened.refused.message }).toMatchObject({ place, inLast: false });
      expect(opened.refused).toMatchObject({ code: 'read_only' });
      expect(opened.refused.message).toContain(`bytes ${hit?.offset} to `);
    } else
      expect({ place, inLast, opened }).toEqual({
        place,
        inLast: true,
        opened: { conversation: before?.conversation, repaired: true },
      });
  });
}, 180_000);
