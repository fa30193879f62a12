/** The app as a thing of its own: installable, there without the daemon, usable by everybody. */
import { AxeBuilder } from '@axe-core/playwright';
import { chatReply, expect, test } from '../support/test.ts';

test('MB1: the app can be installed, and opens without the daemon, saying so', async ({ app, daemon }) => {
  const manifest = await app.page.locator('link[rel="manifest"]').getAttribute('href');
  const answer = await app.page.request.get(new URL(manifest ?? '', app.page.url()).href);
  expect(await answer.json()).toMatchObject({
    name: 'Alcove',
    display: 'standalone',
    icons: expect.any(Array),
  });
  await app.page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  await app.page.reload();
  await daemon.stop();
  await app.page.reload();
  await expect(app.page.getByText(/does not answer/).first()).toBeVisible();
});

for (const scheme of ['light', 'dark'] as const) {
  test.describe(`in ${scheme}`, () => {
    test.use({ colorScheme: scheme });

    test('no page has an accessibility violation', async ({ newcomer, provider, daemon }) => {
      const { page } = newcomer;
      const violations = async () =>
        (await new AxeBuilder({ page }).analyze()).violations.map(
          (one) => `${one.id}: ${one.nodes.map((node) => node.target.join(' ')).join(', ')}`,
        );
      await page.goto(daemon.address);
      await expect(page.getByRole('heading', { name: /Pair this browser/ })).toBeVisible();
      expect(await violations()).toEqual([]);
      await page.goto('about:blank');
      await newcomer.pair();
      await expect(page.getByRole('heading', { name: /This is your alcove/ })).toBeVisible();
      expect(await violations()).toEqual([]);
      await newcomer.openOfferedFolder();
      expect(await violations()).toEqual([]);
      provider.enqueue(
        chatReply({
          text: '# A heading\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```ts\nconst leaf = 1;\n```',
          calls: [{ tool: 'bash', arguments: { command: 'ls' } }],
        }),
      );
      await newcomer.say('Show me.');
      await expect(newcomer.approval).toBeVisible();
      expect(await violations()).toEqual([]);
    });
  });
}
