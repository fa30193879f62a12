/** The flags of `alcove run` that say which session, which prompt and which limits, and those that contradict each other. Needs the build. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { House } from './house.ts';

const said = (house: House, place = -1) =>
  house.provider.requests
    .at(place)
    ?.body.messages.filter(({ role }) => role === 'user')
    .map(({ content }) => JSON.stringify(content)) ?? [];

async function house(replies = 4): Promise<House> {
  const made = await House.open();
  made.provider.enqueue(...Array.from({ length: replies }, (_, place) => chatReply({ text: `Answer ${place + 1}.` })));
  return made;
}

const ids = async (made: House) =>
  (await made.alcove(['session', 'list', '--json']).ended()).stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { sessionId: string }).sessionId);

it('AP9 AP4: --continue goes on with the newest session of the folder, --resume with the one that is named', async () => {
  const made = await house();
  expect((await made.alcove(['run', 'First.']).ended()).code).toBe(0);
  const [first] = await ids(made);
  expect((await made.alcove(['run', 'Second.']).ended()).code).toBe(0);
  const elsewhere = join(made.folder, 'bed');
  await mkdir(elsewhere);
  const none = await made.alcove(['run', 'More.', '--continue'], { cwd: elsewhere }).ended();
  expect(none).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('No session of this home works in') as string,
  });
  expect(await made.alcove(['run', 'More.', '--continue']).ended()).toMatchObject({ code: 0, stdout: 'Answer 3.\n' });
  expect(said(made).join()).toMatch(/Second.*More/);
  expect(said(made).join()).not.toContain('First');
  expect(await made.alcove(['run', 'Again.', '--resume', first ?? '']).ended()).toMatchObject({ code: 0 });
  expect(said(made).join()).toMatch(/First.*Again/);
  expect(await ids(made)).toHaveLength(2);
});

it('AP9 RT19: a session that the daemon has open is not written by a second one', async () => {
  const made = await house();
  await made.daemon.start();
  const sessionId = await made.session('auto', 'Here.');
  const follower = await made.follow(sessionId);
  await follower.turnEnded();
  const run = await made.alcove(['run', 'There.', '--resume', sessionId]).ended();
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/is being written by the daemon/);
});

it('AP3: --system-prompt-file stands where the prompt begins; folder, instructions and mode stay', async () => {
  const made = await house();
  await writeFile(join(made.folder, 'AGENTS.md'), 'Use tabs.');
  await writeFile(join(made.folder, 'prompt.txt'), 'You are a gardener.');
  await made.alcove(['run', 'Plant.', '--system-prompt-file', 'prompt.txt', '--mode', 'plan']).ended();
  const text = JSON.stringify(made.provider.requests[0]?.body.messages);
  for (const there of ['You are a gardener.', 'Use tabs.', 'Mode: plan', made.folder]) expect(text).toContain(there);
  expect(text).not.toContain('You are a coding agent in Alcove');
  await writeFile(join(made.folder, 'empty.txt'), ' \n');
  await writeFile(join(made.folder, 'limit.txt'), 'x'.repeat(64 * 1024));
  expect((await made.alcove(['run', 'Plant.', '--system-prompt-file', 'limit.txt']).ended()).code).toBe(0);
  await writeFile(join(made.folder, 'long.txt'), 'x'.repeat(64 * 1024 + 1));
  for (const file of ['empty.txt', 'long.txt', 'nowhere.txt']) {
    const run = await made.alcove(['run', 'Plant.', '--system-prompt-file', file]).ended();
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(file) as string });
  }
});

it('PM4: the rules of the project hold in a run, too', async () => {
  const made = await House.open();
  const bash = (command: string) => chatReply({ calls: [{ tool: 'bash', arguments: { command } }] });
  made.provider.enqueue(bash('touch never.txt'), bash('touch allowed.txt'), chatReply({ text: 'Done.' }));
  await made.daemon.start();
  await made.project();
  for (const rule of [
    ['allow', 'bash', 'touch *'],
    ['deny', 'bash', 'touch never*'],
  ])
    expect((await made.alcove(['rules', 'add', ...rule]).ended()).code).toBe(0);
  await made.daemon.stop();
  // In ask mode: what is allowed runs without asking, what is denied does not.
  expect(await made.alcove(['run', 'Touch.', '--record', 'run.jsonl']).ended()).toMatchObject({
    code: 0,
    stdout: 'Done.\n',
  });
  expect((await made.alcove(['run', 'x', '--continue', '--list-nothing']).ended()).code).toBe(2);

  const files = await readdir(made.folder);
  expect(files).toContain('allowed.txt');
  expect(files).not.toContain('never.txt');
  // And in a replay.
  expect(await made.alcove(['replay', 'run.jsonl']).ended()).toMatchObject({ code: 0, stdout: 'Done.\n' });
});

it.each([
  [['--effort', 'high', '--reasoning', 'low'], '--effort and --reasoning are the same'],
  [['--yolo', '--mode', 'ask'], '--yolo is --mode auto'],
  [['--continue', '--resume', 'ses_1'], 'give one of them'],
  [['--continue', '--session', 'a.jsonl'], 'give one of them'],
  [['--resume', 'latest'], '--resume takes the id of a session'],
  [['--resume', 'ses_00000000-0000-7000-8000-000000000001'], 'There is no session'],
  [['--no-compact', '--compact-threshold', '0.5'], 'contradict each other'],
  [['--compact-threshold', '0.96'], '0.1 to 0.95'],
  [['--compact-threshold', 'much'], '0.1 to 0.95'],
])('AP1 AP4: run with %j is refused, saying why', async (flags, sentence) => {
  const made = await house(0);
  const run = await made.alcove(['run', 'Do it.', ...flags]).ended();
  expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) as string });
  expect(made.provider.requests).toEqual([]);
});
