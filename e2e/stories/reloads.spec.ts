/** A reload in any state shows what was there, and what could be done before can be done after. */
import { chatReply, errorReply, expect, followedBy, test } from '../support/test.ts';

test('MB4: while a turn is paused, with a message waiting: both are there, and go on', async ({ app, provider }) => {
  const words = Array.from({ length: 40 }, (_, place) => `leaf-${place} `);
  provider.enqueue(
    chatReply({ text: words, calls: [{ tool: 'read', arguments: { path: 'notes.md' } }], delayMs: 40 }),
    chatReply({ text: 'Both heard.' }),
  );
  await app.say('Begin.');
  await expect(app.conversation.getByText(/leaf-2 /)).toBeVisible();
  await app.page.getByRole('button', { name: 'Pause' }).click();
  await app.page.reload();
  await expect(app.page.getByRole('button', { name: 'Resume' })).toBeVisible();
  await expect(app.conversation.getByText(/leaf-39/)).toBeVisible();
  await app.page.reload();
  await app.say('And mind the frost.');
  await app.page.reload();
  await expect(app.page.getByText('And mind the frost.')).toBeVisible();
  await app.page.getByRole('button', { name: 'Resume' }).click();
  await app.sees('Both heard.');
});

test('MB4: with two requests answered in turn, after each reload the open one alone is asked', async ({
  app,
  provider,
}) => {
  provider.enqueue(
    chatReply({
      calls: [
        { tool: 'bash', arguments: { command: 'echo first' } },
        { tool: 'bash', arguments: { command: 'echo second' } },
      ],
    }),
    chatReply({ text: 'Both ran.' }),
  );
  await app.say('Run both.');
  await app.page.reload();
  await expect(app.approval.getByText('echo first')).toBeVisible();
  await app.allowOnce();
  await expect(app.approval.getByText('echo second')).toBeVisible();
  await app.page.reload();
  await expect(app.approval.getByText('echo second')).toBeVisible();
  await expect(app.approval.getByText('echo first')).toHaveCount(0);
  await app.allowOnce();
  await app.sees('Both ran.');
});

test('MB4: of a failed turn: the reason and the ways on are there', async ({ app, provider }) => {
  provider.enqueue(errorReply(401, { message: 'Incorrect API key provided' }));
  await app.say('Begin.');
  await expect(app.conversation.getByText(/Incorrect API key provided/).first()).toBeVisible();
  await app.page.reload();
  await expect(app.conversation.getByText(/Incorrect API key provided/).first()).toBeVisible();
  provider.enqueue(chatReply({ text: 'Now it works.' }));
  await app.page.getByRole('button', { name: 'Try again' }).click();
  await app.sees('Now it works.');
});

test('MB4: while it is being stopped: it is stopped once', async ({ app, provider }) => {
  provider.enqueue(followedBy(chatReply({ text: ['Half'], finish: null }), { act: 'hang' }));
  await app.say('Talk.');
  await app.sees('Half');
  await app.page.getByRole('button', { name: 'Stop' }).click();
  await app.page.reload();
  await app.sees('Half');
  await expect(app.page.getByRole('button', { name: 'Stop' })).toHaveCount(0);
  provider.enqueue(chatReply({ text: 'Whole.' }));
  await app.say('Again.');
  await app.sees('Whole.');
  expect(provider.requests).toHaveLength(2);
});
