/** A context that is full, and what is done about it. */
import { chatReply, expect, test } from '../support/test.ts';

const usage = { prompt_tokens: 40_000, completion_tokens: 10 };
/** More than a compaction leaves word for word. */
const long = (word: string) => `${word} ${'was looked at and turned over. '.repeat(3000)}`;

test('CX1 CX2: the context is compacted by a press; the line says what came of it, the history stays, and the next request goes on from the summary', async ({
  app,
  provider,
}) => {
  provider.enqueue(chatReply({ text: long('Roses'), usage }), chatReply({ text: long('Ferns'), usage }));
  await app.say('Look at the first bed.');
  await app.sees(/^Roses was/);
  await app.say('Look at the second bed.');
  await app.sees(/^Ferns was/);
  provider.enqueue(chatReply({ text: '## Goal\nTwo beds, both looked at.', usage }));
  await app.page.getByRole('button', { name: /^Context: / }).click();
  await app.page.getByRole('menuitem', { name: 'Compact the context now' }).click();
  const line = app.conversation.getByRole('button', { name: /^Context compacted, .* to about .* tokens$/ });
  await expect(line).toBeVisible();
  await line.click();
  await app.sees('Two beds, both looked at.');
  await app.page.reload();
  await expect(line).toBeVisible();
  provider.enqueue(chatReply({ text: 'Going on from there.', usage }));
  await app.say('And now?');
  await app.sees('Going on from there.');
  const asked = JSON.stringify(provider.requests.at(-1)?.body.messages);
  expect(asked).toContain('Two beds, both looked at.');
  expect(asked).not.toContain('Look at the first bed.');
});

test('CX2: a compaction that fails is told, and changes nothing', async ({ app, provider }) => {
  provider.enqueue(chatReply({ text: 'Short.', usage }));
  await app.say('Look at the first bed.');
  await app.sees('Short.');
  await app.page.getByRole('button', { name: /^Context: / }).click();
  await app.page.getByRole('menuitem', { name: 'Compact the context now' }).click();
  await app.sees(/^The context was not compacted, and is as it was\. There is nothing yet/);
  expect(provider.requests).toHaveLength(1);
});
