import { beforeEach, describe, expect, it } from 'vitest';
import { toBase } from '#protocol/conversation/base.ts';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { settled, summaryOf, TestApp } from '../testing/app.ts';
import type { FakeSocket } from '../testing/fake-daemon.ts';
import type { SessionState } from './session.svelte.ts';

const { sessionId } = summaryOf(1);
let visit: TestApp;
let socket: FakeSocket;
let session: SessionState;

beforeEach(async () => {
  visit = new TestApp();
  socket = await visit.open([summaryOf(1)]);
  session = visit.app.session(sessionId);
});

/** Whole turns, four events each. */
function turns(first: number, last: number): SessionEvent[] {
  const events: SessionEvent[] = [];
  for (let turn = first; turn <= last; turn++) {
    const [turnId, stepId] = [`trn_${turn}`, `stp_${turn}`];
    const seq = turn * 4 - 3;
    events.push(
      { seq, at: seq, type: 'turn.started', turnId },
      { seq: seq + 1, at: seq, type: 'step.started', turnId, stepId, model: 'a/b', effort: null, mode: 'ask' },
      { seq: seq + 2, at: seq, type: 'step.ended', stepId, outcome: 'completed' },
      { seq: seq + 3, at: seq, type: 'turn.ended', turnId, outcome: 'completed' },
    );
  }
  return events;
}

const fold = (events: readonly SessionEvent[], from: Conversation = emptyConversation) => events.reduce(reduce, from);

/** Answers the subscription with the tail after turn `based` of `last` turns. */
async function follow(based = 0, last = 0): Promise<void> {
  const asked = await socket.next('session.subscribe');
  const base = toBase(fold(turns(1, based)));
  socket.answer(asked, { subscription: 'one', base, seq: last * 4 });
  if (last > based) tell(...turns(based + 1, last));
}

function tell(...events: SessionEvent[]): void {
  socket.notify('session.events', { subscription: 'one', events });
}

describe('following', () => {
  it('shows nothing before the tail has come, then all of it at once', async () => {
    expect(session.phase).toBe('loading');
    const asked = await socket.next('session.subscribe');
    socket.answer(asked, { subscription: 'one', base: toBase(fold(turns(1, 1))), seq: 12 });
    tell(...turns(2, 2));
    visit.frames.repaint();
    expect([session.conversation, session.phase]).toEqual([null, 'loading']);
    tell(...turns(3, 3));
    expect(session.conversation?.turns).toHaveLength(2);
    expect(session.phase).toBe('live');
  });

  it('assigns at most once a repaint', async () => {
    await follow(0, 1);
    const before = session.conversation;
    tell(...turns(2, 2));
    tell(...turns(3, 3));
    expect(session.conversation).toBe(before);
    visit.frames.repaint();
    expect(session.conversation?.turns).toHaveLength(3);
    expect(session.conversation?.turns[0]).toBe(before?.turns[0]);
  });

  it('goes on in a page that is hidden and has no repaints', async () => {
    await follow(0, 1);
    tell(...turns(2, 2));
    visit.clock.advance(250);
    expect(session.conversation?.turns).toHaveLength(2);
  });

  it('says that it is offline, then catching up, and shows what comes', async () => {
    await follow(0, 1);
    socket.drop();
    expect(session.phase).toBe('offline');
    expect(session.conversation?.turns).toHaveLength(1);
    socket = await visit.reopen([summaryOf(1)]);
    const asked = await socket.next('session.subscribe');
    expect(asked.params).toEqual({ sessionId, after: 4 });
    socket.answer(asked, { subscription: 'one', base: null, seq: 8 });
    expect(session.phase).toBe('catching-up');
    tell(...turns(2, 2));
    expect([session.phase, session.conversation?.turns.length]).toEqual(['live', 2]);
  });

  it('tells a missing session from one that cannot be read', async () => {
    socket.refuse(await socket.next('session.subscribe'), 'not_found', 'There is no such session.');
    expect([session.phase, session.problem]).toEqual(['missing', 'There is no such session.']);
    const other = visit.app.session('ses_0192f000-0000-7000-8000-000000000002' as SessionId);
    socket.refuse(await socket.next('session.subscribe'), 'read_only', 'The log is damaged.');
    expect([other.phase, other.problem]).toEqual(['loading', 'The log is damaged.']);
  });

  it('pages earlier history in, also while new events come', async () => {
    await follow(2, 3);
    expect(session.hasEarlier).toBe(true);
    const loaded = session.loadEarlier();
    const asked = await socket.next('session.page');
    expect([asked.params, session.loadingEarlier]).toEqual([{ sessionId, before: 9 }, true]);
    tell(...turns(4, 4));
    socket.answer(asked, { base: toBase(fold(turns(1, 1))), events: turns(2, 2) });
    await loaded;
    expect(session.conversation?.turns.map((turn) => turn.turnId)).toEqual(['trn_2', 'trn_3', 'trn_4']);
    const first = session.loadEarlier();
    const again = await socket.next('session.page');
    expect(again.params).toEqual({ sessionId, before: 5 });
    socket.answer(again, { base: emptyConversation, events: turns(1, 1) });
    await first;
    visit.frames.repaint();
    expect(session.conversation).toEqual(fold(turns(1, 4)));
    expect(session.hasEarlier).toBe(false);
  });

  it('goes on from its place after it was looked away from', async () => {
    await follow(0, 1);
    for (let other = 10; other < 17; other++) visit.app.session(summaryOf(other).sessionId);
    await settled();
    expect(socket.sentMethods()).toContain('session.unsubscribe');
    expect(visit.app.session(sessionId)).not.toBe(session);
  });
});

describe('submitting', () => {
  beforeEach(() => follow());

  it('clears the draft when the daemon has it and not before', async () => {
    session.draft = 'hello';
    const submitted = session.submit('hello', 'next-turn');
    const asked = await socket.next('session.submit');
    expect([session.draft, session.sending.length, session.unsent.length]).toEqual(['hello', 1, 0]);
    socket.answer(asked, { seq: 1 });
    await submitted;
    expect([session.draft, session.sending.length, session.unsent.length]).toEqual(['', 0, 0]);
    expect(asked.params).toMatchObject({ target: 'next-turn', parts: [{ type: 'text', text: 'hello' }] });
  });

  it('leaves alone what was written meanwhile', async () => {
    session.draft = 'hello';
    const submitted = session.submit('hello', 'next-turn');
    session.draft = 'and more';
    socket.answer(await socket.next('session.submit'), { seq: 1 });
    await submitted;
    expect(session.draft).toBe('and more');
  });

  it('pressed twice is sent once', async () => {
    const both = [session.submit('hello', 'next-turn'), session.submit('hello', 'next-turn')];
    socket.answer(await socket.next('session.submit'), { seq: 1 });
    await Promise.all(both);
    expect(socket.sentMethods().filter((method) => method === 'session.submit')).toHaveLength(1);
  });

  it('gives a refused input back to the composer, with the reason', async () => {
    session.draft = 'hello';
    const submitted = session.submit('hello', 'next-turn');
    socket.refuse(await socket.next('session.submit'), 'read_only', 'Another process writes it.');
    await submitted;
    expect([session.draft, session.unsent]).toEqual(['hello', []]);
    expect(session.lastError).toEqual({ code: 'read_only', message: 'Another process writes it.' });
  });

  it('keeps a refused input as "not sent" where the composer holds something else', async () => {
    const submitted = session.submit('hello', 'next-turn');
    session.draft = 'other';
    socket.refuse(await socket.next('session.submit'), 'storage_failed', 'The disk is full.');
    await submitted;
    expect([session.draft, session.unsent.map((one) => one.text)]).toEqual(['other', ['hello']]);
  });

  it('written while the daemon is away, it stands in the list at once and goes when the daemon is back', async () => {
    session.draft = 'hello';
    socket.drop();
    const submitted = session.submit('hello', 'next-step');
    expect([session.draft, session.held.map((one) => one.text), session.unsent]).toEqual(['', ['hello'], []]);
    const again = await visit.reopen([summaryOf(1)]);
    again.answer(await again.next('session.submit'), { seq: 1 });
    await submitted;
    expect([session.held, session.unsent]).toEqual([[], []]);
  });

  it('leaves the composer when the connection is lost under way', () => {
    session.draft = 'hello';
    void session.submit('hello', 'next-step');
    expect([session.draft, session.held]).toEqual(['hello', []]);
    socket.drop();
    expect([session.draft, session.held.map((one) => one.text)]).toEqual(['', ['hello']]);
  });

  it('where the daemon will not write, the reason stays until it is asked again', async () => {
    const submitted = session.submit('hello', 'next-turn');
    socket.refuse(await socket.next('session.submit'), 'read_only', 'Its log is damaged.');
    await submitted;
    session.clearError();
    expect(session.problem).toBe('Its log is damaged.');
    session.retry();
    expect(session.problem).toBeNull();
  });

  it('after a minute without a connection it stands there as "not sent", once, also after a reload', async () => {
    session.draft = 'hello';
    socket.drop();
    const submitted = session.submit('hello', 'next-step');
    visit.clock.advance(60_000);
    await submitted;
    expect([session.draft, session.unsent.map((one) => one.text)]).toEqual(['', ['hello']]);

    const reloaded = new TestApp({ daemon: visit.daemon, storage: visit.storage });
    const again = await reloaded.open([summaryOf(1)]);
    const kept = reloaded.app.session(sessionId);
    expect(kept.unsent).toEqual(session.unsent);
    const [input] = kept.unsent;
    const sent = input && kept.sendUnsent(input.inputId);
    const asked = await again.next('session.submit');
    expect(asked.params).toMatchObject({ commandId: input?.inputId, target: 'next-step' });
    again.answer(asked, { seq: 1 });
    await sent;
    expect(kept.unsent).toEqual([]);
  });

  it('an input whose acknowledgement was lost is known by its event and does not stand there as "not sent"', async () => {
    const submitted = session.submit('hello', 'next-turn');
    const { commandId: id } = (await socket.next('session.submit')).params as { commandId: string };
    socket.drop();
    visit.clock.advance(100);
    visit.app.close();
    await submitted;
    expect(session.unsent).toHaveLength(1);

    const reloaded = new TestApp({ daemon: visit.daemon, storage: visit.storage });
    socket = await reloaded.open([summaryOf(1)]);
    session = reloaded.app.session(sessionId);
    const asked = await socket.next('session.subscribe');
    socket.answer(asked, { subscription: 'one', base: emptyConversation, seq: 1 });
    const parts = [{ type: 'text', text: 'hello' }];
    tell({ seq: 1, at: 1, type: 'input.queued', inputId: id, target: 'next-turn', parts, origin: 'person' });
    expect(session.unsent).toEqual([]);
  });

  it('an input that is older than a day is sent under a new id', async () => {
    socket.drop();
    const submitted = session.submit('hello', 'next-turn');
    visit.clock.advance(60_000);
    await submitted;
    const [old] = session.unsent;
    visit.clock.sleep(25 * 3_600_000);
    visit.client.retryNow();
    socket = await visit.open([summaryOf(1)]);
    const sent = old && session.sendUnsent(old.inputId);
    const asked = await socket.next('session.submit');
    expect((asked.params as { commandId: string }).commandId).not.toBe(old?.inputId);
    socket.answer(asked, { seq: 1 });
    await sent;
    expect(session.unsent).toEqual([]);
  });

  it('what is discarded is gone', async () => {
    socket.drop();
    const submitted = session.submit('hello', 'next-turn');
    visit.clock.advance(60_000);
    await submitted;
    const [input] = session.unsent;
    if (input !== undefined) session.discardUnsent(input.inputId);
    expect([session.unsent, visit.app.session(sessionId).unsent]).toEqual([[], []]);
  });
});

it('a command that fails leaves its reason, and never rejects', async () => {
  const paused = session.pause();
  socket.refuse(await socket.next('session.pause'), 'conflict', 'Nothing runs.');
  await paused;
  expect(session.lastError).toEqual({ code: 'conflict', message: 'Nothing runs.' });
  session.clearError();
  expect(session.lastError).toBeNull();
});

it('a draft survives a reload, and belongs to its machine', async () => {
  session.draft = 'half a thought';
  const reloaded = new TestApp({ daemon: visit.daemon, storage: visit.storage });
  await reloaded.open();
  expect(reloaded.app.session(sessionId).draft).toBe('half a thought');
});

describe('with attachments', () => {
  const ivy = { type: 'text' as const, text: 'ivy', name: 'ivy.txt' };
  const attach = () => session.attachments.add([new File(['ivy'], 'ivy.txt')]);

  it('UI22: a refused input stays in the composer with what is attached', async () => {
    await attach();
    session.draft = 'look';
    const sent = session.submit('look', 'next-turn');
    const asked = await socket.next('session.submit');
    expect((asked.params as { parts: unknown }).parts).toEqual([{ type: 'text', text: 'look' }, ivy]);
    socket.refuse(asked, 'too_large', 'Too many pictures.');
    await sent;
    expect([session.draft, session.attachments.parts, session.unsent]).toEqual(['look', [ivy], []]);
  });

  it('UI22: what was not acknowledged is sent again with its attachments, under its id', async () => {
    await attach();
    const sent = session.submit('', 'next-turn');
    const asked = await socket.next('session.submit');
    socket.drop();
    visit.clock.advance(61_000);
    await sent;
    expect([session.attachments.parts, session.unsent.map((one) => one.parts)]).toEqual([[], [[ivy]]]);
    socket = await visit.reopen([summaryOf(1)]);
    void session.sendUnsent(session.unsent[0]!.inputId);
    expect((await socket.next('session.submit')).params).toMatchObject({
      parts: [ivy],
      commandId: (asked.params as { commandId: string }).commandId,
    });
  });
});
