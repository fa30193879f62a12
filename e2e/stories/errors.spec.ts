/**
 * What goes wrong, on screen: each kind is told in the words of who refused, with a way on that works, and nothing that was written or said
 * before is lost.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from '@playwright/test';
import { chunkReply, delta, startOpenAiServer } from '../../daemon/testing/openai-server.ts';
import type { App } from '../support/app.ts';
import { canMount } from '../support/mounts.ts';
import { canBeOffline } from '../support/no-network.ts';
import { chatReply, errorReply, expect, followedBy, secretKey, test } from '../support/test.ts';

/** The way on: a button of the newest failure. */
const way = (app: App, name: string): Locator => app.conversation.getByRole('button', { name, exact: true });

async function chooseSecond(app: App): Promise<void> {
  await app.page.getByRole('option', { name: /^second/ }).click();
  await expect(app.modelButton).toHaveAccessibleName('Model: second');
}

test('RT15: a bad key is told in the words of the provider, without the key, and leads to its form', async ({
  app,
  provider,
}) => {
  provider.enqueue(errorReply(401, { message: `Incorrect API key provided: ${secretKey}`, code: 'invalid_api_key' }));
  await app.say('Hello?');
  await expect(app.conversation.getByText(/answered 401\. It said: “Incorrect API key provided/).first()).toBeVisible();
  await expect(app.conversation.getByText(/Look whether E2E_KEY holds a valid key/)).toBeVisible();
  expect(await app.page.content()).not.toContain(secretKey);
  await way(app, 'Connect loopback').click();
  await expect(app.page.getByRole('heading', { name: 'loopback' })).toBeVisible();
  await app.page.keyboard.press('Escape');
  await expect(app.page.getByRole('heading', { name: 'loopback' })).toHaveCount(0);
  provider.enqueue(chatReply({ text: 'The key works now.' }));
  await way(app, 'Try again').click();
  await app.sees('The key works now.');
});

test('RT15: an account without credit is said to be, is not asked again by itself, and another model goes on', async ({
  app,
  provider,
}) => {
  provider.enqueue(errorReply(429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }));
  await app.say('Hello?');
  const words = /answered 429\. It said: “You exceeded your current quota” The account has no credit left\./;
  await expect(app.conversation.getByText(words)).toBeVisible();
  await expect(app.conversation.getByText(/can be tried again later/)).toHaveCount(0);
  expect(provider.requests).toHaveLength(1);
  await way(app, 'Change model').click();
  await chooseSecond(app);
  provider.enqueue(chatReply({ text: 'I have credit.' }));
  await way(app, 'Try again').click();
  await app.sees('I have credit.');
  expect(provider.requests[1]?.body.model).toBe('second');
});

test('RT15: a model that is gone is told in the words of the provider, and leads to another', async ({
  app,
  provider,
}) => {
  provider.enqueue(errorReply(404, { message: 'The model does not exist', code: 'model_not_found' }));
  await app.say('Hello?');
  const words = /answered 404\. It said: “The model does not exist” Choose another model/;
  await expect(app.conversation.getByText(words)).toBeVisible();
  await way(app, 'Change model').click();
  await chooseSecond(app);
  provider.enqueue(chatReply({ text: 'Here I am.' }));
  await app.say('And now?');
  await app.sees('Here I am.');
});

test('RT15: a conversation that is too large for its model goes on with another, or anew', async ({
  app,
  provider,
}) => {
  const full = { message: "This model's maximum context length is 8192 tokens", code: 'context_length_exceeded' };
  provider.enqueue(errorReply(400, full));
  await app.say('Hello?');
  const words = /maximum context length is 8192 tokens” The conversation is larger than this model can read\./;
  await expect(app.conversation.getByText(words)).toBeVisible();
  await expect(way(app, 'Try again')).toHaveCount(0);
  await way(app, 'Change model').click();
  await chooseSecond(app);
  await way(app, 'New session here').click();
  await app.page.waitForURL(/\/new\?project=/);
  provider.enqueue(chatReply({ text: 'A clean bed.' }));
  await app.say('Begin anew.');
  await app.sees('A clean bed.');
  expect(provider.requests[1]?.body.messages.filter(({ role }) => role === 'user')).toHaveLength(1);
});

test('RT15: a reply that was cut off stays as far as it came, and is asked for once more', async ({
  app,
  provider,
}) => {
  const half = chunkReply([delta({ content: 'Roses and' })], { done: false });
  provider.enqueue(followedBy(half, { act: 'wait', ms: 5 }, { act: 'cut' }));
  await app.say('What grows here?');
  await expect(app.conversation.getByText(/ended the reply before it was complete/)).toBeVisible();
  await app.sees('Roses and');
  expect(provider.requests).toHaveLength(1);
  provider.enqueue(chatReply({ text: 'Roses and ferns.' }));
  await way(app, 'Try again').click();
  await app.sees('Roses and ferns.');
  await app.sees('Roses and');
  await expect(way(app, 'Try again')).toHaveCount(0);
});

test('RT17: a provider that is down is tried for a while, which is shown, then named with a way on', async ({
  app,
  daemon,
  provider,
}) => {
  test.setTimeout(60_000);
  await provider.close();
  await app.say('Hello?');
  await expect(app.page.getByText(/Trying again in \d+ s/).first()).toBeVisible();
  const words = /loopback cannot be reached \(ECONNREFUSED\)/;
  await expect(way(app, 'Try again')).toBeVisible({ timeout: 40_000 });
  await expect(app.conversation.getByText(words).first()).toBeVisible();
  // It is back, elsewhere: the settings are read again without a restart.
  const back = await startOpenAiServer();
  try {
    const row = { format: 'openai-chat', baseUrl: back.url, keyEnv: 'E2E_KEY', models: ['scripted', 'second'] };
    await writeFile(join(daemon.home, 'settings.json'), JSON.stringify({ providers: { loopback: row } }), {
      mode: 0o600,
    });
    back.enqueue(chatReply({ text: 'Back again.' }));
    await way(app, 'Try again').click();
    await app.sees('Back again.');
  } finally {
    await back.close();
  }
});

test.describe('on a small disk', () => {
  test.skip(!canMount, 'nobody may mount a small disk here');
  test.use({ diskBytes: 4 * 1024 * 1024 });

  test('RT15: a full disk is told in a sentence, the draft stays, and it goes once there is space (skipped where nobody may mount)', async ({
    app,
    page,
    provider,
    disk,
  }) => {
    provider.enqueue(chatReply({ text: 'Roses.' }));
    await app.say('What grows here?');
    await app.sees('Roses.');
    // A session that is new needs space too: its first message stays as well.
    const session = page.url();
    await app.newSession();
    disk?.fill();
    await app.composer.fill('Something new.');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(page.getByRole('alert').filter({ hasText: /make space and try again/i })).toBeVisible();
    await expect(app.composer).toHaveValue('Something new.');
    await page.goto(session);
    await app.sees('Roses.');
    // More than is left in the last block of the log, and not to be compressed.
    const draft = `And this? ${randomBytes(16 * 1024).toString('hex')}`;
    await app.composer.fill(draft);
    await page.getByRole('button', { name: 'Send' }).click();
    const refusal = page.getByRole('alert').filter({ hasText: /could not be written .*Make space and try again/ });
    await expect(refusal).toBeVisible();
    await expect(app.composer).toHaveValue(draft);
    await expect(page.getByRole('list', { name: 'Not sent' })).toHaveCount(0);
    expect(provider.requests).toHaveLength(1);

    // Nor does a reload lose it.
    await page.reload();
    await app.sees('Roses.');
    await expect(app.composer).toHaveValue(draft);
    disk?.makeSpace();
    provider.enqueue(chatReply({ text: 'Ferns.' }));
    await page.getByRole('button', { name: 'Send' }).click();
    await app.sees('Ferns.');
    await expect(app.composer).toHaveValue('');
    await expect(refusal).toHaveCount(0);
    expect(provider.requests).toHaveLength(2);
  });
});

test.describe('on a machine without a network', () => {
  test.skip(!canBeOffline, 'no namespace without a network can be made here');
  test.use({ offlineDaemon: true });

  test('RT15: no network at all is said, and where to look; the app goes on (skipped where no such namespace can be made)', async ({
    app,
    page,
  }) => {
    test.setTimeout(60_000);
    await app.say('Hello?');
    await expect(way(app, 'Try again')).toBeVisible({ timeout: 40_000 });
    const said = app.conversation.getByText(/cannot be reached \(ENETUNREACH\)\. Look whether this machine is online/);
    await expect(said.first()).toBeVisible();
    // What needs no network works: a reload finds all of it, and the model on board answers.
    await page.reload();
    await app.sees('Hello?');
    await expect(said.first()).toBeVisible();
    await app.modelButton.click();
    await page.getByRole('option', { name: /^Scripted demo/ }).click();
    await way(app, 'Try again').click();
    await app.sees(/I am the scripted demo that comes with Alcove/);
    await expect(way(app, 'Try again')).toHaveCount(0);
  });
});
