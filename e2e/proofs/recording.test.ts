/** `alcove run --record` and `alcove replay`: a run once more without provider, key, tools or folder, and every way in which it may not go. */
import { readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chatReply, type ChatReply } from '../../daemon/testing/openai-server.ts';
import { errorReply } from '../../daemon/testing/wire-server.ts';
import { eventsIn, House, secretKey, unfinished } from './house.ts';

const bash = (command: string) => ({ tool: 'bash', arguments: { command } });
const look = { tool: 'read', arguments: { path: 'notes.md' } };
const task = { tool: 'task', arguments: { description: 'count', prompt: 'Count the plants.' } };

type Line = Record<string, unknown> & { type: string };

async function record(replies: ChatReply[], words: string[] = []) {
  const house = await House.open();
  house.provider.enqueue(...replies.map(chatReply));
  const run = await house.alcove(['run', 'Do it.', '--record', 'run.jsonl', ...words]).ended();
  return { house, run, file: join(house.folder, 'run.jsonl') };
}

/** In a home and a folder of its own, where no key and no settings are, and with the provider gone. */
async function replay(house: House, file: string, words: string[] = []) {
  const asked = house.provider.requests.length;
  const elsewhere = join(house.folder, '..', 'elsewhere');
  await mkdir(elsewhere, { recursive: true });
  const environment = { E2E_KEY: '', OPENAI_API_KEY: '' };
  const ended = await house
    .alcove(['replay', file, ...words], { cwd: elsewhere, home: join(elsewhere, 'home'), environment })
    .ended();
  expect(house.provider.requests).toHaveLength(asked);
  // Nothing was written: no home, no session, no file.
  expect(await readdir(elsewhere)).toEqual([]);
  return ended;
}

function linesOf(file: string): Line[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

async function altered(file: string, change: (lines: Line[]) => Line[]): Promise<string> {
  const path = `${file}.altered`;
  const lines = change(structuredClone(linesOf(file)));
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}

describe('a run that is recorded', { timeout: 60_000 }, () => {
  it('EV1 AP2: is replayed offline, elsewhere, to the same answer and the same calls', async () => {
    const { house, run, file } = await record(
      [
        { reasoning: 'Hm.', text: 'Looking.', calls: [look, bash('echo one >> did.txt; pwd'), look] },
        { calls: [{ tool: 'edit', arguments: { path: 'notes.md', oldText: 'Moss', newText: 'Peat' } }] },
        { calls: [{ tool: 'nothing', arguments: {} }] },
        { text: ['It is ', 'done.'] },
      ],
      ['--mode', 'auto'],
    );
    expect(run).toEqual({ code: 0, stdout: 'It is done.\n', stderr: '' });
    expect(house.read('notes.md')).toContain('Peat');
    const again = await replay(house, file);
    expect(again).toEqual({
      code: 0,
      stdout: run.stdout,
      stderr: '· As it was recorded: 4 replies of the model, 4 results of tools.\n',
    });
    // No tool ran: its effect would be here twice.
    expect(house.read('did.txt')).toBe('one\n');
    const events = eventsIn((await replay(house, file, ['--json'])).stdout);
    expect(events.filter(({ type }) => type === 'tool-call.ended')).toHaveLength(5);
  });

  it('EV1: leaves a file for its owner alone, without a key, a home or a folder of the person', async () => {
    const { house, run, file } = await record(
      [
        { calls: [bash(`echo ${secretKey.slice(0, 9)}${secretKey.slice(9)}; pwd; echo $HOME`)] },
        { text: [`Your key is ${secretKey.slice(0, 7)}`, `${secretKey.slice(7)} in /tmp.`] },
      ],
      ['--mode', 'auto'],
    );
    expect(run.code).toBe(0);
    const text = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(text).toContain('"Your key is "');
    expect(text).toContain('<key>');
    expect(text).toContain('<project>');
    expect(text).not.toContain(secretKey);
    expect(text).not.toContain(house.folder);
    expect(text).not.toContain(house.home);
    expect(text).not.toMatch(/ses_[0-9a-f]{8}-/);
    expect(await replay(house, file)).toMatchObject({ code: 0 });
  });

  it('EV1: without --record writes no recording', async () => {
    const house = await House.open();
    house.provider.enqueue(chatReply({ text: 'Done.' }));
    const before = await readdir(house.folder);
    await house.alcove(['run', 'Do it.']).ended();
    expect(await readdir(house.folder)).toEqual(before);
  });

  it.each([
    ['denied calls', [{ calls: [bash('touch x')] }, { text: 'Denied.' }], []],
    [
      'a plan that was accepted beforehand',
      [
        { calls: [{ tool: 'propose_plan', arguments: { plan: '1. Write it.' } }] },
        { calls: [{ tool: 'write', arguments: { path: 'plan.md', content: 'moss\n' } }] },
        { text: 'Written.' },
      ],
      ['--strategy', 'plan', '--yes'],
    ],
    [
      'a plan that was only said',
      [{ text: '1. Write it.' }, { calls: [bash('echo moss > plan.md')] }, { text: 'Written.' }],
      ['--strategy', 'plan', '--yes'],
    ],
    ['one step', [{ text: 'Moss.' }], ['--strategy', 'single']],
    ['a command in plan mode', [{ calls: [bash('ls')] }, { text: 'A plan.' }], ['--mode', 'plan']],
    ['a sub-agent', [{ calls: [task] }, { calls: [look] }, { text: 'Three.' }, { text: 'Three plants.' }], []],
    [
      'a list of tasks and a question',
      [
        { calls: [{ tool: 'todo', arguments: { todos: [{ text: 'Look', state: 'doing' }] } }] },
        { calls: [{ tool: 'ask_user', arguments: { question: 'Which?' } }] },
        { text: 'Decided.' },
      ],
      [],
    ],
    [
      'a background job that was refused',
      [
        { calls: [{ tool: 'bash', arguments: { command: 'sleep 60', background: true } }] },
        { text: 'In front, then.' },
      ],
      ['--mode', 'auto'],
    ],
    [
      'the same call with two results',
      [
        { calls: [bash('date +%N')] },
        { calls: [bash('date +%N')] },
        { calls: [bash('cat /proc/sys/kernel/random/uuid')] },
        { text: 'Two.' },
      ],
      ['--mode', 'auto'],
    ],
  ] as [string, ChatReply[], string[]][])('EV1: is replayed with %s', async (_, replies, words) => {
    const { house, run, file } = await record(replies, words);
    expect(run.code).toBe(0);
    const { code, stdout, stderr } = await replay(house, file);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: run.stdout,
      stderr: expect.stringMatching(/^· As it was/) as string,
    });
  });

  it('EV1: is replayed with a failure and what was tried again, without waiting', async () => {
    const house = await House.open();
    house.provider.enqueue(
      errorReply(429, { message: 'slow down' }, { 'retry-after': '2' }),
      chatReply({ calls: [look] }),
      errorReply(401, { message: 'no such key' }),
    );
    const run = await house.alcove(['run', 'Do it.', '--record', 'run.jsonl']).ended();
    expect(run.code).toBe(1);
    const from = performance.now();
    const again = await replay(house, join(house.folder, 'run.jsonl'));
    expect(again).toMatchObject({ code: 0, stdout: '' });
    expect(again.stderr).toContain('3 replies of the model, 1 results of tools');
    expect(performance.now() - from).toBeLessThan(2_000);
  });

  it('EV1: is replayed up to where the person stopped it, in a reply or in a command', async () => {
    for (const [reply, said] of [
      [unfinished(chatReply({ text: ['Half', ' a word'] })), 'a word'],
      [chatReply({ calls: [bash('echo ready; sleep 60')] }), '"text":"ready'],
    ] as const) {
      const house = await House.open();
      house.provider.enqueue(reply);
      const run = house.alcove(['run', 'Do it.', '--mode', 'auto', '--json', '--record', 'run.jsonl']);
      await run.printed(said);
      run.child.kill('SIGINT');
      expect((await run.ended()).code).toBe(130);
      const again = await replay(house, join(house.folder, 'run.jsonl'), ['--json']);
      expect(again.code).toBe(0);
      expect(eventsIn(again.stdout).at(-1)).toMatchObject({ type: 'turn.ended', outcome: 'aborted' });
    }
  });
});

describe('a replay is refused', { timeout: 60_000 }, () => {
  const whole = () => record([{ calls: [look] }, { calls: [bash('echo one')] }, { text: 'Done.' }], ['--mode', 'auto']);

  it('EV1: where the recording holds another request, result, call, end or answer, and says which', async () => {
    const { house, file } = await whole();
    const set = (lines: Line[], fits: (line: Line) => boolean, change: (line: Line) => void) => {
      const found = lines.find(fits);
      if (found === undefined) throw new Error('no such line');
      change(found);
      return lines;
    };
    const textOf = (line: Line) => JSON.stringify(line);
    const cases: [RegExp, (lines: Line[]) => Line[]][] = [
      [
        /Request 1 is another one.* items\.0\.parts\.0\.text.* recorded "Do that\.", now "Do it\."/,
        (lines) =>
          set(
            lines,
            (one) => one.type === 'value' && textOf(one).includes('Do it.'),
            (one) => {
              one['is'] = JSON.parse(JSON.stringify(one['is']).replace('Do it.', 'Do that.')) as unknown;
            },
          ),
      ],
      [
        /Request 2 is another one.* items\.2\.parts/,
        (lines) =>
          set(
            lines,
            ({ type }) => type === 'result',
            (one) => {
              (one['result'] as { content: { text: string }[] }).content[0]!.text += 'more';
            },
          ),
      ],
      [
        /Request 1 is another one.* at model: recorded "other", now "scripted"/,
        (lines) =>
          set(
            lines,
            ({ type }) => type === 'request',
            (one) => void (one['model'] = 'other'),
          ),
      ],
      [
        /bash \{"command":"echo one"\} was not called/,
        (lines) =>
          set(
            lines,
            (one) => one.type === 'call' && one['tool'] === 'bash',
            (one) => {
              one['arguments'] = { command: 'echo two' };
            },
          ),
      ],
      [
        /The call cal_2 ended completed; in the recording it ended failed/,
        (lines) =>
          set(
            lines,
            (one) => one.type === 'call-ended' && one['callId'] === 'cal_2',
            (one) => {
              one['outcome'] = 'failed';
            },
          ),
      ],
      [
        /Turn 1 ended completed; in the recording it ended failed/,
        (lines) =>
          set(
            lines,
            ({ type }) => type === 'turn-ended',
            (one) => void (one['outcome'] = 'failed'),
          ),
      ],
      [/A request was made that the recording does not have/, (lines) => lines.filter((one) => one['exchange'] !== 3)],
      [/Request 2 is another one/, (lines) => lines.filter((one) => one['exchange'] !== 1)],
      [/was not carried out once more|ended denied/, (lines) => lines.filter(({ type }) => type !== 'result')],
      [/no end/, (lines) => lines.filter(({ type }) => type !== 'end')],
      [
        /Request 4 of the recording was not made/,
        (lines) => {
          const last = lines.findLast(({ type }) => type === 'request');
          return [...lines.slice(0, -1), { ...last, type: 'request', exchange: 4 }, ...lines.slice(-1)];
        },
      ],
    ];
    for (const [sentence, change] of cases) {
      const again = await replay(house, await altered(file, change));
      expect(again.stderr).toMatch(/^alcove: the replay differs from its recording\. .+\n$/);
      expect(again.stderr).toMatch(sentence);
      expect(again).toMatchObject({ code: 1, stdout: '' });
    }
  });

  it('EV1: where the run was killed: the recording is a readable prefix, and is told to be one', async () => {
    const { house, file } = await whole();
    const lines = readFileSync(file, 'utf8').split('\n');
    const places = [1, 2, Math.floor(lines.length / 2), lines.length - 4, lines.length - 2];
    for (const place of places) {
      const cut = `${file}.cut`;
      await writeFile(cut, `${lines.slice(0, place).join('\n')}\n${(lines[place] ?? '').slice(0, 9)}`);
      const again = await replay(house, cut);
      expect({ place, code: again.code, stdout: again.stdout }).toEqual({ place, code: 1, stdout: '' });
      expect(again.stderr).toMatch(/^alcove: the replay differs from its recording\. .+\n$/);
    }
  });

  it('EV1: where it is no recording, or one of another version', async () => {
    const { house, file } = await whole();
    const odd = `${file}.odd`;
    for (const [text, sentence] of [
      ['', /is no recording/],
      ['{"type":"recording","version":99}\n', /of version 99; this Alcove replays version 1/],
      ['{"seq":1}\n', /line 1/],
      [readFileSync(file, 'utf8').replace('"type":"call"', '"type":"shout"'), /line \d+ is not one of its entries/],
    ] as const) {
      await writeFile(odd, text);
      const again = await replay(house, odd);
      expect(again).toMatchObject({ code: 1, stdout: '' });
      expect(again.stderr).toMatch(sentence);
    }
    expect((await replay(house, `${file}.nowhere`)).stderr).toContain('There is no recording');
  });
});

it('EV1 AP3: --record overwrites nothing, and begins with a new session', async () => {
  const house = await House.open();
  house.provider.enqueue(chatReply({ text: 'One.' }));
  const there = await house.alcove(['run', 'Do it.', '--record', 'notes.md']).ended();
  expect(there).toMatchObject({ code: 1, stdout: '' });
  expect(there.stderr).toContain('it is there already, and is not overwritten');
  expect(house.read('notes.md')).toContain('Garden');
  expect(house.provider.requests).toHaveLength(0);
  expect(await readdir(join(house.home, 'sessions')).catch(() => [])).toEqual([]);
  await house.alcove(['run', 'Do it.', '--session', 'kept.jsonl']).ended();
  const second = await house.alcove(['run', 'And more.', '--session', 'kept.jsonl', '--record', 'run.jsonl']).ended();
  expect(second).toMatchObject({ code: 2, stdout: '' });
  expect(second.stderr).toContain('--record begins with a new session');
  expect(await readdir(house.folder)).not.toContain('run.jsonl');
});
