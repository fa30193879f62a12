/** What waits for the agent, in the order that the person wants. */
import { gate } from '../support/gate.ts';
import { chatReply, expect, test } from '../support/test.ts';

test('RT10: two queued messages that are put in the other order reach the model so, and one that is taken back never does', async ({
  app,
  provider,
}) => {
  const first = gate();
  const reply = chatReply({ text: ['First ', 'done.'] });
  provider.enqueue(
    { ...reply, acts: [...reply.acts.slice(0, 2), { act: 'until', gate: first.opened }, ...reply.acts.slice(2)] },
    chatReply({ text: 'All three heard.' }),
  );
  await app.say('First.');
  for (const words of ['Ivy.', 'Moss.', 'Oak.']) await app.say(words);
  const rows = app.page.getByRole('list', { name: 'Queued' }).getByRole('listitem');
  await expect(rows).toHaveText([/Ivy\./, /Moss\./, /Oak\./]);
  await app.actOnQueued(2, 'Move up');
  await expect(rows).toHaveText([/Ivy\./, /Oak\./, /Moss\./]);
  await app.actOnQueued(0, 'Move down');
  await expect(rows).toHaveText([/Oak\./, /Ivy\./, /Moss\./]);
  await app.actOnQueued(1, 'Take it back');
  await expect(rows).toHaveText([/Oak\./, /Moss\./]);
  first.open();
  await app.sees('All three heard.');
  const sent = JSON.stringify(provider.requests[1]?.body.messages);
  expect(sent.indexOf('Oak.')).toBeGreaterThan(0);
  expect(sent.indexOf('Moss.')).toBeGreaterThan(sent.indexOf('Oak.'));
  expect(sent).not.toContain('Ivy.');
});

test('RT10 UI28: the order is changed by keyboard, and the session stays the one it was @desktop', async ({
  app,
  provider,
}) => {
  provider.enqueue({ ...chatReply({ text: 'Busy' }), acts: [{ act: 'hang' }] });
  await app.say('First.');
  for (const words of ['Ivy.', 'Moss.']) await app.say(words);
  const rows = app.page.getByRole('list', { name: 'Queued' }).getByRole('listitem');
  await expect(rows).toHaveText([/Ivy\./, /Moss\./]);
  const address = app.page.url();
  const down = rows.first().getByRole('button', { name: 'Move down' });
  await down.focus();
  await app.page.keyboard.press('Alt+ArrowDown');
  await expect(rows).toHaveText([/Moss\./, /Ivy\./]);
  await expect(rows.last().getByRole('button', { name: 'Move down' })).toBeFocused();
  await app.page.keyboard.press('Alt+ArrowUp');
  await expect(rows).toHaveText([/Ivy\./, /Moss\./]);
  expect(app.page.url()).toBe(address);
});
