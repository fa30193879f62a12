/** What the agent asks of the person, the plan that it hands over, and the list of what it is at. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chatReply, expect, test } from '../support/test.ts';

const question = {
  tool: 'ask_user',
  arguments: {
    question: 'Which bed gets the moss?',
    options: [{ label: 'The north bed', description: 'It is shady there' }, { label: 'The south bed' }],
  },
};

test('TL21: a question survives a reload and a restart, and one press on an option goes on', async ({
  app,
  daemon,
  provider,
}) => {
  provider.enqueue(chatReply({ calls: [question] }), chatReply({ text: 'The north bed it is.' }));
  await app.say('Plant moss.');
  const north = app.approval.getByRole('button', { name: /^The north bed/ });
  await expect(app.approval).toContainText('Which bed gets the moss?');
  await app.page.reload();
  await expect(north).toBeVisible();
  await daemon.stop();
  await daemon.start();
  await expect(app.approval).toContainText('Which bed gets the moss?');
  await north.click();
  await app.sees('The north bed it is.');
  await expect(app.approval).toHaveCount(0);
  const result = provider.requests[1]?.body.messages.find((message) => message.role === 'tool');
  expect(JSON.stringify(result)).toContain('The person answers: The north bed');
});

test('TL21: a question is answered in words, from the list of sessions too', async ({ app, provider }) => {
  provider.enqueue(
    chatReply({ calls: [question] }),
    chatReply({ calls: [question] }),
    chatReply({ text: 'Thank you.' }),
  );
  await app.say('Plant moss.');
  await app.page.getByLabel('Or in your own words').fill('Beside the path.');
  await app.page.getByRole('button', { name: 'Answer', exact: true }).click();
  const asked = () => provider.requests.length;
  await expect.poll(asked).toBe(2);
  await app.showSessions();
  await app.page.getByRole('button', { name: /^The south bed, / }).click();
  await expect.poll(asked).toBe(3);
  const told = JSON.stringify(provider.requests[2]?.body.messages);
  expect(told).toContain('The person answers: Beside the path.');
  expect(told).toContain('The person answers: The south bed');
});

test('PM9: a plan is read, accepted, and carried out in the same session', async ({ app, provider, folder }) => {
  const plan = '## Moss\n\n1. Add lichen to the notes.';
  const write = { tool: 'write', arguments: { path: 'plan.md', content: 'lichen\n' } };
  provider.enqueue(
    chatReply({ calls: [{ tool: 'propose_plan', arguments: { plan } }] }),
    chatReply({ calls: [write] }),
    chatReply({ text: 'Carried out.' }),
  );
  await app.chooseMode('Plan');
  await app.say('Think of the moss.');
  await expect(app.approval).toContainText('Add lichen to the notes.');
  await app.page.reload();
  await expect(app.approval).toContainText('Go on with this plan?');
  await app.page.getByRole('button', { name: /^Accept, run by itself/ }).click();
  await app.sees('Carried out.');
  expect(await readFile(join(folder, 'plan.md'), 'utf8')).toBe('lichen\n');
  await expect(app.page.getByRole('button', { name: 'Mode: Auto' })).toBeVisible();
});

test('TL22: the task list stands above the composer while the work goes on, and survives a reload', async ({
  app,
  provider,
}) => {
  const todos = [
    { text: 'Look at the beds', state: 'done' },
    { text: 'Choose the moss', state: 'doing' },
    { text: 'Plant it', state: 'open' },
  ];
  provider.enqueue(chatReply({ calls: [{ tool: 'todo', arguments: { todos } }] }), chatReply({ text: 'Going on.' }));
  await app.say('Plant moss.');
  await app.sees('Going on.');
  await app.page.reload();
  const tasks = app.page.getByRole('region', { name: 'Tasks' });
  await expect(tasks).toContainText('1 of 3 done');
  await tasks.getByRole('button').click();
  await expect(tasks.getByRole('listitem')).toHaveText([/Look at the beds/, /Choose the moss/, /Plant it/]);
});
