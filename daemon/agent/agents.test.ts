import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SessionSummary } from '#protocol/commands/session-values.ts';
import type { HomePaths } from '../base/files.ts';
import { indexPathOf } from '../log/index-file.ts';
import { walkHeaders } from '../log/reader.ts';
import { placeInHome } from '../session/place.ts';
import { Session } from '../session/session.ts';
import { allCalls, calls, fakeTool, says } from '../testing/agent-on.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { queued, sessionWith, until } from '../testing/session-with.ts';
import { CountingIds, sessionIdOf, temporaryHome } from '../testing/temporary-home.ts';
import { agentsIn } from '../testing/agents-in.ts';

const idsOf = (rows: readonly SessionSummary[]) => rows.map(({ sessionId }) => sessionId).toSorted();

describe('making a session', () => {
  test('it begins its first turn at once; a repeat of the command is told the same, and other parameters are a conflict', async () => {
    const { agents, ids, request, model } = await agentsIn(await temporaryHome());
    const mark = ids.mark();
    const seq = await agents.create(request(1, 'hello'), mark);
    expect(await agents.create(request(1, 'hello'), mark)).toBe(seq);
    await expect(agents.create(request(1, 'other'), { ...mark, digest: 'other' })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(agents.create(request(1), ids.mark())).rejects.toMatchObject({ code: 'conflict' });
    const agent = await agents.agent(sessionIdOf(1));
    await until(agent.session, (now) => now.turns.length === 1);
    expect(model.requests).toHaveLength(1);
  });

  test('of two that ask at once for the same session both get the one answer, also while the list is looked at', async () => {
    const { agents, ids, request, rows, faults } = await agentsIn(await temporaryHome());
    for (let number = 1; number <= 20; number += 1) {
      const mark = ids.mark();
      const [a, b] = await Promise.all([
        agents.create(request(number), mark),
        agents.create(request(number), mark),
        agents.lookAround(),
      ]);
      expect(a).toBe(b);
    }
    await agents.lookAround();
    expect(rows().map(({ owner }) => owner)).toEqual(Array.from({ length: 20 }, () => null));
    expect(faults).toEqual([]);
  });

  test('an empty log that a crash left is no session, and its id can be used', async () => {
    const home = await temporaryHome();
    const { agents, ids, request, rows } = await agentsIn(home);
    writeFileSync(placeInHome(home, sessionIdOf(1)).log, '');
    await agents.lookAround();
    expect(rows()).toEqual([]);
    await agents.create(request(1, 'hello'), ids.mark());
    expect(rows()[0]).toMatchObject({ sessionId: sessionIdOf(1), title: 'hello' });
  });

  test.each([
    ['an empty log', () => Buffer.alloc(0)],
    ['the half of a first frame', (whole: Buffer) => whole.subarray(0, 100)],
  ])('RT4 %s, left by a kill, can be neither opened nor written to, and its id can be used', async (_, leave) => {
    const other = await temporaryHome();
    const whole = (await sessionWith({ home: other, number: 1 })).place.log;
    const home = await temporaryHome();
    const { agents, ids, request, rows } = await agentsIn(home);
    writeFileSync(placeInHome(home, sessionIdOf(1)).log, leave(readFileSync(whole)));
    await agents.lookAround();
    await expect(agents.agent(sessionIdOf(1))).rejects.toMatchObject({ code: 'not_found' });
    await expect(agents.source(sessionIdOf(1))).rejects.toMatchObject({ code: 'not_found' });
    expect(rows()).toEqual([]);
    writeFileSync(placeInHome(home, sessionIdOf(1)).log, leave(readFileSync(whole)));
    await agents.create(request(1, 'hello'), ids.mark());
    expect((await agents.agent(sessionIdOf(1))).conversation.session?.folder).toBe('/nowhere');
  });

  test('a first message too long for an event is taken all the same', async () => {
    const { agents, ids, request, model } = await agentsIn(await temporaryHome());
    const text = 'long '.repeat(100_000);
    await agents.create(request(1, text), ids.mark());
    await until((await agents.agent(sessionIdOf(1))).session, (now) => now.turns.length === 1);
    expect(model.requests[0]?.items[0]).toMatchObject({ parts: [{ text }] });
  });

  test('a fork is a session of its own; a repeat of the command is told the same', async () => {
    const { agents, ids, request, rows } = await agentsIn(await temporaryHome());
    await agents.create(request(1, 'hello'), ids.mark());
    const source = (await agents.agent(sessionIdOf(1))).session;
    await until(source, (now) => now.turns.length === 1);
    const mark = ids.mark();
    const [a, b] = await Promise.all([
      agents.fork(sessionIdOf(1), source.seq, sessionIdOf(2), mark),
      agents.fork(sessionIdOf(1), source.seq, sessionIdOf(2), mark),
    ]);
    expect(a).toBe(b);
    expect((await agents.agent(sessionIdOf(2))).conversation.session?.parent).toEqual({
      sessionId: sessionIdOf(1),
      seq: source.seq,
    });
    expect(idsOf(rows())).toEqual([sessionIdOf(1), sessionIdOf(2)]);
    await expect(agents.fork(sessionIdOf(1), source.seq - 2, sessionIdOf(3), ids.mark())).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(agents.agent(sessionIdOf(3))).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a start', () => {
  /** Three sessions: one at rest, one cut in mid-call, one with a waiting message. */
  async function leftBehind(home: HomePaths): Promise<void> {
    const turn = { turnId: 'trn_1' as never };
    const stepId = 'stp_1' as never;
    await made(1, [{ type: 'session.titled', title: 'resting', by: 'person' }]);
    await made(2, [
      { type: 'turn.started', ...turn },
      { type: 'step.started', ...turn, stepId, model: 'scripted/demo', effort: null, mode: 'ask' },
      { type: 'step.replied', stepId, stop: 'tool-calls', usage: null, cost: null, firstTokenMs: null, totalMs: 1 },
      {
        type: 'tool-call.requested',
        callId: 'cal_1' as never,
        stepId,
        providerCallId: null,
        tool: 'bash',
        arguments: {},
        display: { title: 'Run', kind: 'command' },
      },
      { type: 'tool-call.started', callId: 'cal_1' as never },
    ]);
    await made(3, [queued(new CountingIds(new ManualClock()), 'left over')]);
    async function made(number: number, events: Parameters<Session['append']>[0]) {
      const { session } = await sessionWith({ home, number, events });
      await session.close();
    }
  }

  test('RT4 RT24 C04 closes what a killed daemon left moving, runs nothing again, and takes up what waits behind a turn that ended well', async () => {
    const home = await temporaryHome();
    await leftBehind(home);
    let ran = 0;
    const bash = fakeTool('bash', { run: () => Promise.resolve(`${(ran += 1)}`) });
    const { agents, rows, model } = await agentsIn(home, () => says('ok'), { tools: [bash] });
    await agents.start();
    await until((await agents.agent(sessionIdOf(3))).session, (now) => now.turns.length === 1);
    const { conversation } = await agents.agent(sessionIdOf(2));
    expect(allCalls(conversation)[0]?.outcome).toBe('interrupted');
    expect(conversation.warnings.map(({ code }) => code)).toEqual(['interrupted']);
    expect({ ran, asked: model.requests.length }).toEqual({ ran: 0, asked: 1 });
    expect(rows().find(({ sessionId }) => sessionId === sessionIdOf(2))).toMatchObject({
      state: 'interrupted',
      driver: 'idle',
    });
  });

  test('RT4 one that is killed after it has looked at a log, and before it has closed what moves there, leaves that to the next', async () => {
    const home = await temporaryHome();
    await leftBehind(home);
    const killed = await agentsIn(home);
    await killed.catalog.refresh(sessionIdOf(2), null);
    killed.catalog.close();
    const { agents, rows } = await agentsIn(home);
    await agents.start();
    expect(rows().find(({ sessionId }) => sessionId === sessionIdOf(2))).toMatchObject({ state: 'interrupted' });
  });

  test('RT1 with the catalogue deleted or garbage has the same rows, and does not open what rests', async () => {
    const home = await temporaryHome();
    const first = await agentsIn(home);
    for (let number = 1; number <= 5; number += 1) {
      await first.agents.create(first.request(number, `message ${number}`), first.ids.mark());
      await until((await first.agents.agent(sessionIdOf(number))).session, (now) => now.turns.length === 1);
      first.clock.advance(1000);
    }
    await first.agents.close();
    const wanted = first.rows();
    await first.close();
    const damages: (() => void)[] = [
      () => rmSync(home.index),
      () => writeFileSync(home.index, 'this is no database\n'.repeat(500)),
      () => truncateSync(home.index, 5000),
      () => {
        const bytes = readFileSync(home.index);
        for (let at = 4096; at < bytes.length; at += 53) bytes[at] = (bytes[at] ?? 0) ^ 0x5a;
        writeFileSync(home.index, bytes);
      },
    ];
    for (const damage of damages) {
      for (const suffix of ['-wal', '-shm']) rmSync(`${home.index}${suffix}`, { force: true });
      damage();
      const again = await agentsIn(home);
      await again.agents.start();
      expect(again.rows()).toEqual(wanted);
      expect(again.faults).toEqual([]);
      const owners = readdirSync(home.locks).filter((name) => name.endsWith('.owner.json'));
      expect(owners).toEqual([]);
      await again.close();
    }
  });

  test('RT30 one damaged log, one that is no log, one that cannot be read and one whose lock is garbage hide no other', async () => {
    const home = await temporaryHome();
    const { session, place } = await sessionWith({ home, number: 1 });
    for (const title of ['a', 'b', 'c']) await session.append([{ type: 'session.titled', title, by: 'person' }]);
    await session.close();
    const frames = [];
    for await (const found of walkHeaders(place.log)) frames.push(found);
    const bytes = readFileSync(place.log);
    const middle = frames[1];
    if (middle?.kind !== 'frame') throw new Error('there should be a frame');
    bytes[middle.end - 2] = (bytes[middle.end - 2] ?? 0) ^ 0xff;
    writeFileSync(place.log, bytes);
    const path = (number: number) => placeInHome(home, sessionIdOf(number)).log;
    writeFileSync(path(2), '{"seq":1}\n');
    mkdirSync(path(3));
    symlinkSync('/nonexistent/target', path(4));
    const good = await sessionWith({
      home,
      number: 5,
      events: [{ type: 'session.titled', title: 'good', by: 'person' }],
    });
    await good.session.close();
    const locked = await sessionWith({ home, number: 6 });
    await locked.session.close();
    writeFileSync(placeInHome(home, sessionIdOf(6)).lock, '{"pid":1}\n'.repeat(500));

    const { agents, rows, faults } = await agentsIn(home);
    await agents.start();
    const row = (number: number) => rows().find(({ sessionId }) => sessionId === sessionIdOf(number));
    expect(row(5)).toMatchObject({ title: 'good', problem: null });
    expect(row(1)).toMatchObject({
      title: 'c',
      problem: expect.stringContaining(`bytes ${middle.offset} to ${middle.end}`) as string,
    });
    expect(row(2)?.problem).toContain('plain lines');
    expect(row(3)?.problem).not.toBeNull();
    await agents.lookAround();
    expect(faults.length).toBeGreaterThan(0);
    const reading = await agents.source(sessionIdOf(1));
    expect((await reading.read(0, 1_000_000)).map(({ seq }) => seq)).toEqual([1, 2, 4, 5]);
    reading.release();
    await expect(agents.agent(sessionIdOf(1))).rejects.toMatchObject({ code: 'read_only' });
    expect((await agents.agent(sessionIdOf(5))).state).toBe('idle');
  });

  test('RT1 from the log alone: with every other file deleted the conversation, its queue, model and usage are the same', async () => {
    const home = await temporaryHome();
    const first = await agentsIn(home, [
      [
        ...says('hi'),
        { type: 'usage', usage: { input: 3, output: 4, cacheRead: null, cacheWrite: null, reasoning: null } },
      ],
    ]);
    await first.agents.create(first.request(1, 'hello'), first.ids.mark());
    const agent = await first.agents.agent(sessionIdOf(1));
    await until(agent.session, (now) => now.turns.length === 1);
    await agent.configure({ model: 'other/model', effort: 'high' }, first.ids.mark());
    await agent.session.append([queued(first.ids, 'waits')]);
    const wanted = agent.conversation;
    await first.close();
    for (const name of readdirSync(home.home))
      if (name !== 'sessions') rmSync(join(home.home, name), { recursive: true });
    rmSync(indexPathOf(placeInHome(home, sessionIdOf(1)).log), { force: true });
    const { makeAgentFolders } = await import('./agent-folders.ts');
    await makeAgentFolders(home);
    const session = await Session.open(placeInHome(home, sessionIdOf(1)), {
      clock: first.clock,
      owner: 'the daemon',
      durability: 'kernel',
    });
    onTestFinished(() => session.close());
    expect(session.conversation).toStrictEqual(JSON.parse(JSON.stringify(wanted)));
  });
});

describe('a session that somebody else writes', () => {
  test('RT19 is listed with its owner, can be read and followed, and cannot be written; once it is free it can', async () => {
    const home = await temporaryHome();
    const { session, place } = await sessionWith({ home, number: 1, options: { owner: 'a terminal' } });
    const { agents, rows } = await agentsIn(home);
    await agents.start();
    expect(rows()).toMatchObject([{ owner: expect.stringContaining('a terminal') as string }]);
    await expect(agents.agent(sessionIdOf(1))).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining('a terminal') as string,
    });
    const reading = await agents.source(sessionIdOf(1));
    const seq = reading.seq;
    const growth = reading.changed(seq, AbortSignal.timeout(5000));
    await session.append([{ type: 'session.titled', title: 'from outside', by: 'person' }]);
    await growth;
    expect(await reading.read(seq, 10_000)).toMatchObject([{ type: 'session.titled', title: 'from outside' }]);
    expect(existsSync(place.owner)).toBe(true);
    reading.release();
    await session.close();
    await agents.lookAround();
    expect((await agents.agent(sessionIdOf(1))).conversation.session?.title).toBe('from outside');
  });

  test('a look around touches no log that did not change, and tells of the one that did', async () => {
    const home = await temporaryHome();
    const { session, place } = await sessionWith({ home, number: 1 });
    await session.close();
    for (let number = 2; number <= 40; number += 1) copyFileSync(place.log, placeInHome(home, sessionIdOf(number)).log);
    const { agents, logs, rows, told, faults } = await agentsIn(home);
    const look = logs.look.bind(logs);
    const touched: string[] = [];
    logs.look = async () => {
      const looked = await look();
      touched.push(...looked.there.keys());
      return looked;
    };
    await agents.start();
    expect(rows()).toHaveLength(40);
    expect([touched.length, told.length]).toEqual([40, 40]);
    for (let time = 0; time < 3; time += 1) await agents.lookAround();
    expect([touched.length, told.length]).toEqual([40, 40]);
    const again = await Session.open(placeInHome(home, sessionIdOf(7)), {
      clock: new ManualClock(),
      owner: 'a terminal',
      durability: 'kernel',
    });
    await again.append([{ type: 'session.titled', title: 'gone on with', by: 'person' }]);
    // Nobody asks for the list: it is heard of.
    await expect.poll(() => told.at(-1)?.title).toBe('gone on with');
    expect(new Set(touched.slice(40))).toEqual(new Set([sessionIdOf(7)]));
    await again.close();
    // A writer's end changes no log: it is looked at each time while its row says that it is written.
    await expect.poll(() => told.at(-1)?.owner).toBeNull();
    await agents.lookAround();
    touched.length = 0;
    await agents.lookAround();
    expect([touched, faults]).toEqual([[], []]);
  });

  test('what could not be looked at is tried again, though its log stays as it is', async () => {
    const home = await temporaryHome();
    const { session, place } = await sessionWith({ home, number: 1 });
    await session.close();
    writeFileSync(place.lock, '{"pid":1}\n'.repeat(500));
    const { agents, rows, faults } = await agentsIn(home);
    await agents.start();
    expect([rows().length, faults.length]).toEqual([0, 1]);
    await agents.lookAround();
    expect([rows().length, faults.length]).toEqual([0, 2]);
    rmSync(place.lock);
    await agents.lookAround();
    expect([rows().length, faults.length]).toEqual([1, 2]);
  });

  test('a follower outlives a log that its writer cuts back under it', async () => {
    const home = await temporaryHome();
    const { session, place } = await sessionWith({ home, number: 1, options: { owner: 'a terminal' } });
    const { agents } = await agentsIn(home);
    const reading = await agents.source(sessionIdOf(1));
    const before = readFileSync(place.log);
    await session.append([{ type: 'session.titled', title: 'seen too early', by: 'person' }]);
    await reading.changed(2, AbortSignal.timeout(5000));
    writeFileSync(place.log, before);
    const next = reading.changed(3, AbortSignal.timeout(1200));
    await expect(next).rejects.toThrow();
    expect(reading.seq).toBeLessThanOrEqual(2);
    reading.release();
    rmSync(place.log);
  });
});

test('closing leaves no lock and no moving turn, twice is once, and what comes after is refused', async () => {
  const home = await temporaryHome();
  const held = fakeTool('look', {
    run: (_, __, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
  });
  const { agents, ids, request, rows } = await agentsIn(home, [calls('look')], { tools: [held] });
  await agents.create(request(1, 'go'), ids.mark());
  await until((await agents.agent(sessionIdOf(1))).session, (now) => allCalls(now)[0]?.state === 'running');
  expect(await agents.busy()).toEqual([sessionIdOf(1)]);
  await Promise.all([agents.close(), agents.close()]);
  expect(rows()).toMatchObject([{ state: 'interrupted', driver: 'idle', lastOutcome: 'interrupted' }]);
  await expect(agents.agent(sessionIdOf(1))).rejects.toMatchObject({ code: 'unavailable' });
  await expect(agents.create(request(2), ids.mark())).rejects.toMatchObject({ code: 'unavailable' });
  const session = await Session.open(placeInHome(home, sessionIdOf(1)), {
    clock: new ManualClock(),
    owner: 'a terminal',
    durability: 'kernel',
  });
  await session.close();
});

test('rows tell what a session does, and an open request with all that is needed to answer it', async () => {
  const { agents, ids, request, told } = await agentsIn(await temporaryHome(), [calls('change'), says('done')], {
    tools: [fakeTool('change', { effect: 'change' })],
  });
  await agents.create(request(1, 'go'), ids.mark());
  const agent = await agents.agent(sessionIdOf(1));
  await until(agent.session, (now) => now.approvals.length === 1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(told.at(-1)).toMatchObject({ state: 'waiting', requests: [{ approvalId: 'apr_1', tool: 'change' }] });
  await agent.answer({ approvalId: 'apr_1' as never, decision: 'allow', scope: 'once', by: 'me' }, ids.mark());
  await until(agent.session, (now) => now.active === null);
  await new Promise((resolve) => setImmediate(resolve));
  expect(told.at(-1)).toMatchObject({ state: 'idle', driver: 'idle', requests: [], lastOutcome: 'completed' });
});
