/** What somebody meets who has nothing set up: steps that tick themselves, and a daemon that may be away. */
import { startJsonServer, type JsonServer } from '../../daemon/testing/json-server.ts';
import { expect, test as base } from '../support/test.ts';

const test = base.extend<{ ollama: JsonServer }>({
  configured: false,
  ollama: async ({}, use) => {
    const server = await startJsonServer((path) =>
      path === '/api/tags' ? { body: { models: [{ name: 'qwen3:8b' }] } } : { status: 404 },
    );
    await use(server);
    await server.close();
  },
});

test.describe('with a model server on the machine', () => {
  test.use({ localServers: async ({ ollama }, use) => use(ollama.url) });

  test('UI27: it is found and offered, one press away, and its step ticks itself', async ({ newcomer, daemon }) => {
    const { page } = newcomer;
    await newcomer.pair();
    await expect(page.getByText('Ollama runs on this machine.')).toBeVisible();
    // Found is not chosen.
    expect((await daemon.call('model.list', {})).default).toBe('offline/demo');
    await page.getByRole('button', { name: 'Use qwen3:8b' }).click();
    await expect(page.getByRole('heading', { name: 'qwen3:8b answers' })).toBeVisible();
    await newcomer.openOfferedFolder();
    await expect(newcomer.modelButton).toHaveAccessibleName('Model: qwen3:8b');
  });
});

test('UI27: without any model the demo is one press away, and says what it is', async ({ newcomer }) => {
  const { page } = newcomer;
  await newcomer.pair();
  await expect(page.getByText(/there is no sandbox/i)).toBeVisible();
  await page.getByRole('button', { name: 'Try it without any model: the scripted demo' }).click();
  await expect(page.getByRole('heading', { name: /^Scripted demo \(no AI\) answers/ })).toBeVisible();
  await newcomer.openOfferedFolder();
  await newcomer.say('Hello?');
  await newcomer.sees(/I am the scripted demo that comes with Alcove: a fixed program, no AI/);
});

test('MB4: while the daemon is away the app says how to start it, and comes back when it runs', async ({
  newcomer,
  daemon,
}) => {
  const { page } = newcomer;
  await newcomer.pair();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await daemon.kill();
  await page.reload();
  await expect(page.getByRole('heading', { name: /does not answer\./ })).toBeVisible();
  await expect(page.getByText(`ssh -L ${daemon.port}:localhost:${daemon.port}`)).toBeVisible();
  await page.getByRole('button', { name: 'Try now' }).click();
  await expect(page.getByRole('heading', { name: /does not answer\./ })).toBeVisible();
  await daemon.start();
  await expect(page.getByRole('heading', { name: /This is your alcove/ })).toBeVisible();
});
