import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isWhole, prepend } from '#protocol/conversation/base.ts';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { Draft, SessionEvent } from '#protocol/event.ts';
import type { PartId, StepId, TurnId } from '#protocol/values/ids.ts';
import { fold } from '#protocol/testing/log-builder.ts';
import { InvariantError } from '../base/errors.ts';
import { indexPathOf } from '../log/index-file.ts';
import { readFrames, walkHeaders } from '../log/reader.ts';
import { FaultyDisk } from '../testing/faulty-disk.ts';
import { queued, reopen, sessionWith, until, type MadeSession } from '../testing/session-with.ts';
import { Session } from './session.ts';

const holderProgram = fileURLToPath(new URL('fixtures/hold-session.ts', import.meta.url));

const titled = (title: string): Draft => ({ type: 'session.titled', title, by: 'person' });

async function linesOf(path: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const found of readFrames(path)) if (found.kind === 'frame') lines.push(...found.lines);
  return lines;
}

async function eventsOf(path: string): Promise<SessionEvent[]> {
  return (await linesOf(path)).map((line) => JSON.parse(line) as SessionEvent);
}

async function framesOf(path: string): Promise<{ offset: number; end: number; count: number }[]> {
  const frames = [];
  for await (const found of walkHeaders(path)) if (found.kind === 'frame') frames.push(found);
  return frames;
}

describe('writing', () => {
  test('RT8 a caller is answered, and a follower woken, only after the write has returned', async () => {
    const disk = new FaultyDisk();
    const { session } = await sessionWith({ options: { openFile: disk.open } });
    let release = () => {};
    disk.gate = new Promise((resolve) => (release = resolve));
    const said: string[] = [];
    const asked = session.append([titled('one')]).then(() => said.push('acknowledged'));
    const followed = session.changed(session.seq, AbortSignal.timeout(5000)).then(() => said.push('followed'));
    await new Promise((resolve) => setImmediate(resolve));
    expect({ said, seq: session.seq, title: session.conversation.session?.title }).toEqual({
      said: [],
      seq: 2,
      title: null,
    });
    expect(await session.read(2, 1000)).toEqual([]);
    release();
    await Promise.all([asked, followed]);
    expect(said.toSorted()).toEqual(['acknowledged', 'followed']);
    expect(session.seq).toBe(3);
  });

  test.each(['ENOSPC', 'EIO'] as const)(
    'a write that meets %s rejects its callers, publishes nothing, and leaves the conversation and the log as they were; the next write works',
    async (code) => {
      const disk = new FaultyDisk();
      const published: number[] = [];
      const { session, place } = await sessionWith({
        options: {
          openFile: disk.open,
          published: (_, events) => void published.push(...events.map(({ seq }) => seq)),
        },
      });
      const before = { conversation: session.conversation, bytes: readFileSync(place.log) };
      disk.full = code;
      disk.takes = 10;
      const asked = await Promise.allSettled([session.append([titled('a')]), session.append([titled('b')])]);
      expect(asked).toMatchObject([
        { status: 'rejected', reason: { code: 'storage_failed' } },
        { status: 'rejected', reason: { code: 'storage_failed' } },
      ]);
      expect(session.conversation).toBe(before.conversation);
      expect(readFileSync(place.log)).toEqual(before.bytes);
      disk.full = null;
      expect(await session.append([titled('c')])).toBe(3);
      expect(published).toEqual([1, 2, 3]);
      expect((await eventsOf(place.log)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    },
  );

  test('a failed write that cannot be cut back closes the session for writing and says so; what was good is there after the next opening', async () => {
    const disk = new FaultyDisk();
    const made = await sessionWith({ options: { openFile: disk.open } });
    disk.full = 'EIO';
    disk.takes = 10;
    disk.cutFails = true;
    await expect(made.session.append([titled('a')])).rejects.toMatchObject({ code: 'storage_failed' });
    expect(made.session.closedBecause).not.toBeNull();
    disk.full = null;
    disk.cutFails = false;
    await expect(made.session.append([titled('b')])).rejects.toMatchObject({
      code: 'storage_failed',
      message: expect.stringContaining('Start Alcove again') as string,
    });
    const again = await reopen(made);
    expect(again.repaired).not.toBeNull();
    expect(await again.append([titled('c')])).toBe(3);
  });

  test('what is asked for in one tick shares a frame, and each is told its own place', async () => {
    const disk = new FaultyDisk();
    const { session, place } = await sessionWith({ options: { openFile: disk.open } });
    const frames = (await framesOf(place.log)).length;
    const seqs = await Promise.all(['a', 'b', 'c', 'd'].map((title) => session.append([titled(title)])));
    expect(seqs).toEqual([3, 4, 5, 6]);
    expect((await framesOf(place.log)).length).toBe(frames + 1);
    expect(session.conversation.session?.title).toBe('d');
  });

  test('what arrives while a write is under way is decided on its result and shares the next frame', async () => {
    const disk = new FaultyDisk();
    const { session, place } = await sessionWith({ options: { openFile: disk.open } });
    let release = () => {};
    disk.gate = new Promise((resolve) => (release = resolve));
    const first = session.append([titled('first')]);
    await new Promise((resolve) => setImmediate(resolve));
    const seen: (string | null | undefined)[] = [];
    const later = ['b', 'c'].map((title) =>
      session.transact((conversation) => {
        seen.push(conversation.session?.title);
        return { events: [titled(title)], result: title };
      }),
    );
    release();
    expect(await first).toBe(3);
    expect(await Promise.all(later)).toEqual([
      { result: 'b', seq: 4 },
      { result: 'c', seq: 5 },
    ]);
    expect(seen).toEqual(['first', 'b']);
    expect((await framesOf(place.log)).map(({ count }) => count)).toEqual([2, 1, 2]);
  });

  test('a decision that throws rejects its caller alone', async () => {
    const { session } = await sessionWith();
    const [a, b, c] = await Promise.allSettled([
      session.append([titled('a')]),
      session.transact(() => {
        throw new Error('no');
      }),
      session.append([titled('c')]),
    ]);
    expect([a, b, c]).toMatchObject([{ value: 3 }, { status: 'rejected', reason: { message: 'no' } }, { value: 4 }]);
  });

  test('an event that does not fit is a bug of ours: nothing of its decision is written, others of the frame are', async () => {
    const { session, place } = await sessionWith();
    const [bad, good] = await Promise.allSettled([
      session.append([titled('before'), { type: 'turn.ended', turnId: 'trn_9' as TurnId, outcome: 'completed' }]),
      session.append([titled('good')]),
    ]);
    expect(bad).toMatchObject({ status: 'rejected' });
    expect((bad as PromiseRejectedResult).reason).toBeInstanceOf(InvariantError);
    expect(good).toMatchObject({ value: 3 });
    expect((await eventsOf(place.log)).map((event) => event.type)).toEqual([
      'session.created',
      'session.configured',
      'session.titled',
    ]);
  });

  test('an event that fits no schema, or is over the limit, is not written either (RT7)', async () => {
    const { session, place } = await sessionWith();
    const bytes = statSync(place.log).size;
    await expect(session.append([titled('x'.repeat(201))])).rejects.toThrow(InvariantError);
    const huge: Draft = { type: 'plan.proposed', text: 'x'.repeat(1024 * 1024) };
    await expect(session.append([huge])).rejects.toThrow(InvariantError);
    expect(statSync(place.log).size).toBe(bytes);
  });

  test('closing waits for what was asked for, may be repeated, and refuses what comes after', async () => {
    const made = await sessionWith();
    const asked = made.session.append([titled('last')]);
    await Promise.all([made.session.close(), made.session.close()]);
    expect(await asked).toBe(3);
    await expect(made.session.append([titled('late')])).rejects.toMatchObject({ code: 'unavailable' });
    const again = await Session.open(made.place, made.options);
    expect(again.conversation.session?.title).toBe('last');
    await again.close();
    await again.close();
  });

  test('with durability "power" an input is on the disk before it is acknowledged, and other events do not wait for it', async () => {
    const disk = new FaultyDisk();
    const { session, ids } = await sessionWith({ options: { openFile: disk.open, durability: 'power' } });
    await until(session, () => true);
    const before = disk.syncs;
    await session.append([titled('a')]);
    expect(disk.syncs).toBe(before);
    await session.append([queued(ids, 'hello')]);
    expect(disk.syncs).toBe(before + 1);
  });

  test('time in a log never goes back, whatever the clock does', async () => {
    const { session, clock } = await sessionWith();
    const at = session.conversation.at;
    clock.advance(-60_000);
    await session.append([titled('a')]);
    expect(session.conversation.at).toBe(at);
  });

  test('what one decision writes is not torn apart by what shares its frame', async () => {
    const { session, place } = await sessionWith();
    const plan = (length: number): Draft => ({ type: 'plan.proposed', text: 'x'.repeat(length) });
    await Promise.all([
      session.append([plan(62_000)]),
      session.append(Array.from({ length: 8 }, () => plan(1000))),
      session.append([plan(62_000)]),
    ]);
    expect((await framesOf(place.log)).map(({ count }) => count)).toEqual([2, 1, 8, 1]);
  });
});

describe('one writer', () => {
  test('RT19 C03 a second opener in this process is refused with the owner, and may still read', async () => {
    const { session, place, options } = await sessionWith();
    await expect(Session.open(place, options)).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining(`the daemon (process ${process.pid})`) as string,
    });
    expect(await eventsOf(place.log)).toHaveLength(2);
    await session.append([titled('still mine')]);
  });

  test('RT19 C03 a session that another process writes is refused with its name, and can be opened once that process was killed', async () => {
    const made = await sessionWith();
    await made.session.close();
    const child = spawn(process.execPath, ['--import', 'tsx', holderProgram, made.home.home, made.place.log], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [said] = (await once(createInterface(child.stdout), 'line')) as [string];
    expect(said).toBe('open');
    await expect(Session.open(made.place, made.options)).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining(`a terminal (process ${child.pid})`) as string,
    });
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    const session = await Session.open(made.place, made.options);
    onTestFinished(() => session.close());
    expect(session.conversation.session?.title).toBe('from the other process');
  });
});

describe('opening', () => {
  test('RT30 damage with good frames behind it is not repaired by guessing: opening is refused with its range, and nothing is changed', async () => {
    const made = await sessionWith({ events: [titled('one')] });
    await made.session.append([titled('two')]);
    await made.session.append([titled('three')]);
    await made.session.close();
    const frames = await framesOf(made.place.log);
    const middle = frames[1];
    if (middle === undefined) throw new Error('there should be a frame');
    const bytes = readFileSync(made.place.log);
    bytes[middle.end - 3] = (bytes[middle.end - 3] ?? 0) ^ 0xff;
    writeFileSync(made.place.log, bytes);
    await expect(Session.open(made.place, made.options)).rejects.toMatchObject({
      code: 'read_only',
      message: expect.stringContaining(`bytes ${middle.offset} to ${middle.end}`) as string,
    });
    expect(readFileSync(made.place.log)).toEqual(bytes);
  });

  test('RT1 an index that is deleted, cut or garbage changes no answer', async () => {
    const made = await sessionInLongTurn(60, 4000);
    const wanted = await answersOf(made);
    await made.session.close();
    const index = indexPathOf(made.place.log);
    const good = readFileSync(index);
    expect(good.length).toBeGreaterThan(1000);
    const flipped = Buffer.from(good);
    for (let place = 0; place < flipped.length; place += 97) flipped[place] = (flipped[place] ?? 0) ^ 0x55;
    const damages: (() => void)[] = [
      () => rmSync(index),
      () => truncateSync(index, good.length - 10),
      () => writeFileSync(index, 'garbage\n'.repeat(50)),
      () => writeFileSync(index, ''),
      () => writeFileSync(index, flipped),
    ];
    for (const damage of damages) {
      writeFileSync(index, good);
      damage();
      const session = await Session.open(made.place, made.options);
      await session.hydrate();
      expect(session.conversation).toStrictEqual(wanted.whole);
      expect(await pagesOf(session)).toStrictEqual(wanted.pages);
      await session.close();
    }
  });
});

test('live state equals the state read anew from the disk, for any session (property)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(999), { maxLength: 40 }), async (choices) => {
      const made = await sessionWith({ number: 1 });
      for (const choice of choices) {
        const draft = someDraft(made, choice);
        if (draft !== null) await made.session.append(draft).catch(() => undefined);
        made.clock.advance(choice);
      }
      const live = made.session.conversation;
      await made.session.close();
      const read = fold(await eventsOf(made.place.log));
      const again = await Session.open(made.place, made.options);
      const opened = again.conversation;
      await again.close();
      expect(read).toStrictEqual(JSON.parse(JSON.stringify(live)));
      expect(opened).toStrictEqual(read);
      expect(read.anomalies).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('RT5 events of unknown kinds survive opening, appending and paging, byte for byte, and change nothing', async () => {
  const made = await sessionWith({ events: [titled('known')] });
  await made.session.close();
  const { log } = made.place;
  const strange = [
    `{"seq":4,"at":${made.clock.now()},"type":"mood.noticed","mood":"grün 🌱","nested":{"b":1,"a":[1,2,{"x":null}]},"n":1.50}`,
    `{"at":${made.clock.now()},"type":"weather.changed",  "seq":5, "to":"rain"}`,
    `{"seq":6,"at":${made.clock.now()},"type":"session.titled","title":"newer","by":"person","colour":"red"}`,
  ];
  const { LogWriter } = await import('../log/writer.ts');
  const writer = await LogWriter.open(log, { end: statSync(log).size, lastSeq: 3 });
  await writer.append(strange, 4);
  await writer.close();
  const session = await Session.open(made.place, made.options);
  onTestFinished(() => session.close());
  expect({
    seq: session.seq,
    title: session.conversation.session?.title,
    wrong: session.conversation.anomalies,
  }).toEqual({
    seq: 6,
    title: 'newer',
    wrong: [],
  });
  await session.append([titled('after')]);
  expect((await linesOf(log)).slice(3, 6)).toEqual(strange);
  const { events } = await session.page(8);
  expect(events.slice(3, 6)).toEqual(strange.map((line) => JSON.parse(line) as unknown));
});

test('hydrating beside writes loses nothing', async () => {
  const made = await sessionInLongTurn(80, 3000);
  const opened = await reopen(made);
  expect(isWhole(opened.conversation)).toBe(false);
  const writes: Promise<number>[] = [];
  const hydrated = new AbortController();
  const writer = (async () => {
    for (let count = 0; !hydrated.signal.aborted; count += 1) {
      writes.push(opened.append([titled(`during ${count}`)]));
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await Promise.all([opened.hydrate(), opened.hydrate()]);
  hydrated.abort();
  await writer;
  await Promise.all(writes);
  expect(isWhole(opened.conversation)).toBe(true);
  expect(opened.conversation).toStrictEqual(fold(await eventsOf(made.place.log)));
});

test('hydrating a log whose beginning is damaged is refused, so that no history with a hole is sent on', async () => {
  const made = await sessionInLongTurn(80, 3000);
  await made.session.close();
  const bytes = readFileSync(made.place.log);
  const first = (await framesOf(made.place.log))[1];
  if (first === undefined) throw new Error('there should be a frame');
  bytes[first.end - 3] = (bytes[first.end - 3] ?? 0) ^ 0xff;
  writeFileSync(made.place.log, bytes);
  const session = await Session.open(made.place, made.options);
  onTestFinished(() => session.close());
  await expect(session.hydrate()).rejects.toMatchObject({ code: 'read_only' });
});

describe('a single turn of 20,000 events', () => {
  test('the first screen is bounded, and pages put before it make up the whole', async () => {
    const made = await sessionInLongTurn(1250, 400);
    const session = await reopen(made);
    expect(session.seq).toBeGreaterThan(20_000);
    const base = await session.tail(64 * 1024);
    const events = await allAfter(session, base.seq);
    const sent = JSON.stringify(base).length + JSON.stringify(events).length;
    expect(sent).toBeLessThan(300 * 1024);
    expect(base.seq).toBeGreaterThan(18_000);
    expect(JSON.stringify(events).length).toBeGreaterThan(64 * 1024);

    const whole = fold(await eventsOf(made.place.log));
    let shown = fold(events, base);
    for (let before = base.seq + 1; before > 1;) {
      const page = await session.page(before);
      expect(JSON.stringify(page).length).toBeLessThan(300 * 1024);
      shown = prependPage(page, shown);
      before = page.base.seq + 1;
    }
    expect(shown).toStrictEqual(whole);
  });

  test('a tail of any length asked for is given, as far as the log goes', async () => {
    const made = await sessionInLongTurn(600, 800);
    for (const wanted of [0, 10_000, 100_000, 300_000]) {
      const base = await made.session.tail(wanted);
      const length = (await allAfter(made.session, base.seq)).map((event) => JSON.stringify(event).length + 1);
      expect(length.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(wanted);
    }
    expect((await made.session.tail(100_000_000)).seq).toBe(0);
  });
});

// ---- helpers ----

function prependPage(page: { base: Conversation; events: SessionEvent[] }, later: Conversation): Conversation {
  return prepend(fold(page.events, page.base), later);
}

async function allAfter(session: Session, after: number): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  while ((events.at(-1)?.seq ?? after) < session.seq)
    events.push(...(await session.read(events.at(-1)?.seq ?? after, 64 * 1024)));
  return events;
}

async function answersOf(made: MadeSession) {
  await made.session.hydrate();
  return {
    whole: JSON.parse(JSON.stringify(made.session.conversation)) as Conversation,
    pages: await pagesOf(made.session),
  };
}

/** Everything that a reader who goes back page by page gets, joined. */
async function pagesOf(session: Session): Promise<Conversation> {
  const base = await session.tail(1);
  let shown = fold(await allAfter(session, base.seq), base);
  for (let before = base.seq + 1; before > 1;) {
    const page = await session.page(before);
    shown = prependPage(page, shown);
    before = page.base.seq + 1;
  }
  return JSON.parse(JSON.stringify(shown)) as Conversation;
}

/** One open turn with many closed steps: sixteen events each, `length` characters of text a step, written as they come. */
async function sessionInLongTurn(steps: number, length: number): Promise<MadeSession> {
  const turnId = 'trn_1' as TurnId;
  const made = await sessionWith({ events: [{ type: 'turn.started', turnId }] });
  for (let number = 1; number <= steps; number += 1) {
    const stepId = `stp_${number}` as StepId;
    const partId = `prt_${number}` as PartId;
    await made.session.append([
      { type: 'step.started', turnId, stepId, model: 'scripted/demo', effort: null, mode: 'ask' },
      { type: 'part.started', stepId, partId, kind: 'text' },
      ...Array.from({ length: 11 }, (): Draft => ({ type: 'part.delta', partId, text: 'leaf '.repeat(length / 55) })),
    ]);
    await made.session.append([
      { type: 'part.ended', partId },
      { type: 'step.replied', stepId, stop: 'end', usage: null, cost: null, firstTokenMs: 1, totalMs: 2 },
      { type: 'step.ended', stepId, outcome: 'completed' },
    ]);
  }
  return made;
}

/** Some next events for the state that the session is in; null where the choice means nothing. */
function someDraft({ session, ids }: MadeSession, choice: number): Draft[] | null {
  const { active, inbox, counts, approvals } = session.conversation;
  const step = active?.step ?? null;
  const text = 'ab🌱'.repeat(choice % 40);
  switch (choice % 12) {
    case 0:
      return [queued(ids, text, choice % 2 === 0 ? 'next-turn' : 'next-step')];
    case 1:
      return active === null ? [{ type: 'turn.started', turnId: `trn_${counts.turns + 1}` as TurnId }] : null;
    case 2:
    case 3: {
      if (active === null || step !== null) return null;
      const stepId = `stp_${counts.steps + 1}` as StepId;
      const inputIds = inbox.slice(0, 2).map((one) => one.inputId);
      return [
        { type: 'step.started', turnId: active.turnId, stepId, model: 'scripted/demo', effort: null, mode: 'ask' },
        ...(inputIds.length === 0 ? [] : [{ type: 'input.claimed' as const, stepId, inputIds }]),
      ];
    }
    case 4: {
      if (step === null || step.reply !== null) return null;
      const partId = `prt_${counts.parts + 1}` as PartId;
      return [
        { type: 'part.started', stepId: step.stepId, partId, kind: 'text' },
        { type: 'part.delta', partId, text },
        { type: 'part.ended', partId },
      ];
    }
    case 5:
    case 6:
      if (step === null || step.reply !== null) return null;
      return [
        {
          type: 'step.replied',
          stepId: step.stepId,
          stop: 'end',
          usage: null,
          cost: 0.1,
          firstTokenMs: null,
          totalMs: 3,
        },
        ...[1, 2].map((place): Draft => ({
          type: 'tool-call.requested',
          callId: `cal_${counts.calls + place}` as never,
          stepId: step.stepId,
          providerCallId: null,
          tool: 'bash',
          arguments: { command: text },
          display: { title: 'Run', kind: 'command' },
        })),
      ];
    case 7: {
      const call = step?.calls.find((one) => one.state === 'requested');
      return call === undefined
        ? null
        : [
            {
              type: 'approval.requested',
              approvalId: `apr_${counts.approvals + 1}` as never,
              callId: call.callId,
              reason: 'why',
              caution: false,
              rulePattern: text,
            },
          ];
    }
    case 8:
      return approvals[0] === undefined
        ? null
        : [
            {
              type: 'approval.resolved',
              approvalId: approvals[0].approvalId,
              decision: 'allow',
              scope: 'session',
              by: 'me',
            },
          ];
    case 9: {
      const call = step?.calls.find((one) => one.state === 'requested');
      return call === undefined
        ? null
        : [
            { type: 'tool-call.started', callId: call.callId },
            { type: 'tool-call.output', callId: call.callId, text },
            { type: 'tool-call.ended', callId: call.callId, outcome: 'completed', content: [{ type: 'text', text }] },
          ];
    }
    case 10:
      return step === null ? null : [{ type: 'step.ended', stepId: step.stepId, outcome: 'completed' }];
    default:
      return active === null ? null : [{ type: 'turn.ended', turnId: active.turnId, outcome: 'completed' }];
  }
}
