/** The daemon is started twice, killed, ended in order; and what a person had begun to type. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Daemon } from '../support/daemon.ts';
import { chatReply, expect, test } from '../support/test.ts';

test('RT18: starting again opens the running daemon, and after a kill a new one starts @desktop', async ({
  daemon,
  folder,
}) => {
  const second = new Daemon({ home: daemon.home, folder, environment: {} });
  await second.start();
  expect(second.port).toBe(daemon.port);
  expect(second.output).toMatch(/runs already/);
  await daemon.kill();
  await daemon.start();
  expect((await daemon.call('machine.status', {})).pid).toBe(daemon.pid);
});

test('RT23: SIGTERM in the middle of a command leaves no process and a free lock @desktop', async ({
  app,
  daemon,
  provider,
  folder,
}) => {
  const command = 'echo $$ > pid; sleep 300 & sleep 300';
  provider.enqueue(chatReply({ calls: [{ tool: 'bash', arguments: { command } }] }));
  await app.chooseMode('Auto');
  await app.say('Sleep.');
  await expect.poll(() => existsSync(join(folder, 'pid'))).toBe(true);
  const group = Number(await readFile(join(folder, 'pid'), 'utf8'));
  expect(await daemon.stop()).toBe(0);
  // What was killed stays a zombie until its new parent, the system's first process, has looked at it.
  await expect.poll(() => groupIsAlive(group), { timeout: 3000 }).toBe(false);
  await daemon.start();
});

test('UI22: what a person had begun to type survives a reload and a restart', async ({ app, daemon, provider }) => {
  provider.enqueue(chatReply({ text: 'Yes?' }));
  await app.say('Listen.');
  await app.sees('Yes?');
  await app.composer.fill('Half a thought');
  await app.page.reload();
  await expect(app.composer).toHaveValue('Half a thought');
  await daemon.restart();
  await expect(app.composer).toHaveValue('Half a thought');
});

function groupIsAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}
