/** Several screens at once: tabs and devices show the same, in the same order, and an answer given on one closes the question on all. */
import { App } from '../support/app.ts';
import { chatReply, expect, test } from '../support/test.ts';

test('MB6: two tabs and a second device stay in step: same order, same questions, one answer closes all', async ({
  app,
  daemon,
  provider,
  browser,
  context,
}) => {
  provider.enqueue(
    chatReply({ calls: [{ tool: 'bash', arguments: { command: 'echo watered' } }] }),
    chatReply({ text: 'Watered.' }),
    chatReply({ text: 'And weeded.' }),
    chatReply({ text: 'And rested.' }),
  );
  await app.say('Water it.');
  await expect(app.approval).toBeVisible();

  const tab = new App(await context.newPage(), daemon, app.phone);
  await tab.page.goto(app.page.url());
  const elsewhere = await browser.newContext({ viewport: { width: 820, height: 1180 } });
  const device = new App(await elsewhere.newPage(), daemon, false);
  await device.pair();
  await device.page.goto(app.page.url());
  const all = [app, tab, device];
  for (const one of all) await expect(one.approval.getByText('echo watered')).toBeVisible();

  await device.allowOnce();
  for (const one of all) await expect(one.approval).toHaveCount(0);
  for (const one of all) await one.sees('Watered.');

  // Said on two of them, one after the other: every screen has one order, that of the log.
  await tab.say('Weed it.');
  await app.sees('And weeded.');
  await app.say('Rest.');
  for (const one of all) await one.sees('And rested.');
  const texts = await Promise.all(all.map((one) => one.conversation.innerText()));
  const order = (text: string) =>
    ['Water it.', 'Watered.', 'Weed it.', 'And weeded.', 'Rest.', 'And rested.'].map((words) => text.indexOf(words));
  for (const text of texts) {
    expect(order(text)).not.toContain(-1);
    expect(order(text)).toEqual(order(text).toSorted((a, b) => a - b));
  }
  await elsewhere.close();
});

test('MB6: a mode that is chosen on one is that of the other', async ({ app, daemon, provider, context }) => {
  provider.enqueue(chatReply({ text: 'Roses.' }));
  await app.say('What grows?');
  await app.sees('Roses.');
  const other = new App(await context.newPage(), daemon, app.phone);
  await other.page.goto(app.page.url());
  await other.sees('Roses.');
  await other.chooseMode('Plan');
  await expect(app.page.getByRole('button', { name: 'Mode: Plan' })).toBeVisible();
});
