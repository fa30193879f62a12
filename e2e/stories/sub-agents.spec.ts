/** Work that the agent hands on: what it looks like from the session that a person opened, and what reaches them of it. */
import { chatReply, expect, test } from '../support/test.ts';

const task = {
  tool: 'task',
  arguments: { description: 'Count the beds', prompt: 'Count the beds and report the number.' },
};

test('US2 OR8: what a sub-agent asks is answered in the session that started it, also after a restart', async ({
  app,
  daemon,
  provider,
}) => {
  provider.enqueue(
    chatReply({ calls: [task] }),
    chatReply({ calls: [{ tool: 'bash', arguments: { command: 'echo three' } }] }),
    chatReply({ text: 'There are three beds.' }),
    chatReply({ text: 'Three, it says.' }),
  );
  await app.say('How many beds?');
  const asked = app.page.getByRole('region', { name: 'Count the beds waits for you' });
  await expect(asked).toContainText('echo three');
  await daemon.stop();
  await daemon.start();
  await expect(asked).toContainText('echo three');
  await asked.getByRole('button', { name: /^Allow once/ }).click();
  await app.sees('Three, it says.');
  await expect(asked).toHaveCount(0);

  await app.conversation.getByRole('link', { name: 'See its work' }).click();
  await app.sees('There are three beds.');
  await app.page.getByRole('link', { name: 'To the session that started this sub-agent' }).click();
  await app.sees('Three, it says.');
  await app.showSessions();
  await expect(app.page.getByRole('link', { name: /Count the beds/ })).toHaveCount(0);
});
