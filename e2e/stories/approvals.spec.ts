/** What needs the person, and what became of it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { App } from '../support/app.ts';
import { chatReply, expect, test } from '../support/test.ts';

const edit = {
  tool: 'edit',
  arguments: { path: 'notes.md', edits: [{ oldText: 'Moss', newText: 'Moss and lichen' }] },
};

test('PM2: a person sees the diff, allows it, and the file is changed', async ({ app, provider, folder }) => {
  provider.enqueue(
    chatReply({ calls: [{ tool: 'read', arguments: { path: 'notes.md' } }] }),
    chatReply({ text: 'I would like to change it.', calls: [edit] }),
    chatReply({ text: 'It says lichen now.' }),
  );
  await app.say('Add lichen.');
  await expect(app.approval).toContainText('Moss and lichen');
  expect(await readFile(join(folder, 'notes.md'), 'utf8')).not.toContain('lichen');
  await app.allowOnce();
  await app.sees('It says lichen now.');
  expect(await readFile(join(folder, 'notes.md'), 'utf8')).toBe('# Garden\n\nRoses\nFerns\nMoss and lichen\n');
});

test('PM2: a person denies with a reason, nothing runs, and the agent is told', async ({ app, provider, folder }) => {
  provider.enqueue(
    chatReply({ calls: [{ tool: 'bash', arguments: { command: 'touch trace' } }] }),
    chatReply({ text: 'Then I will not.' }),
  );
  await app.say('Leave a trace.');
  await app.approval.getByRole('button', { name: app.phone ? 'Say why not' : 'Deny and say why' }).click();
  await app.page.getByLabel('What should the agent know?').fill('Not in this garden.');
  await app.page.getByRole('button', { name: 'Deny with this reason' }).click();
  await app.sees('Then I will not.');
  expect(existsSync(join(folder, 'trace'))).toBe(false);
  const result = provider.requests[1]?.body.messages.find((message) => message.role === 'tool');
  expect(JSON.stringify(result)).toContain('Not in this garden.');
});

test('PM2: what is allowed for the session is not asked again', async ({ app, provider }) => {
  const call = { tool: 'bash', arguments: { command: 'ls' } };
  provider.enqueue(chatReply({ calls: [call] }), chatReply({ calls: [call] }), chatReply({ text: 'Listed twice.' }));
  await app.say('List it twice.');
  const always = app.approval.getByRole('button', { name: /^Always/ });
  await always.click();
  if (!app.phone) {
    // Escape only closes what was opened.
    await app.page.keyboard.press('Escape');
    await always.click();
  }
  await app.page.getByRole('button', { name: 'For this session' }).click();
  await app.sees('Listed twice.');
});

test('PM3: a destructive command asks in auto mode too, and offers no "always"', async ({ app, provider }) => {
  provider.enqueue(
    chatReply({ calls: [{ tool: 'bash', arguments: { command: 'ls' } }] }),
    chatReply({ calls: [{ tool: 'bash', arguments: { command: 'rm -rf seeds' } }] }),
    chatReply({ text: 'Kept.' }),
  );
  await app.chooseMode('Auto');
  await app.say('Clear the seeds.');
  await expect(app.approval).toContainText('rm -rf seeds');
  await expect(app.approval.getByRole('button', { name: /^Always/ })).toHaveCount(0);
  await app.deny();
  await app.sees('Kept.');
});

test('US1 C22: an open approval survives a reload, shows in a second tab, and closes in both', async ({
  app,
  daemon,
  provider,
  context,
}) => {
  provider.enqueue(
    chatReply({ calls: [{ tool: 'bash', arguments: { command: 'echo hello' } }] }),
    chatReply({ text: 'Said hello.' }),
  );
  await app.say('Say hello.');
  await expect(app.approval).toContainText('echo hello');
  await app.page.reload();
  await expect(app.approval).toContainText('echo hello');

  const second = new App(await context.newPage(), daemon, app.phone);
  await second.page.goto(app.page.url());
  await expect(second.approval).toContainText('echo hello');
  await second.allowOnce();
  await expect(app.approval).toHaveCount(0);
  await expect(second.approval).toHaveCount(0);
  await app.sees('Said hello.');
  await second.sees('Said hello.');
});
