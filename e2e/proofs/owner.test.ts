/** One home, one daemon: how a second start, a leftover of a killed one, a lost index, a damaged log and an orderly end go, from outside. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionId } from '#protocol/values/ids.ts';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { processStartTime } from '../../daemon/base/process-table.ts';
import { newCommandId } from '../support/daemon.ts';
import { gate } from '../support/gate.ts';
import { callsOf, House, report, say, soundFold, spoken, unfinished } from './house.ts';
import { lives } from '../support/lives.ts';

/** `alcove --port 0 --no-open` besides the house's own daemon. */
const another = (house: House) => house.alcove(['--port', '0', '--no-open']);

async function started(house: House): Promise<House> {
  await house.daemon.start();
  return house;
}

/** A short turn that is over. */
async function talk(house: House, text: string) {
  house.provider.enqueue(chatReply({ text: `${text} it is.` }));
  const sessionId = await house.session('ask', text);
  expect(await (await house.follow(sessionId)).turnEnded()).toBe('completed');
  return sessionId;
}

const rows = async (house: House) => (await house.daemon.call('session.list', {})).sessions;

describe('a second start', () => {
  it('RT18: opens the running one: prints its address and a code that works, and ends with 0', async () => {
    const house = await started(await House.open());
    const { bootId } = await house.daemon.call('machine.status', {});
    const second = await another(house).ended();
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toContain('Alcove runs already.');
    expect(second.stdout).toContain(`${house.daemon.address}\n`);
    const typed = /Code +(\S+)/.exec(second.stdout)?.[1];
    const paired = await fetch(`${house.daemon.address}/pair`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ typed, name: 'x' }),
    });
    expect(paired.status).toBe(200);
    expect((await house.daemon.call('machine.status', {})).bootId).toBe(bootId);
  });

  it(
    'RT18 C03: of several at once on one home one serves, and every other opens that one',
    { timeout: 60_000 },
    async () => {
      const house = await House.open();
      const runs = Array.from({ length: 4 }, () => another(house));
      const first = await Promise.race(
        runs.map(async (run) => {
          await run.printed('Alcove 0');
          return run;
        }),
      );
      const address = /http:\/\/localhost:\d+/.exec(first.stdout)?.[0] ?? 'none';
      for (const run of runs.filter((one) => one !== first)) {
        const ended = await run.ended();
        expect(ended).toMatchObject({ code: 0, stderr: '' });
        expect(ended.stdout).toContain(`Alcove runs already.\n\n  Address  ${address}\n`);
      }
      first.child.kill('SIGTERM');
      expect(await first.ended()).toMatchObject({ code: 0, stderr: '' });
    },
  );

  it('RT18: on a home of its own but a port that is taken is an error that names --port', async () => {
    const house = await started(await House.open());
    const run = await house
      .alcove(['--port', String(house.daemon.port), '--no-open'], { home: `${house.home}-2` })
      .ended();
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/--port/);
  });
});

describe('what a killed daemon leaves', () => {
  it.each([
    ['its own files', () => undefined],
    [
      'the pid of a program that lives',
      async (house: House) => {
        const file = join(house.home, 'daemon.json');
        const kept = JSON.parse(readFileSync(file, 'utf8')) as object;
        writeFileSync(
          file,
          JSON.stringify({ ...kept, pid: process.pid, startTime: await processStartTime(process.pid) }),
        );
      },
    ],
    ['a half-written daemon.json', (house: House) => writeFileSync(join(house.home, 'daemon.json'), '{"pid":12')],
    ['an empty daemon.json', (house: House) => writeFileSync(join(house.home, 'daemon.json'), '')],
    ['an empty lock', (house: House) => writeFileSync(join(house.home, 'locks', 'home'), '')],
    ['no lock', (house: House) => rmSync(join(house.home, 'locks'), { recursive: true })],
    [
      'empty locks of sessions',
      (house: House) => {
        for (const name of readdirSync(join(house.home, 'locks'))) writeFileSync(join(house.home, 'locks', name), '');
      },
    ],
    [
      'a journal beside the lock',
      (house: House) => writeFileSync(join(house.home, 'locks', 'home-journal'), 'not a journal'),
    ],
  ] as [string, (house: House) => void | Promise<void>][])(
    'RT18 C05 C06: never keeps the next from starting: %s',
    async (_, leave) => {
      const house = await started(await House.open());
      const sessionId = await talk(house, 'Roses');
      await house.daemon.kill();
      await leave(house);
      await house.daemon.start();
      expect((await rows(house)).map((row) => [row.sessionId, row.problem, row.owner])).toEqual([
        [sessionId, null, null],
      ]);
      house.provider.enqueue(chatReply({ text: 'Again.' }));
      const again = await house.follow(sessionId);
      await house.submit(sessionId, 'And again?');
      expect(await again.turnEnded(2)).toBe('completed');
    },
  );

  it('RT18: a lock file that holds something else is named, with what to do, and starts once it is gone', async () => {
    const house = await House.open();
    const lock = join(house.home, 'locks', 'home');
    mkdirSync(join(house.home, 'locks'), { mode: 0o700 });
    writeFileSync(lock, 'these are not the bytes of a lock, but somebody wrote them here\n'.repeat(20));
    const refused = await another(house).ended();
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`${lock} should be a lock file but holds something else.`);
    expect(refused.stderr).not.toMatch(/\n\s+at /);
    rmSync(lock);
    await house.daemon.start();
  });
});

describe('an end in order', () => {
  it(
    'RT23: SIGTERM in mid-work leaves no process, closed logs and a free lock, with 0 and within ten seconds',
    { timeout: 60_000 },
    async () => {
      const house = await started(await House.open());
      const { provider, daemon } = house;
      provider.enqueue(chatReply({ calls: [{ tool: 'bash', arguments: { command: 'bash work.sh stubborn' } }] }));
      const working = await house.session('auto', 'Work.');
      const first = await house.follow(working);
      await first.until((event) => event.type === 'tool-call.output' && (event['text'] as string).includes('tick'));
      provider.enqueue(unfinished(chatReply({ text: ['Half', ' a word'] })));
      const talking = await house.session('auto', 'Talk.');
      const second = await house.follow(talking);
      await second.client.when(() => (second.text === 'Half a word' ? true : undefined));
      await house.submit(talking, 'And then?');
      provider.enqueue(chatReply({ calls: [{ tool: 'bash', arguments: { command: 'echo asked' } }] }));
      const asking = await house.session('ask', 'Ask.');
      await (await house.follow(asking)).kind('approval.requested');

      const pids = [house.pid('near-stubborn.pid'), house.pid('far-stubborn.pid')];
      expect(pids.map(lives)).toEqual([true, true]);
      const from = performance.now();
      expect(await daemon.stop()).toBe(0);
      const tookMs = Math.round(performance.now() - from);
      expect(tookMs).toBeLessThan(10_000);
      expect(pids.map(lives)).toEqual([false, false]);
      await provider.quiet();
      report(`SIGTERM with a tool, a reply and an approval at work: exit 0 after ${tookMs} ms`);

      // Closed: nothing is torn, and the next start finds nothing to close.
      const logs = await Promise.all([working, talking, asking].map((sessionId) => house.events(sessionId)));
      const folds = logs.map((events) => soundFold(events));
      expect(
        folds.map((one) => [one.active === null, one.lastOutcome, one.inbox.length, one.approvals.length]),
      ).toEqual([
        [true, 'interrupted', 0, 0],
        [true, 'interrupted', 1, 0],
        [false, null, 0, 1],
      ]);
      expect(folds[0] === undefined ? [] : callsOf(folds[0]).map((call) => call.outcome)).toEqual(['interrupted']);
      expect(readdirSync(house.home)).not.toContain('daemon.json');
      expect(readdirSync(join(house.home, 'locks')).filter((name) => /\.(owner\.json|processes)$/.test(name))).toEqual(
        [],
      );
      await daemon.start();
      for (const [place, sessionId] of [working, talking, asking].entries())
        expect(await house.events(sessionId)).toEqual(logs[place]);
      expect(provider.requests).toHaveLength(3);
    },
  );

  it('RT23: a second signal while it ends changes nothing, and a client is told that it goes', async () => {
    const house = await started(await House.open());
    house.provider.enqueue(chatReply({ calls: [{ tool: 'bash', arguments: { command: 'bash work.sh twice' } }] }));
    const follower = await house.follow(await house.session('auto', 'Work.'));
    await follower.until((event) => event.type === 'tool-call.output' && (event['text'] as string).includes('tick'));
    const pids = [house.pid('near-twice.pid'), house.pid('far-twice.pid')];
    const { pid } = house.daemon;
    const stopped = house.daemon.stop();
    expect(await follower.client.closed).toBe(1001);
    // Its work is being closed now.
    if (lives(pid)) process.kill(pid, 'SIGTERM');
    expect(await stopped).toBe(0);
    expect(pids.map(lives)).toEqual([false, false]);
  });
});

describe('a home', () => {
  it('RT1: without its index and every index of a log shows the same sessions, and goes on with them', async () => {
    const house = await started(await House.open());
    const first = await talk(house, 'Roses');
    await talk(house, 'Ferns');
    house.provider.enqueue(chatReply({ calls: [{ tool: 'bash', arguments: { command: 'echo asked' } }] }));
    const asking = await house.session('ask', 'Moss');
    await (await house.follow(asking)).kind('approval.requested');
    await house.submit(asking, 'Then the next.');
    await house.daemon.stop();
    await house.daemon.start();
    const before = await rows(house);
    expect(before.map((row) => row.title)).toEqual(['Moss', 'Ferns', 'Roses']);
    await house.daemon.stop();
    const lost = readdirSync(house.home, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /index\.sqlite3|\.index$/.test(name),
    );
    expect(lost).toContain('index.sqlite3');
    for (const name of lost) rmSync(join(house.home, name), { force: true });
    await house.daemon.start();
    expect(await rows(house)).toEqual(before);
    house.provider.enqueue(chatReply({ text: 'Still.' }));
    const again = await house.follow(first);
    await house.submit(first, 'Still there?');
    expect(await again.turnEnded(2)).toBe('completed');
  });

  it('RT30: damaged, empty and foreign logs hide no other session; each is listed with its error', async () => {
    const house = await started(await House.open());
    const good = await talk(house, 'Roses');
    await house.daemon.addDamagedLog();
    const sessions = join(house.home, 'sessions');
    writeFileSync(join(sessions, 'ses_01940000-0000-7000-8000-0000000000aa.jsonl.zst'), 'no log at all\n'.repeat(50));
    writeFileSync(join(sessions, 'ses_01940000-0000-7000-8000-0000000000bb.jsonl.zst'), '');
    mkdirSync(join(sessions, 'ses_01940000-0000-7000-8000-0000000000cc.jsonl.zst'));
    for (const look of ['while it runs', 'after a kill']) {
      if (look === 'after a kill') await house.daemon.restart();
      const found = await rows(house);
      expect(
        found.find((row) => row.sessionId === good),
        look,
      ).toMatchObject({ title: 'Roses', problem: null });
      const problems = found.filter((row) => row.sessionId !== good && row.problem !== null);
      expect(problems.map((row) => row.sessionId.slice(-2)).sort(), look).toEqual(
        expect.arrayContaining(['aa', 'cc', 'ff']),
      );
    }
    house.provider.enqueue(chatReply({ text: 'Still.' }));
    const again = await house.follow(good);
    await house.submit(good, 'Still there?');
    expect(await again.turnEnded(2)).toBe('completed');
  });
});

it('RT8 RT30: a log that a kill left empty is no session: it is not listed, and the command that was not answered makes it', async () => {
  const house = await started(await House.open());
  const { provider, daemon } = house;
  const projectId = await house.project();
  await daemon.kill();
  const commandId = newCommandId();
  const sessionId = `ses_${commandId}` as SessionId;
  writeFileSync(house.log(sessionId), '');
  await daemon.start();
  expect(await rows(house)).toEqual([]);
  provider.enqueue(chatReply({ text: 'Begun.' }));
  const create = { commandId, sessionId, projectId, input: say('Begin.') };
  const answer = await daemon.call('session.create', create);
  expect(await daemon.call('session.create', create)).toEqual(answer);
  expect(await (await house.follow(sessionId)).turnEnded()).toBe('completed');
  expect((await rows(house)).map((row) => row.title)).toEqual(['Begin.']);
  expect(spoken(await provider.request(1))).toEqual(['user: Begin.']);
  soundFold(await house.events(sessionId));
});

it('RT20: clients that go away in mid-turn change nothing: the turn goes on, and who comes back finds all of it', async () => {
  const house = await started(await House.open());
  const { provider } = house;
  const gone = gate();
  const reply = chatReply({
    text: ['Begun', ' and done.'],
    calls: [{ tool: 'bash', arguments: { command: 'echo ran >> ran.txt' } }],
  });
  provider.enqueue(
    { ...reply, acts: [...reply.acts.slice(0, 2), { act: 'until', gate: gone.opened }, ...reply.acts.slice(2)] },
    chatReply({ text: 'All of it.' }),
  );
  const sessionId = await house.session('auto', 'Begin.');
  const one = await house.follow(sessionId);
  const other = await house.follow(sessionId);
  await one.client.when(() => (one.text === 'Begun' ? true : undefined));
  one.client.socket.terminate();
  await other.client.close();
  gone.open();
  await (
    await provider.request(2)
  ).ended;
  const back = await house.follow(sessionId, one.seq);
  expect(await back.turnEnded()).toBe('completed');
  expect(
    [...one.events, ...back.events].flatMap((event) => (event.type === 'turn.started' ? [event] : [])),
  ).toHaveLength(1);
  expect(
    one.text +
      back.client
        .events('sub_1')
        .map((event) => (event.type === 'part.delta' ? (event['text'] as string) : ''))
        .join(''),
  ).toBe('Begun and done.All of it.');
  expect(house.read('ran.txt')).toBe('ran\n');
  soundFold(await house.events(sessionId));
});

describe('RT21 alcove stop', () => {
  it('refuses while a reply streams, naming it, and changes nothing; --force closes it as interrupted', async () => {
    const house = await started(await House.open());
    house.provider.enqueue(unfinished(chatReply({ text: ['Half', ' a reply.'] })));
    const sessionId = await house.session('auto', 'Talk for long.');
    const follower = await house.follow(sessionId);
    await follower.client.when(() => (follower.text === 'Half a reply.' ? true : undefined));
    const refused = await house.alcove(['stop']).ended();
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/Work runs in “Talk for long\.”\. Nothing was changed/);
    expect(await house.row(sessionId)).toMatchObject({ state: 'running' });

    expect(await house.alcove(['stop', '--force']).ended()).toMatchObject({ code: 0, stdout: 'Alcove has ended.\n' });
    const conversation = soundFold(await house.events(sessionId));
    expect(conversation.turns.map((turn) => turn.outcome)).toEqual(['interrupted']);
    expect(await house.alcove(['stop']).ended()).toMatchObject({ code: 0, stdout: 'Alcove is not running.\n' });
    await house.daemon.stop();
  });

  it('leaves at rest what waits for a person, and the next start asks again', async () => {
    const house = await started(await House.open());
    house.provider.enqueue(chatReply({ calls: [{ tool: 'bash', arguments: { command: 'echo x > a' } }] }));
    const sessionId = await house.session('ask', 'Write.');
    await (await house.follow(sessionId)).kind('approval.requested');
    expect(await house.alcove(['stop']).ended()).toMatchObject({ code: 0 });
    await house.daemon.stop();
    await house.daemon.start();
    expect((await house.row(sessionId)).requests).toHaveLength(1);
    expect(soundFold(await house.events(sessionId)).active?.outcome).toBeNull();
  });

  it('--wait waits until the work is done; what a command left running counts', { timeout: 60_000 }, async () => {
    const house = await started(await House.open());
    const held = gate();
    const reply = chatReply({ text: 'Done.' });
    house.provider.enqueue({ ...reply, acts: [{ act: 'until', gate: held.opened }, ...reply.acts] });
    const sessionId = await house.session('auto', 'Take your time.');
    await house.provider.request(1);
    const stopping = house.alcove(['stop', '--wait']);
    await stopping.said('Waiting for it to end.');
    held.open();
    expect(await stopping.ended()).toMatchObject({ code: 0, stdout: 'Alcove has ended.\n' });
    expect(soundFold(await house.events(sessionId)).turns.map((turn) => turn.outcome)).toEqual(['completed']);
    await house.daemon.stop();

    await house.daemon.start();
    house.provider.enqueue(
      chatReply({ calls: [{ tool: 'bash', arguments: { command: 'sleep 30 > /dev/null 2>&1 &' } }] }),
      chatReply({ text: 'Left it running.' }),
    );
    const other = await house.session('auto', 'Leave something.');
    expect(await (await house.follow(other)).turnEnded()).toBe('completed');
    expect((await house.alcove(['stop']).ended()).code).toBe(1);
    expect((await house.alcove(['stop', '--force']).ended()).code).toBe(0);
    await house.daemon.stop();
  });
});
