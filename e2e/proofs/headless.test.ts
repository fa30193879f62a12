/** `alcove run`, as a script runs it: what it prints, what it leaves in its log, how it exits, and how it and a daemon on one home get along. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionId } from '#protocol/values/ids.ts';
import { chatReply, type ChatReply, type ChatRequest } from '../../daemon/testing/openai-server.ts';
import { errorReply } from '../../daemon/testing/wire-server.ts';
import { newCommandId } from '../support/daemon.ts';
import { gate } from '../support/gate.ts';
import {
  callsOf,
  codeOf,
  eventsIn,
  House,
  report,
  say,
  soundFold,
  spoken,
  textIn,
  unfinished,
  type Run,
} from './house.ts';
import { lives } from '../support/lives.ts';

const hasZstd = spawnSync('zstd', ['--version']).status === 0;
const call = (command: string) => ({ tool: 'bash', arguments: { command } });
const look = { tool: 'read', arguments: { path: 'notes.md' } };

async function onlyLog(house: House): Promise<string> {
  const names = (await readdir(join(house.home, 'sessions'))).filter((name) => name.endsWith('.jsonl.zst'));
  expect(names).toHaveLength(1);
  return join(house.home, 'sessions', names[0] ?? '');
}

/** One whole run of a prompt that the provider answers with this. */
async function runOnce(replies: ChatReply[], words: string[] = []) {
  const house = await House.open();
  house.provider.enqueue(...replies.map(chatReply));
  const run = await house.alcove(['run', 'Do it.', ...words]).ended();
  return { house, run };
}

function lastResult(request: ChatRequest): string {
  return spoken(request).at(-1) ?? '';
}

describe('a task of twenty steps', { timeout: 60_000 }, () => {
  /** Every fourth step makes three calls at once; the twentieth is the answer. */
  const steps = Array.from({ length: 20 }, (_, place): ChatReply => {
    if (place === 19) return { text: ['All ', 'done.'] };
    const work = call(`echo ${place} >> steps.txt; echo did ${place}`);
    return place % 4 === 1 ? { text: 'Looking.', calls: [look, work, look] } : { calls: [work] };
  });

  async function work() {
    const house = await House.open();
    house.provider.enqueue(...steps.map(chatReply));
    const from = performance.now();
    const run = await house.alcove(['run', 'Do twenty things.', '--mode', 'auto', '--json']).ended();
    const tookMs = Math.round(performance.now() - from);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    return { house, run, tookMs };
  }

  it('AP1 RT1: printed with --json as one event a line, it folds without anomaly to what happened', async () => {
    const { house, run } = await work();
    const conversation = soundFold(eventsIn(run.stdout));
    expect(conversation.turns).toHaveLength(1);
    expect(conversation.turns[0]).toMatchObject({ outcome: 'completed', calls: 29 });
    expect(conversation.turns[0]?.steps).toHaveLength(20);
    expect(new Set(callsOf(conversation).map((one) => one.outcome))).toEqual(new Set(['completed']));
    expect(house.read('steps.txt')).toBe(Array.from({ length: 19 }, (_, place) => `${place}\n`).join(''));
    expect(house.provider.requests).toHaveLength(20);
    const last = spoken(await house.provider.request(20));
    expect(last.filter((line) => line.startsWith('tool '))).toHaveLength(29);
    expect(last.slice(0, 3)).toEqual([
      'user: Do twenty things.',
      'assistant: <- bash(c00000001)',
      'tool c00000001: did 0',
    ]);
  });

  it.skipIf(!hasZstd)(
    'AP1 RT2: its log, read by the zstd of the machine, is what was printed, byte for byte (skipped where there is no zstd)',
    async () => {
      const { house, run, tookMs } = await work();
      const log = await onlyLog(house);
      const unpacked = execFileSync('zstd', ['-dc', log]).toString('utf8');
      expect(unpacked).toBe(run.stdout);
      const bytes = readFileSync(log).length;
      report(
        `twenty steps: ${eventsIn(unpacked).length} events, ${unpacked.length} bytes of JSON Lines, ${bytes} bytes of log, ${tookMs} ms with start and end`,
      );
    },
  );
});

it('AP2: the dump of a torn log is its complete prefix, and inspecting it says where it is torn', async () => {
  const { house, run } = await runOnce([{ calls: [look] }, { text: 'Three plants.' }], ['--json']);
  const log = await onlyLog(house);
  const bytes = readFileSync(log);
  const torn = join(house.folder, 'torn.jsonl.zst');
  await writeFile(torn, bytes.subarray(0, bytes.length - 7));
  const dump = await house.alcove(['session', 'dump', torn]).ended();
  expect(dump.code).toBe(0);
  expect(dump.stderr).toMatch(/^alcove: bytes \d+ to \d+ cannot be read/);
  expect(run.stdout.startsWith(dump.stdout)).toBe(true);
  expect(eventsIn(dump.stdout).length).toBeGreaterThan(10);
  const inspected = await house.alcove(['session', 'inspect', torn]).ended();
  expect(inspected.code).toBe(0);
  expect(inspected.stdout).toMatch(/Torn +bytes \d+ to \d+: .* \(cut off at the next start\)/);
});

describe('exit codes', () => {
  it('AP1: 0 for a run that completed; standard output holds its answer alone', async () => {
    const { run } = await runOnce([
      { text: 'Looking.', calls: [look] },
      { reasoning: 'Hm.', text: ['Three', ' plants.'] },
    ]);
    expect(run).toEqual({ code: 0, stdout: 'Three plants.\n', stderr: '' });
  });

  it('AP1: 1 for one that failed, with the reason on standard error and nothing on standard output', async () => {
    const house = await House.open();
    house.provider.enqueue(errorReply(401, { message: 'no such key' }));
    const run = await house.alcove(['run', 'Do it.']).ended();
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/^alcove: .*key/);
    expect(soundFold(eventsIn(house.exportOf(await onlyLog(house)))).lastOutcome).toBe('failed');
  });

  it.each([
    ['no prompt', ['run']],
    ['an empty prompt', ['run', '  ']],
    ['nothing on standard input', ['run', '-']],
    ['two prompts', ['run', 'one', 'two']],
    ['an unknown mode', ['run', 'x', '--mode', 'wild']],
    ['a mode without its value', ['run', 'x', '--mode']],
    ['a model that is none', ['run', 'x', '--model', 'no model']],
    ['a model without its value', ['run', 'x', '--model']],
    ['a session file of another kind', ['run', 'x', '--session', 'notes.md']],
    ['a session file without its name', ['run', 'x', '--session']],
    ['a folder that is not there', ['run', 'x', '--cwd', '/nowhere/at/all']],
    ['a file as folder', ['run', 'x', '--cwd', 'notes.md']],
    ['an option that is none', ['run', 'x', '--fast']],
    ['an option twice', ['run', 'x', '--mode', 'auto', '--mode', 'plan']],
    ['an unknown command', ['grow']],
    ['a port that is none', ['--port', 'eighty']],
    ['a port out of range', ['--port', '70000']],
    ['a session action that is none', ['session', 'grow']],
    ['a session action without its session', ['session', 'dump']],
    ['no session action', ['session']],
    ['a device action that is none', ['devices', 'grow']],
    ['no device to revoke', ['devices', 'revoke']],
  ])('AP1: 2 for wrong usage: %s', async (_, words) => {
    const house = await House.open();
    const run = await house.alcove(words).ended();
    expect({ code: run.code, stdout: run.stdout, asked: house.provider.requests.length }).toEqual({
      code: 2,
      stdout: '',
      asked: 0,
    });
    expect(run.stderr).toMatch(/^alcove: .+\n$/);
  });

  it('AP1 RT14: 130 for one that was interrupted in a command: its log is closed as aborted and no process is left', async () => {
    const house = await House.open();
    house.provider.enqueue(chatReply({ calls: [call('bash work.sh one'), call('echo never >> runs-one.txt')] }));
    const run = house.alcove(['run', 'Work.', '--mode', 'auto', '--json']);
    await run.printed('ready');
    const pids = [house.pid('near-one.pid'), house.pid('far-one.pid')];
    expect(pids.map(lives)).toEqual([true, true]);
    run.child.kill('SIGINT');
    expect(await run.ended()).toMatchObject({ code: 130, stderr: '' });
    expect(pids.map(lives)).toEqual([false, false]);
    const conversation = soundFold(eventsIn(run.stdout));
    expect(conversation.lastOutcome).toBe('aborted');
    expect(callsOf(conversation).map((one) => one.outcome)).toEqual(['interrupted', 'skipped']);
    expect(house.exportOf(await onlyLog(house))).toBe(run.stdout);
    expect(house.read('runs-one.txt')).toBe('one\n');
    await expectNoLocks(house);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'AP1 RT14: 130 for one that got %s in the middle of a reply',
    async (signal) => {
      const house = await House.open();
      house.provider.enqueue(unfinished(chatReply({ text: ['Half', ' a word'] })));
      const run = house.alcove(['run', 'Talk.', '--json']);
      await run.printed('a word');
      run.child.kill(signal);
      expect(await run.ended()).toMatchObject({ code: 130, stderr: '' });
      const events = eventsIn(run.stdout);
      expect(textIn(events)).toBe('Half a word');
      expect(soundFold(events).lastOutcome).toBe('aborted');
      await expectNoLocks(house);
    },
  );
});

it('AP1 RT17: 130 for one that was interrupted while it waits to try again', async () => {
  const house = await House.open();
  house.provider.enqueue(errorReply(503, { message: 'busy' }, { 'retry-after': '50' }));
  const run = house.alcove(['run', 'Talk.', '--json']);
  await run.printed('step.retried');
  run.child.kill('SIGINT');
  expect(await run.ended()).toMatchObject({ code: 130 });
  expect(soundFold(eventsIn(run.stdout)).lastOutcome).toBe('aborted');
});

it('AP1 TL9: what a command left running ends with the run', async () => {
  const house = await House.open();
  const begin = 'bash work.sh left > /dev/null 2>&1 &\nuntil [ -s far-left.pid ]; do sleep 0.01; done\n';
  await writeFile(join(house.folder, 'begin.sh'), begin);
  house.provider.enqueue(chatReply({ calls: [call('bash begin.sh')] }), chatReply({ text: 'It runs.' }));
  const run = await house.alcove(['run', 'Start it.', '--mode', 'auto']).ended();
  expect(run).toMatchObject({ code: 0, stdout: 'It runs.\n' });
  expect(lastResult(await house.provider.request(2))).toMatch(/still run in the background/);
  expect([house.pid('near-left.pid'), house.pid('far-left.pid')].map(lives)).toEqual([false, false]);
});

describe('what a run takes', () => {
  it('AP1: - reads the prompt from standard input', async () => {
    const house = await House.open();
    house.provider.enqueue(chatReply({ text: 'Read.' }));
    const run = await house.alcove(['run', '-'], { input: 'Count\nthe plants — all of them.\n' }).ended();
    expect(run).toEqual({ code: 0, stdout: 'Read.\n', stderr: '' });
    expect(spoken(await house.provider.request(1))).toEqual(['user: Count\nthe plants — all of them.\n']);
  });

  it.each(['kept.jsonl.zst', 'kept.jsonl'])(
    'AP1: --session %s keeps the session, and goes on with it',
    async (name) => {
      const house = await House.open();
      house.provider.enqueue(chatReply({ calls: [look] }), chatReply({ text: 'Three.' }), chatReply({ text: 'Four.' }));
      expect(await house.alcove(['run', 'How many?', '--session', name]).ended()).toMatchObject({
        code: 0,
        stderr: '',
      });
      const second = await house.alcove(['run', 'And now?', '--session', name, '--json']).ended();
      expect(second).toMatchObject({ code: 0, stderr: '' });
      expect(spoken(await house.provider.request(3))).toEqual([
        'user: How many?',
        'assistant: <- read(c00000001)',
        expect.stringMatching(/^tool c00000001: .*Garden/),
        'assistant: Three.',
        'user: And now?',
      ]);
      const log = house.exportOf(join(house.folder, name));
      if (name.endsWith('.jsonl')) expect(house.read(name)).toBe(log);
      expect(soundFold(eventsIn(log)).turns.map((turn) => turn.outcome)).toEqual(['completed', 'completed']);
      // What it printed is what this run added.
      expect(log.endsWith(second.stdout)).toBe(true);
      expect(eventsIn(second.stdout).filter((event) => event.type === 'turn.started')).toHaveLength(1);
      // Nothing of it went into the home.
      expect(await readdir(join(house.home, 'sessions')).catch(() => [])).toEqual([]);
    },
  );

  it('C03 RT19: --session on a file that another run writes is refused with its owner, and the file may be read meanwhile', async () => {
    const house = await House.open();
    const closed = gate();
    const reply = chatReply({ text: ['First', ' word.'] });
    house.provider.enqueue({
      ...reply,
      acts: [...reply.acts.slice(0, -1), { act: 'until', gate: closed.opened }, ...reply.acts.slice(-1)],
    });
    const first = house.alcove(['run', 'Talk.', '--session', 'kept.jsonl.zst', '--json']);
    await first.printed('word.');
    const second = await house.alcove(['run', 'Talk too.', '--session', 'kept.jsonl.zst']).ended();
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toContain(`a terminal (process ${first.child.pid ?? 0})`);
    expect(textIn(eventsIn(house.exportOf(join(house.folder, 'kept.jsonl.zst'))))).toBe('First word.');
    closed.open();
    expect(await first.ended()).toMatchObject({ code: 0 });
    expect(house.provider.requests).toHaveLength(1);
  });

  it('C03 RT19: --session on a log of the home, by whatever path, is the session that the daemon has, and refused while it has it', async () => {
    const house = await House.open();
    const { daemon, provider } = house;
    await daemon.start();
    provider.enqueue(unfinished(chatReply({ text: 'In the app.' })), chatReply({ text: 'In a terminal.' }));
    const sessionId = await house.session('ask', 'Talk.');
    const follower = await house.follow(sessionId);
    await follower.client.when(() => (follower.text === 'In the app.' ? true : undefined));
    await symlink(house.log(sessionId), join(house.folder, 'link.jsonl.zst'));
    for (const file of [
      house.log(sessionId),
      '../home/sessions/../sessions/' + basename(house.log(sessionId)),
      'link.jsonl.zst',
    ]) {
      const refused = await house.alcove(['run', 'Talk too.', '--session', file]).ended();
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain(`the daemon (process ${daemon.pid})`);
    }
    await daemon.stop();
    const after = await house.alcove(['run', 'Talk now.', '--session', 'link.jsonl.zst']).ended();
    expect(after).toMatchObject({ code: 0, stdout: 'In a terminal.\n' });
    expect(spoken(await provider.request(2))).toEqual(['user: Talk.', 'assistant: In the app.', 'user: Talk now.']);
    await daemon.start();
    expect(await house.row(sessionId)).toMatchObject({ lastOutcome: 'completed', problem: null, owner: null });
  });

  it('AP1: --cwd works in that folder, under its real name', async () => {
    const house = await House.open();
    await mkdir(join(house.folder, 'seeds'));
    house.provider.enqueue(chatReply({ calls: [call('pwd')] }), chatReply({ text: 'There.' }));
    const run = await house.alcove(['run', 'Where?', '--cwd', 'seeds', '--mode', 'auto']).ended();
    expect(run).toMatchObject({ code: 0, stdout: 'There.\n' });
    const folder = await realpath(join(house.folder, 'seeds'));
    expect(lastResult(await house.provider.request(2))).toBe(`tool c00000001: ${folder}`);
    expect(JSON.stringify((await house.provider.request(1)).body.messages[0])).toContain(folder);
  });
});

describe('nobody can be asked', () => {
  it('AP1: what needs an approval is denied, naming --mode auto, and the run goes on', async () => {
    const { house, run } = await runOnce([{ calls: [call('echo ran > ran.txt')] }, { text: 'Could not.' }]);
    expect(run).toMatchObject({ code: 0, stdout: 'Could not.\n' });
    expect(lastResult(await house.provider.request(2))).toMatch(/denied; run with --mode auto to allow it/);
    expect(house.read('ran.txt')).toBe('');
  });

  it.each([
    ['--mode', 'auto'],
    ['--mode', 'ask'],
  ])(
    'AP1 PM3: what is destructive is denied with %s %s, saying that only a terminal or the app can allow it',
    async (...mode) => {
      const { house, run } = await runOnce([{ calls: [call('rm -rf notes.md')] }, { text: 'Could not.' }], mode);
      expect(run).toMatchObject({ code: 0, stdout: 'Could not.\n' });
      const result = lastResult(await house.provider.request(2));
      expect(result).toMatch(/only a terminal or the app can allow it/);
      expect(result).not.toMatch(/--mode auto/);
      expect(house.read('notes.md')).toContain('Roses');
    },
  );

  it('AP1 PM1: --mode plan refuses a command that may change something, and offers nothing that does', async () => {
    const { house, run } = await runOnce(
      [{ calls: [call('echo ran > ran.txt')] }, { text: 'A plan.' }],
      ['--mode', 'plan'],
    );
    expect(run).toMatchObject({ code: 0, stdout: 'A plan.\n' });
    const { body } = await house.provider.request(1);
    const offered = body.tools?.map((tool) => tool.function.name);
    expect(offered).toEqual(expect.arrayContaining(['read', 'ls', 'glob', 'grep', 'bash']));
    for (const tool of ['edit', 'write', 'apply_patch']) expect(offered).not.toContain(tool);
    expect(lastResult(await house.provider.request(2))).toMatch(/Plan mode is read-only/);
    expect(house.read('ran.txt')).toBe('');
  });
});

it('RT19 RT20 C03: beside a daemon on the same home a run is listed as running in a terminal, read-only; afterwards the daemon goes on with it', async () => {
  const house = await House.open();
  const { daemon, provider } = house;
  await daemon.start();
  const page = await house.connect();
  const closed = gate();
  const reply = chatReply({ text: ['In a', ' terminal.'] });
  provider.enqueue({
    ...reply,
    acts: [...reply.acts.slice(0, -1), { act: 'until', gate: closed.opened }, ...reply.acts.slice(-1)],
  });
  const run = house.alcove(['run', 'Talk.', '--json']);
  await run.printed(' terminal.');
  const sessionId = sessionIn(run);
  const listed = await house.row(sessionId);
  expect(listed).toMatchObject({
    state: 'running',
    owner: `a terminal (process ${run.child.pid ?? 0})`,
    problem: null,
  });
  const noticed = await page.notice(({ topic, session }) => topic === 'session' && session.state === 'running');
  expect(noticed.params).toMatchObject({ session: { sessionId } });

  // It can be followed, and not written.
  const follower = await house.follow(sessionId);
  await follower.client.when(() => (follower.text === 'In a terminal.' ? true : undefined));
  const refused = await page.call('session.submit', {
    commandId: newCommandId(),
    sessionId,
    target: 'next-turn',
    parts: say('And in the app?'),
  });
  expect(codeOf(refused)).toBe('busy');
  expect(refused.error.message).toContain(`a terminal (process ${run.child.pid ?? 0})`);

  closed.open();
  expect(await run.ended()).toMatchObject({ code: 0 });
  expect(await follower.turnEnded()).toBe('completed');
  await page.notice(
    ({ topic, session }) =>
      topic === 'session' && session.state === 'idle' && (session as { owner?: string | null }).owner === null,
  );
  expect(await house.row(sessionId)).toMatchObject({ state: 'idle', owner: null, lastOutcome: 'completed' });
  provider.enqueue(chatReply({ text: 'In the app.' }));
  await house.submit(sessionId, 'And in the app?');
  expect(spoken(await provider.request(2))).toEqual([
    'user: Talk.',
    'assistant: In a terminal.',
    'user: And in the app?',
  ]);
  const again = await house.follow(sessionId, follower.seq);
  expect(await again.turnEnded()).toBe('completed');
  expect(eventsIn(run.stdout)).toEqual((await house.events(sessionId)).slice(0, eventsIn(run.stdout).length));
});

it('RT4 RT24: a run that is killed in a command is closed by the daemon on its home, and no process is left', async () => {
  const house = await House.open();
  const { daemon, provider } = house;
  await daemon.start();
  const page = await house.connect();
  provider.enqueue(chatReply({ calls: [call('bash work.sh killed')] }), chatReply({ text: 'I see.' }));
  const run = house.alcove(['run', 'Work.', '--mode', 'auto', '--json']);
  await run.printed('tick');
  const sessionId = sessionIn(run);
  const pids = [house.pid('near-killed.pid'), house.pid('far-killed.pid')];
  // Listed as running in a terminal, before it is killed.
  expect(await house.row(sessionId)).toMatchObject({ state: 'running' });
  run.child.kill('SIGKILL');
  await run.ended();
  await page.notice(({ topic, session }) => topic === 'session' && session.state === 'interrupted');
  expect(pids.map(lives)).toEqual([false, false]);
  const conversation = soundFold(await house.events(sessionId));
  expect(callsOf(conversation).map((one) => one.outcome)).toEqual(['interrupted']);
  const again = await house.follow(sessionId);
  await house.submit(sessionId, 'What happened?');
  expect(await again.turnEnded(2)).toBe('completed');
  expect(spoken(await provider.request(2))[2]).toMatch(/^tool c00000001: Interrupted/);
  expect(house.read('runs-killed.txt')).toBe('killed\n');
});

it('RT4 RT24: a run that is killed in a command is closed by the next run on its file, and no process is left', async () => {
  const house = await House.open();
  house.provider.enqueue(chatReply({ calls: [call('bash work.sh killed')] }), chatReply({ text: 'I see.' }));
  const first = house.alcove(['run', 'Work.', '--mode', 'auto', '--json', '--session', 'kept.jsonl']);
  await first.printed('tick');
  const pids = [house.pid('near-killed.pid'), house.pid('far-killed.pid')];
  first.child.kill('SIGKILL');
  await first.ended();
  const second = await house.alcove(['run', 'What happened?', '--session', 'kept.jsonl']).ended();
  expect(second).toMatchObject({ code: 0, stdout: 'I see.\n' });
  expect(pids.map(lives)).toEqual([false, false]);
  expect(spoken(await house.provider.request(2))[2]).toMatch(/^tool c00000001: Interrupted/);
  expect(soundFold(eventsIn(house.read('kept.jsonl'))).turns.map((turn) => turn.outcome)).toEqual([
    'interrupted',
    'completed',
  ]);
  expect(house.read('runs-killed.txt')).toBe('killed\n');
});

function sessionIn(run: Run): SessionId {
  const [created] = eventsIn(run.stdout.slice(0, run.stdout.indexOf('\n'))) as { sessionId?: SessionId }[];
  if (created?.sessionId === undefined) throw new Error('the first line should be session.created');
  return created.sessionId;
}

/** Nothing says any more that somebody writes here or that processes may be left. */
async function expectNoLocks(house: House): Promise<void> {
  const left = (await readdir(join(house.home, 'locks'))).filter((name) => /\.(owner\.json|processes)$/.test(name));
  expect(left).toEqual([]);
}
