/** What a run leaves behind and says where it was refused, or was not allowed something: nothing half made, and nothing kept quiet. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { errorReply } from '../../daemon/testing/wire-server.ts';
import { House } from './house.ts';

const list = async (house: House) => (await house.alcove(['session', 'list']).ended()).stdout;

it('AP1: a model that cannot be asked is refused before there is a session, a recording or a failed turn', async () => {
  const house = await House.open();
  const refused = await house.alcove(['run', 'Do it.', '--model', 'nowhere/none', '--record', 'run.jsonl']).ended();
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/nowhere/);
  expect(await list(house)).toBe('');
  expect(await readdir(house.folder)).not.toContain('run.jsonl');

  house.provider.enqueue(chatReply({ text: 'Done.' }));
  const kept = ['run', 'Do it.', '--session', join(house.folder, 'kept.jsonl')];
  expect((await house.alcove(kept).ended()).code).toBe(0);
  const before = house.read('kept.jsonl');
  expect((await house.alcove([...kept, '--model', 'nowhere/none']).ended()).code).toBe(1);
  expect(house.read('kept.jsonl')).toBe(before);
});

it('AP1: what was denied because nobody could be asked is named on standard error, whole and harmless for a terminal', async () => {
  const house = await House.open();
  house.provider.enqueue(
    chatReply({
      calls: [
        { tool: 'bash', arguments: { command: 'touch a.txt' } },
        { tool: 'ls', arguments: {} },
      ],
    }),
    chatReply({ text: 'Could not.' }),
  );
  const run = await house.alcove(['run', 'Do it.']).ended();
  expect(run).toMatchObject({ code: 0, stdout: 'Could not.\n' });
  expect(run.stderr).toMatch(/^· Denied: \S.* touch a\.txt\n$/);
});

it('AP2: the list of sessions says how the last turn of each ended, and which wait', async () => {
  const house = await House.open();
  house.provider.enqueue(chatReply({ text: 'Done.' }), errorReply(401, { message: 'no such key' }));
  await house.alcove(['run', 'First.']).ended();
  await house.alcove(['run', 'Second.']).ended();
  expect(await list(house)).toMatch(/^ses_\S+ {2}failed {2}.*\nses_\S+ {2}completed {2}.*\n$/);
});
