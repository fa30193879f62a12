/** From a key to a model that answers, and the ways on where it does not. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { startJsonServer } from '../../daemon/testing/json-server.ts';
import { chatReply, errorReply, expect, test } from '../support/test.ts';

const badKey = 'sk-e2e-bad-11111111';
const goodKey = 'sk-e2e-good-22222222';

/** Everything that the browser keeps of its own. */
const kept = (page: Page) =>
  page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]));

test('PR14: a bad key is refused in the words of the provider, a good one is stored owner-only and its model picked', async ({
  app,
  daemon,
}) => {
  const vendor = await startJsonServer((_path, headers) =>
    headers.authorization === `Bearer ${goodKey}`
      ? { body: { object: 'list', data: [{ id: 'fern-1' }, { id: 'fern-2' }] } }
      : { status: 401, body: { error: { message: 'This key opens nothing.' } } },
  );
  try {
    const { page } = app;
    const providers = { work: { format: 'openai-chat', baseUrl: `${vendor.url}/v1`, keyEnv: 'WORK_KEY' } };
    await writeFile(join(daemon.home, 'settings.json'), JSON.stringify({ providers }), { mode: 0o600 });
    await app.modelButton.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Connect a provider' }).click();
    await page.getByRole('button', { name: /^work/ }).click();
    const field = page.getByLabel('Key', { exact: true });
    await expect(field).toHaveAttribute('type', 'password');
    await field.fill(badKey);
    await page.getByRole('button', { name: 'Try and store' }).click();
    await expect(page.getByRole('alert')).toContainText('This key opens nothing.');
    await expect(page.getByRole('alert')).toContainText('Nothing was stored.');

    await field.fill(goodKey);
    await page.getByRole('button', { name: 'Try and store' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'accepted the key' })).toBeVisible();
    await expect(field).toHaveValue('');
    expect(await kept(page)).not.toMatch(/sk-e2e-(bad|good)/);
    await page.getByRole('button', { name: /^fern-1/ }).click();
    await expect(app.modelButton).toHaveAccessibleName('Model: fern-1');

    const file = join(daemon.home, 'keys.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain(goodKey);
    await page.reload();
    await expect(app.modelButton).toHaveAccessibleName('Model: fern-1');
    expect(await kept(page)).not.toMatch(/sk-e2e-(bad|good)/);
    expect(daemon.output).not.toMatch(/sk-e2e-(bad|good)/);

    // Blank tries the one that is there; removing it leaves nothing of it.
    await app.modelButton.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Connect a provider' }).click();
    await page.getByRole('button', { name: /^work/ }).click();
    await expect(page.getByText(/The key is stored here/)).toBeVisible();
    await page.getByRole('button', { name: 'Try it again' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'accepted the key' })).toBeVisible();
    expect(vendor.requests.at(-1)?.headers.authorization).toBe(`Bearer ${goodKey}`);
    await page.getByRole('button', { name: 'Remove the stored key' }).click();
    await expect(page.getByRole('button', { name: 'Try and store' })).toBeDisabled();
    expect(await readFile(file, 'utf8').catch(() => '')).not.toContain(goodKey);
  } finally {
    await vendor.close();
  }
});

test('PR14: a failure of the key leads to the form of its provider, which says where the key comes from', async ({
  app,
  provider,
}) => {
  const { page } = app;
  provider.enqueue(errorReply(401, { message: 'No auth credentials found' }));
  await app.say('Hello?');
  await app.conversation.getByRole('button', { name: 'Connect loopback' }).click();
  await expect(page.getByRole('heading', { name: 'loopback' })).toBeVisible();
  await expect(page.getByText(/The key comes from E2E_KEY/)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Remove the stored key' })).toHaveCount(0);
});

test('RT15: a model that is gone leads to another one, and trying again goes on with it', async ({ app, provider }) => {
  provider.enqueue(errorReply(404, { message: 'The model does not exist', code: 'model_not_found' }));
  await app.say('Hello?');
  await app.conversation.getByRole('button', { name: 'Change model' }).click();
  await app.page.getByRole('option', { name: /^second/ }).click();
  await expect(app.modelButton).toHaveAccessibleName('Model: second');
  provider.enqueue(chatReply({ text: 'Here I am.' }));
  await app.say('Hello again?');
  await app.sees('Here I am.');
  expect(provider.requests[1]?.body.model).toBe('second');
});
