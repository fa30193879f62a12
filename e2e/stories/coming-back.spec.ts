/** The page reloads, the tunnel breaks, the daemon is killed: what was there is there, once. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { App } from '../support/app.ts';
import { forwardTo } from '../support/forward.ts';
import { gate } from '../support/gate.ts';
import { chatReply, expect, followedBy, test } from '../support/test.ts';

const words = Array.from({ length: 60 }, (_, place) => `leaf-${place} `);
const whole = words.join('').trim();

test('C21 MB4: a person reloads in mid-stream and every word stands once, in order', async ({ app, provider }) => {
  provider.enqueue(chatReply({ text: words, delayMs: 40 }));
  await app.say('Count the leaves.');
  await expect(app.conversation.getByText(/leaf-5 /)).toBeVisible();
  await app.page.reload();
  await expect(app.conversation.getByText(/leaf-30 /)).toBeVisible();
  await app.page.reload();
  await app.sees(whole);
});

test('RT20: a person closes every tab in mid-turn, and the turn has gone on', async ({
  app,
  daemon,
  provider,
  context,
}) => {
  const closed = gate();
  const reply = chatReply({ text: ['Begun ', 'and finished.'] });
  provider.enqueue({
    ...reply,
    acts: [...reply.acts.slice(0, 2), { act: 'until', gate: closed.opened }, ...reply.acts.slice(2)],
  });
  await app.say('Begin.');
  await expect(app.conversation.getByText('Begun')).toBeVisible();
  const address = app.page.url();
  await app.page.close();
  closed.open();
  await provider.request(1).then((request) => request.ended);
  const again = new App(await context.newPage(), daemon, app.phone);
  await again.page.goto(address);
  await again.sees('Begun and finished.');
});

test('RT4 RT24: the daemon is killed in the middle of a reply; its words are kept, and nothing is asked again by itself', async ({
  app,
  daemon,
  provider,
}) => {
  provider.enqueue(followedBy(chatReply({ text: ['Half a', ' sentence'], finish: null }), { act: 'hang' }));
  await app.say('Say something long.');
  await expect(app.conversation.getByText('Half a sentence')).toBeVisible();
  await daemon.kill();
  await expect(app.page.getByText(/does not answer/)).toBeVisible();
  await daemon.start();
  await expect(app.page.getByText(/does not answer/)).toHaveCount(0, { timeout: 20_000 });
  await app.sees('Half a sentence');
  await expect(app.page.getByRole('button', { name: 'Stop' })).toHaveCount(0);
  expect(provider.requests).toHaveLength(1);

  provider.enqueue(chatReply({ text: 'Going on.' }));
  await app.say('Go on.');
  await app.sees('Going on.');
  expect(JSON.stringify(provider.requests[1]?.body.messages)).toContain('Say something long.');
});

test('C04 RT4: the daemon is killed while a command runs; the command is ended, its call is interrupted, and the next request says so', async ({
  app,
  daemon,
  provider,
  folder,
}) => {
  const command = 'echo $$ > pid; echo started; sleep 300';
  provider.enqueue(chatReply({ calls: [{ tool: 'bash', arguments: { command } }] }));
  await app.chooseMode('Auto');
  await app.say('Sleep.');
  await expect(app.conversation.getByText('started', { exact: true })).toBeVisible();
  const pid = Number(await readFile(join(folder, 'pid'), 'utf8'));
  await daemon.restart();
  await expect(app.conversation.getByText(/interrupted/i).first()).toBeVisible({ timeout: 20_000 });
  await expect.poll(() => isAlive(pid)).toBe(false);

  provider.enqueue(chatReply({ text: 'Understood.' }));
  await app.say('What happened?');
  await app.sees('Understood.');
  const results = provider.requests[1]?.body.messages.filter((message) => message.role === 'tool');
  expect(results).toHaveLength(1);
  expect(JSON.stringify(results)).toMatch(/interrupted/i);
});

test('RT25: the daemon is killed with an approval open; it is asked again, and the answer goes on with the turn', async ({
  app,
  daemon,
  provider,
}) => {
  provider.enqueue(
    chatReply({ calls: [{ tool: 'bash', arguments: { command: 'echo after' } }] }),
    chatReply({ text: 'Done after all.' }),
  );
  await app.say('Say after.');
  await expect(app.approval).toContainText('echo after');
  await daemon.restart();
  await expect(app.page.getByText(/does not answer/)).toHaveCount(0, { timeout: 20_000 });
  await expect(app.approval).toContainText('echo after');
  await app.allowOnce();
  await app.sees('Done after all.');
  expect(provider.requests).toHaveLength(2);
});

test('RT8: an input that was acknowledged survives a kill before its turn', async ({ app, daemon, provider }) => {
  const queued = followedBy(chatReply({ text: 'Busy', finish: null }), { act: 'hang' });
  provider.enqueue(queued);
  await app.say('Be busy.');
  await expect(app.conversation.getByText('Busy', { exact: true })).toBeVisible();
  await app.say('And then this.');
  await daemon.restart();
  await expect(app.page.getByText('And then this.')).toHaveCount(1, { timeout: 20_000 });
});

test('MB2 MB4: a person works through a forwarded port, and goes on when the tunnel is back', async ({
  daemon,
  provider,
  newcomer,
  isMobile,
}) => {
  const tunnel = await forwardTo(daemon.port);
  const { typed } = await daemon.call('pairing.create', {});
  const { page } = newcomer;
  await page.goto(tunnel.address);
  await page.getByLabel('Pairing code').fill(typed);
  await page.getByRole('button', { name: 'Pair', exact: true }).click();
  const app = new App(page, daemon, isMobile);
  await app.openOfferedFolder();
  provider.enqueue(chatReply({ text: 'From afar.' }));
  await app.say('Hello from here.');
  await app.sees('From afar.');
  await tunnel.close();
  await expect(page.getByText(/does not answer/)).toBeVisible();
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
