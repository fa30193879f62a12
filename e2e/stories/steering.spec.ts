/** A turn that runs, and the person who changes its course. */
import { setTimeout as delay } from 'node:timers/promises';
import { gate } from '../support/gate.ts';
import { chatReply, expect, followedBy, test } from '../support/test.ts';

const sleeping = { tool: 'bash', arguments: { command: 'echo started; sleep 30' } };

test('RT9: a person steers a turn, and the next request holds it', async ({ app, provider }) => {
  const reading = gate();
  const first = chatReply({ text: 'Reading.', calls: [{ tool: 'read', arguments: { path: 'notes.md' } }] });
  provider.enqueue(
    { ...first, acts: [...first.acts.slice(0, 2), { act: 'until', gate: reading.opened }, ...first.acts.slice(2)] },
    chatReply({ text: 'Only the ferns, then.' }),
  );
  await app.say('Count the plants.');
  await expect(app.page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await app.say('Only the ferns!');
  await expect(app.page.getByRole('list', { name: 'Queued' })).toContainText('Only the ferns!');
  reading.open();
  await app.sees('Only the ferns, then.');
  await expect(app.page.getByRole('list', { name: 'Queued' })).toHaveCount(0);
  expect(JSON.stringify(provider.requests[1]?.body.messages)).toContain('Only the ferns!');
});

test('RT9: a person queues a follow-up that gets a turn of its own @desktop', async ({ app, provider }) => {
  const first = gate();
  const reply = chatReply({ text: ['First ', 'done.'] });
  provider.enqueue(
    { ...reply, acts: [...reply.acts.slice(0, 2), { act: 'until', gate: first.opened }, ...reply.acts.slice(2)] },
    chatReply({ text: 'Second done.' }),
  );
  await app.say('First.');
  await app.composer.fill('Second.');
  await app.composer.press('Alt+Enter');
  await expect(app.page.getByRole('list', { name: 'Queued' })).toContainText('Second.');
  first.open();
  await app.sees('First done.');
  await app.sees('Second done.');
  expect(provider.requests).toHaveLength(2);
});

test('RT13: a person pauses, nothing is asked of the model meanwhile, and resume goes on without a new input', async ({
  app,
  provider,
}) => {
  const reading = gate();
  const first = chatReply({ text: 'Reading.', calls: [{ tool: 'read', arguments: { path: 'notes.md' } }] });
  provider.enqueue(
    { ...first, acts: [...first.acts.slice(0, 2), { act: 'until', gate: reading.opened }, ...first.acts.slice(2)] },
    chatReply({ text: 'Went on.' }),
  );
  await app.say('Read slowly.');
  await app.page.getByRole('button', { name: 'Pause' }).click();
  reading.open();
  await expect(app.page.getByRole('button', { name: 'Pause' })).toHaveCount(0);
  await expect(app.page.getByRole('button', { name: 'Resume' })).toBeVisible();
  await delay(300);
  expect(provider.requests).toHaveLength(1);
  await app.page.getByRole('button', { name: 'Resume' }).click();
  await app.sees('Went on.');
  const people = provider.requests[1]?.body.messages.filter((message) => message.role === 'user');
  expect(people).toHaveLength(1);
});

test('RT14: a person stops a running command; every call has one end and the next request is valid', async ({
  app,
  provider,
}) => {
  provider.enqueue(
    chatReply({ calls: [sleeping, { tool: 'bash', arguments: { command: 'echo never' } }] }),
    chatReply({ text: 'Something else, then.' }),
  );
  await app.chooseMode('Auto');
  await app.say('Sleep.');
  await expect(app.conversation.getByText('started', { exact: true })).toBeVisible();
  const startedAt = Date.now();
  await app.page.getByRole('button', { name: 'Stop' }).click();
  await expect(app.page.getByRole('button', { name: /^Stop/ })).toHaveCount(0);
  expect(Date.now() - startedAt).toBeLessThan(5000);
  await app.say('Do something else.');
  await app.sees('Something else, then.');
  const messages = provider.requests[1]?.body.messages ?? [];
  const asked = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.id);
  const answered = messages.flatMap((message) => message.tool_call_id ?? []);
  expect(asked).toHaveLength(2);
  expect(answered).toEqual(asked);
});

test('UI11: Escape pauses, and Escape again stops @desktop', async ({ app, provider }) => {
  provider.enqueue(followedBy(chatReply({ text: 'Thinking about', finish: null }), { act: 'hang' }));
  await app.say('Think for ever.');
  await expect(app.conversation.getByText('Thinking about')).toBeVisible();
  await app.composer.press('Escape');
  await expect(app.page.getByRole('button', { name: 'Resume' })).toBeVisible();
  await app.composer.press('Escape');
  await expect(app.page.getByRole('button', { name: /^Stop/ })).toHaveCount(0);
});

test('PR6: a person switches to plan mode, and the next request offers nothing that changes', async ({
  app,
  provider,
}) => {
  provider.enqueue(chatReply({ text: 'Planned.' }), chatReply({ text: 'Ready to act.' }));
  await app.chooseMode('Plan');
  await app.say('Plan it.');
  await app.sees('Planned.');
  const offered = (place: number) => provider.requests[place]?.body.tools?.map((tool) => tool.function.name);
  expect(offered(0)).toEqual(expect.arrayContaining(['read', 'ls', 'glob', 'grep', 'propose_plan']));
  for (const tool of ['write', 'edit', 'apply_patch']) expect(offered(0)).not.toContain(tool);
  await app.chooseMode('Ask first');
  await app.say('Now do it.');
  await app.sees('Ready to act.');
  expect(offered(1)).toEqual(expect.arrayContaining(['read', 'write', 'edit', 'bash']));
});

test('RT15: a provider fails; the person reads why, and sending again works', async ({ app, provider }) => {
  provider.enqueue({ status: 400, headers: {}, acts: [] }, chatReply({ text: 'Here I am.' }));
  await app.say('Hello?');
  await expect(app.conversation.getByText('Everything up to here is kept.')).toBeVisible();
  await app.say('Again?');
  await app.sees('Here I am.');
});
