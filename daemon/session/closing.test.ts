import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { atRest, openWork } from '#protocol/conversation/open.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import type { SessionEvent } from '#protocol/event.ts';
import { LogBuilder } from '#protocol/testing/log-builder.ts';
import { Context } from '../agent/context/context.ts';
import type { HomePaths } from '../base/files.ts';
import { LogWriter } from '../log/writer.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { sessionIdOf, temporaryHome } from '../testing/temporary-home.ts';
import { closeOpenWork, type Cause } from './closing.ts';
import { placeInHome } from './place.ts';
import { recover } from './recovery.ts';
import { Session, type SessionOptions } from './session.ts';

const fixtures = new URL('../../protocol/fixtures/', import.meta.url);
const logs = readdirSync(fixtures)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => ({
    name,
    lines: readFileSync(new URL(name, fixtures), 'utf8').trimEnd().split('\n'),
  }));

const causes: Cause[] = ['crash', 'shutdown', 'abort', 'fork', 'fault'];

function close(conversation: Conversation, cause: Cause): Conversation {
  let closed = conversation;
  for (const draft of closeOpenWork(conversation, cause))
    closed = reduce(closed, { seq: closed.seq + 1, at: closed.at, ...draft });
  return closed;
}

function* prefixes(lines: readonly string[]): Generator<Conversation> {
  let conversation = emptyConversation;
  for (const line of lines) {
    conversation = reduce(conversation, JSON.parse(line) as SessionEvent);
    if (conversation.session !== null) yield conversation;
  }
}

describe.each(logs)('at each event of $name', ({ lines }) => {
  test.each(causes)('RT4 RT14 closing after a %s leaves nothing open, fits, and is done once', (cause) => {
    for (const prefix of prefixes(lines)) {
      const closed = close(prefix, cause);
      expect({
        seq: prefix.seq,
        open: openWork(closed),
        approvals: closed.approvals,
        questions: prefix.active === null ? [] : closed.questions,
        wrong: closed.anomalies,
        inbox: closed.inbox,
        again: closeOpenWork(closed, cause),
      }).toEqual({
        seq: prefix.seq,
        open: null,
        approvals: [],
        questions: [],
        wrong: [],
        inbox: prefix.inbox,
        again: [],
      });
      const ended = closed.turns.at(-1);
      const outcomes = ended?.steps.flatMap((step) => step.calls.map(({ outcome }) => outcome)) ?? [];
      expect(outcomes).not.toContain(null);
    }
  });

  test('C04 RT4 RT24 RT25 recovery leaves what rests as it is, closes what moved, runs nothing, and once is enough; the next request is valid', async () => {
    const home = await temporaryHome();
    const clock = new ManualClock(Date.UTC(2026, 5, 1));
    const options: SessionOptions = { clock, owner: 'the daemon', durability: 'kernel' };
    const { bytes, ends } = await framesOf(home, lines);
    const check = async (prefix: Conversation) => {
      const place = placeInHome(home, sessionIdOf(prefix.seq + 1));
      writeFileSync(place.log, bytes.subarray(0, ends[prefix.seq - 1]));
      const session = await Session.open(place, options);
      await recover(session, 0);
      const { conversation } = session;
      const step = prefix.active?.step;
      const announced = step?.parts.filter((part) => part.kind === 'tool-call').length ?? 0;
      // The golden logs hold whole replies: a prefix between a reply and its calls is one that a torn write left.
      const rested = atRest(prefix) && (!step?.reply || announced <= step.calls.length);
      expect({
        seq: prefix.seq,
        turn: conversation.active?.turnId ?? null,
        approvals: conversation.approvals,
        wrong: conversation.anomalies,
        inbox: conversation.inbox,
      }).toEqual({
        seq: prefix.seq,
        turn: rested ? (prefix.active?.turnId ?? null) : null,
        approvals: rested ? prefix.approvals : [],
        wrong: [],
        inbox: prefix.inbox,
      });
      expect(conversation.warnings.length - prefix.warnings.length).toBe(rested ? 0 : 1);
      if (!rested) {
        const closed = conversation.turns.at(-1)?.steps.at(-1);
        for (const call of closed?.calls ?? []) {
          const before = prefix.active?.step?.calls.find((one) => one.callId === call.callId);
          const expected = { requested: 'skipped', waiting: 'skipped', running: 'interrupted', ended: before?.outcome };
          expect(call.outcome).toBe(expected[before?.state ?? 'ended']);
        }
        await pairsUp(conversation);
      }
      const { seq } = session;
      await session.close();
      const again = await Session.open(place, options);
      await recover(again, 0);
      expect(again.seq).toBe(seq);
      await again.close();
    };
    // On disk, of a log whose steps are all alike, the first, some and the last are enough; the pure test above looks at each.
    const all = [...prefixes(lines)].filter(({ seq }) => seq < 60 || seq % 9 === 0 || seq > lines.length - 12);
    for (let from = 0; from < all.length; from += 16) await Promise.all(all.slice(from, from + 16).map(check));
  });
});

test('RT25 a call that had printed is told to the model with what it had printed', () => {
  const log = new LogBuilder().session().asks('go').turn().step().replies();
  log.requests('bash', { command: 'make' }, { title: 'Run', kind: 'command' }).starts().prints('half of it\n');
  const call = close(log.conversation, 'crash').turns[0]?.steps[0]?.calls[0];
  expect(call?.content[0]).toMatchObject({ text: expect.stringContaining('half of it') as string });
  expect(call?.content[0]).toMatchObject({ text: expect.stringContaining('not run again') as string });
});

test('usage of a reply that was cut is unknown, never zero, and counted once (PR22)', () => {
  const log = new LogBuilder().session().asks('go').turn().step().says(['half'], 'text', 'open');
  expect(close(log.conversation, 'crash').usage).toMatchObject({ steps: 1, unknownSteps: 1 });
  const replied = new LogBuilder().session().asks('go').turn().step().replies();
  expect(close(replied.conversation, 'crash').usage).toMatchObject({ steps: 1, unknownSteps: 0 });
});

test('RT25 recovery says what it repaired and what it ended, in the log, once', async () => {
  const home = await temporaryHome();
  const clock = new ManualClock();
  const session = await Session.create(placeInHome(home, sessionIdOf(1)), {
    clock,
    owner: 'the daemon',
    durability: 'kernel',
  });
  onTestFinished(() => session.close());
  await recover(session, 2);
  expect(session.conversation.warnings).toMatchObject([
    { code: 'orphans_ended', message: expect.stringContaining('2 processes') as string },
  ]);
});

/** The lines as a log with a frame for each, and where each frame ends. */
async function framesOf(home: HomePaths, lines: readonly string[]): Promise<{ bytes: Buffer; ends: number[] }> {
  const { log } = placeInHome(home, sessionIdOf(1));
  const writer = await LogWriter.create(log);
  const ends: number[] = [];
  for (const [place, line] of lines.entries()) ends.push((await writer.append([line], place + 1)).end);
  await writer.close();
  return { bytes: readFileSync(log), ends };
}

/** Every call of a reply has exactly one result, right behind it, in order. */
async function pairsUp(conversation: Conversation): Promise<void> {
  const items = await new Context(() => Promise.resolve(null)).items(conversation);
  const owed: string[] = [];
  for (const item of items) {
    if (item.type === 'result') expect(item.callId).toBe(owed.shift());
    else {
      expect(owed).toEqual([]);
      if (item.type === 'reply')
        for (const piece of item.pieces) if (piece.type === 'tool-call') owed.push(piece.callId);
    }
  }
  expect(owed).toEqual([]);
}
