/** From nothing to a first answer. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chatReply, expect, test } from '../support/test.ts';

test('US10: a person pairs a browser with the eight characters, and the code works once', async ({
  newcomer,
  daemon,
  browser,
}) => {
  const { typed } = await daemon.call('pairing.create', {});
  const { page } = newcomer;
  await page.goto(daemon.address);
  await expect(page.getByRole('heading', { name: /Pair this browser/ })).toBeVisible();
  await page.getByLabel('Pairing code').fill(typed.toLowerCase());
  await page.getByRole('button', { name: 'Pair', exact: true }).click();
  await expect(page.getByRole('heading', { name: /This is your alcove/ })).toBeVisible();

  const other = await (await browser.newContext()).newPage();
  await other.goto(daemon.address);
  await other.getByLabel('Pairing code').fill(typed);
  await other.getByRole('button', { name: 'Pair', exact: true }).click();
  await expect(other.getByRole('alert')).toBeVisible();
  await other.context().close();
});

test('PM12: a person pairs by the link, and no code or token stays in the address', async ({ newcomer }) => {
  await newcomer.pair();
  expect(newcomer.page.url()).not.toMatch(/pair=|key=/);
  expect(await newcomer.page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
});

test('UI1 CX4 CX17: a person opens a folder, starts a session and reads the answer; AGENTS.md was in the prompt', async ({
  app,
  provider,
  folder,
}) => {
  provider.enqueue(chatReply({ text: ['Roses, ferns', ' and moss.'] }));
  await app.say('What grows here?');
  await app.sees('What grows here?');
  await app.sees('Roses, ferns and moss.');

  const [request] = provider.requests;
  const system = request?.body.messages.find((message) => message.role === 'system')?.content;
  expect(system).toContain('Speak of plants by their common names.');
  expect(system).toContain(folder);
  expect(system).toMatch(/not narrate before tool calls[\s\S]*faithfully/);
});

test('PM18: a person reads that there is no sandbox before the first session', async ({ app }) => {
  await expect(app.page.getByText(/no sandbox/)).toBeVisible();
});

test('US10: a person opens the link in the tab that shows the pairing screen', async ({ newcomer, daemon }) => {
  await newcomer.page.goto(daemon.address);
  await expect(newcomer.page.getByRole('heading', { name: /Pair this browser/ })).toBeVisible();
  await newcomer.pair();
});

test.describe('without any provider', () => {
  test.use({ configured: false });

  test('EV2: the offline demo shows the whole way round: it looks, asks, writes and runs', async ({ app, folder }) => {
    await app.say('Show me around.');
    await app.sees(/I am the scripted demo that comes with Alcove: a fixed program, no AI/);
    expect(await app.allowUntilDone()).toBeGreaterThanOrEqual(2);
    expect(existsSync(join(folder, 'alcove-demo.md'))).toBe(true);
  });
});
