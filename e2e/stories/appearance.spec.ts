/** How the app looks is the choice of the person who looks at it. */
import { chatReply, expect, test } from '../support/test.ts';

test('UI28: text size and motion hold for all text, code too, and before the first paint', async ({
  app,
  daemon,
  provider,
}) => {
  const { page } = app;
  provider.enqueue(chatReply({ text: 'See `code` here.' }));
  await app.say('Show me code.');
  const code = app.conversation.locator('code').first();
  await expect(code).toBeVisible();
  const address = page.url();
  const size = () => code.evaluate((one) => Number.parseFloat(getComputedStyle(one).fontSize));
  const before = await size();

  await page.goto(`${daemon.address}/more`);
  await page.getByRole('radio', { name: 'Larger' }).check({ force: true });
  await page.getByRole('radio', { name: 'Less' }).check({ force: true });
  await page.goto(address);
  await expect(code).toBeVisible();
  expect((await size()) / before).toBeCloseTo(1.25, 1);

  // Before any module of the app has run.
  await page.route('**/_app/**/*.js', (route) => route.abort());
  await page.goto(address, { waitUntil: 'commit' });
  await expect(page.locator('html')).toHaveAttribute('data-text-size', 'larger');
  await expect(page.locator('html')).toHaveAttribute('data-motion', 'less');
});

test('a session is renamed where its title stands; Escape leaves it as it was', async ({ app, provider, daemon }) => {
  const { page } = app;
  provider.enqueue(chatReply({ text: 'Roses.' }));
  await app.say('What grows here?');
  await app.sees('Roses.');
  const field = page.getByRole('textbox', { name: 'Title of the session' });
  await page.getByRole('button', { name: 'Rename the session' }).click();
  await field.fill('Nothing');
  await field.press('Escape');
  await expect(page.getByRole('heading', { name: 'What grows here?' })).toBeVisible();
  await page.getByRole('button', { name: 'Rename the session' }).click();
  await field.fill('The garden');
  await field.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'The garden' })).toBeVisible();
  const { sessions } = await daemon.call('session.list', {});
  expect(sessions.map((session) => session.title)).toEqual(['The garden']);
});

test('UI28: in high contrast what is marked has a border, where other themes have a tint', async ({ app, daemon }) => {
  const { page } = app;
  const border = () =>
    page.locator('html').evaluate((root) => getComputedStyle(root).getPropertyValue('--tint-border'));
  await page.goto(`${daemon.address}/more`);
  expect(await border()).toBe('0px');
  await page.getByRole('radio', { name: 'High contrast' }).check({ force: true });
  await expect.poll(border).toBe('2px');
});
