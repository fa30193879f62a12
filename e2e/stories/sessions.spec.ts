/** Several sessions at once, and which of them needs the person. */
import { chatReply, errorReply, expect, followedBy, test } from '../support/test.ts';

test('US1: a person has three sessions; one runs, one waits, one is done, and the list says which', async ({
  app,
  provider,
}) => {
  provider.enqueue(followedBy(chatReply({ text: 'Running on', finish: null }), { act: 'hang' }));
  await app.say('Run for ever.');
  await expect(app.conversation.getByText('Running on')).toBeVisible();

  await app.newSession();
  provider.enqueue(chatReply({ calls: [{ tool: 'bash', arguments: { command: 'echo needs you' } }] }));
  await app.say('Ask me something.');
  await expect(app.approval).toBeVisible();

  await app.newSession();
  provider.enqueue(chatReply({ text: 'All done.' }));
  await app.say('Be done.');
  await app.sees('All done.');

  await app.showSessions();
  await expect(app.sidebar.getByRole('heading', { name: /Needs you · 1/ })).toBeVisible();
  await expect(app.sidebar.getByRole('heading', { name: /Running · 1/ })).toBeVisible();
  await expect(app.sidebar.getByRole('link', { name: /Be done\./ })).toBeVisible();
});

test('a project that was taken off the list is back, with its sessions, when the person undoes it', async ({
  app,
  provider,
}) => {
  provider.enqueue(chatReply({ text: 'Here to stay.' }));
  await app.say('Stay in the list.');
  await app.sees('Here to stay.');
  await app.showSessions();
  const row = app.page.getByRole('link', { name: /Stay in the list\./ });
  await app.page.getByRole('button', { name: /^More about/ }).click();
  await app.page.getByRole('menuitem', { name: 'Remove from the list' }).click();
  await expect(row).toBeHidden();
  await app.page.getByRole('button', { name: 'Undo' }).click();
  await expect(row).toBeVisible();
});

test('RT30: a session whose log is damaged is listed with its error, and the others open', async ({
  app,
  daemon,
  provider,
}) => {
  provider.enqueue(chatReply({ text: 'Healthy.' }));
  await app.say('Stay healthy.');
  await app.sees('Healthy.');
  await daemon.stop();
  await daemon.addDamagedLog();
  await daemon.start();
  const { sessions } = await daemon.call('session.list', {});
  expect(sessions.map((session) => session.problem !== null).toSorted()).toEqual([false, true]);
  await app.page.reload();
  await app.sees('Healthy.');
});

test('RT17: a provider that is busy is asked again, and the person sees the wait', async ({ app, provider }) => {
  provider.enqueue(
    errorReply(429, { message: 'slow down', type: 'rate_limit' }, { 'retry-after': '1' }),
    chatReply({ text: 'Now I can.' }),
  );
  await app.say('Are you free?');
  await app.sees('Now I can.');
  expect(provider.requests).toHaveLength(2);
});
