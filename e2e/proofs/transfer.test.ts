/** Sessions out of one home and into another, and what is told of them, by the whole program. Needs the build. */
import { readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { House } from './house.ts';

const bash = (command: string) => chatReply({ calls: [{ tool: 'bash', arguments: { command } }] });

async function worked() {
  const house = await House.open();
  house.provider.enqueue(bash('false'), bash('false'), bash('false'), chatReply({ text: 'It fails.' }));
  const run = await house.alcove(['run', 'Try.', '--mode', 'auto', '--session', 'try.jsonl.zst']).ended();
  expect(run.code).toBe(0);
  return house;
}

it('AP2 a session is exported, imported into the home of a running daemon, and goes on there', async () => {
  const house = await worked();
  const verb = (...words: string[]) => house.alcove(['session', ...words]).ended();
  expect(await verb('export', 'try.jsonl.zst', 'out.jsonl')).toMatchObject({ code: 0, stdout: '', stderr: '' });
  const out = join(house.folder, 'out.jsonl');
  expect(statSync(out).mode & 0o777).toBe(0o600);
  await house.daemon.start();
  const imported = await verb('import', 'out.jsonl');
  expect(imported).toMatchObject({ code: 0, stderr: '' });
  const sessionId = imported.stdout.split(' ', 1)[0] as never;
  await expect
    .poll(async () => (await house.daemon.call('session.list', {})).sessions.map((one) => one.sessionId))
    .toContain(sessionId);
  expect(house.exportOf(house.log(sessionId))).toBe(readFileSync(out, 'utf8'));
  house.provider.enqueue(chatReply({ text: 'Still fails.' }));
  const follower = await house.follow(sessionId);
  await house.submit(sessionId, 'And now?');
  expect(await follower.turnEnded(2)).toBe('completed');
  expect(house.provider.requests.at(-1)?.body.messages.filter(({ role }) => role === 'tool')).toHaveLength(3);

  expect(await verb('import', 'out.jsonl')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is there already') as string,
  });
  expect(await verb('export', 'try.jsonl.zst', 'out.jsonl')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not overwritten') as string,
  });
  await writeFile(join(house.folder, 'bad.jsonl'), `${readFileSync(out, 'utf8')}garbage\n`);
  expect(await verb('import', 'bad.jsonl')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/bad\.jsonl, line \d+: .*Nothing was imported/) as string,
  });
  for (const words of [
    ['export', 'try.jsonl.zst'],
    ['export', 'try.jsonl.zst', 'out.txt'],
    ['import'],
    ['import', 'x.txt'],
    ['inspect', 'try.jsonl.zst', 'more'],
  ])
    expect((await verb(...words)).code).toBe(2);
});

it('UI21 EV3 a session is diagnosed in words and as JSON, with no figure that it does not hold', async () => {
  const house = await worked();
  const words = await house.alcove(['session', 'diagnose', 'try.jsonl.zst']).ended();
  expect(words.stdout).toMatch(
    /Repeated calls\n {2}3 times \(3 in a row\) {2}bash \{"command":"false"\} {2}at events \d+, \d+, \d+/,
  );
  expect(words.stdout).toContain('Failed calls\n  3 x bash');
  expect(words.stdout).toMatch(/Time {7}model \d+\.\d s, tools \d+\.\d s, waiting for you unknown/);
  const json = await house.alcove(['session', 'diagnose', 'try.jsonl.zst', '--json']).ended();
  expect(JSON.parse(json.stdout)).toMatchObject({
    diagnosis: { failedCalls: { bash: 3 }, time: { waitingForPerson: null } },
  });
});
