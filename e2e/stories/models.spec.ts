/** Which model answers, and how hard it thinks. */
import { chatReply, expect, test } from '../support/test.ts';

test('PR11: a typo is answered with the nearest name, which one key takes', async ({ app, provider }) => {
  provider.enqueue(chatReply({ text: 'The second speaks.' }));
  await app.searchModels('secnod');
  await expect(app.page.getByText('No model of that name. Nearest: second.')).toBeVisible();
  await app.page.keyboard.press('Enter');
  await expect(app.modelButton).toHaveAccessibleName('Model: second');
  await app.say('Who are you?');
  await app.sees('The second speaks.');
  expect(provider.requests[0]?.body.model).toBe('second');
});

test('PR11: a whole name that is in no list is used all the same', async ({ app, provider }) => {
  provider.enqueue(chatReply({ text: 'Brand new.' }));
  await app.searchModels('loopback/brand-new');
  await app.page.getByRole('option', { name: /Use loopback\/brand-new, which is not in the list/ }).click();
  await app.say('Who are you?');
  await app.sees('Brand new.');
  expect(provider.requests[0]?.body.model).toBe('brand-new');
});

test('PR11: a model that is chosen for a new session is what the next ones take, said quietly', async ({
  app,
  daemon,
}) => {
  await app.searchModels('seco');
  await app.page.getByRole('option', { name: /^second/ }).click();
  await expect(app.page.getByText('New sessions take second from now on.')).toBeVisible();
  expect((await daemon.call('model.list', {})).default).toBe('loopback/second');
  await app.page.reload();
  await expect(app.modelButton).toHaveAccessibleName('Model: second');
});

test('PR6 PR7: an effort that is set in mid-session is in the next request, and the composer says it', async ({
  app,
  provider,
}) => {
  provider.enqueue(chatReply({ text: 'Quick.' }), chatReply({ text: 'Thorough.' }));
  await app.say('Think a little.');
  await app.sees('Quick.');
  await app.modelButton.click();
  await app.page.getByRole('radio', { name: 'high', exact: true }).check({ force: true });
  await app.page.keyboard.press('Escape');
  await expect(app.modelButton).toHaveAccessibleName('Model: scripted · high');
  await app.say('Think hard.');
  await app.sees('Thorough.');
  expect(provider.requests.map((request) => request.body.reasoning_effort)).toEqual([undefined, 'high']);
});

test('PR6: a new session begins with the effort that was set for it', async ({ app, provider }) => {
  provider.enqueue(chatReply({ text: 'Low it is.' }));
  await app.modelButton.click();
  await app.page.getByRole('radio', { name: 'low', exact: true }).check({ force: true });
  await app.page.getByRole('button', { name: 'Close' }).click();
  await app.say('Think a little.');
  await app.sees('Low it is.');
  expect(provider.requests[0]?.body.reasoning_effort).toBe('low');
});

test('UI28: the dialog of models is opened, searched and left by keyboard, and the focus comes back @desktop', async ({
  app,
}) => {
  await app.composer.fill('half a thought');
  await app.page.keyboard.press('Control+Shift+M');
  const search = app.page.getByRole('combobox', { name: 'Search the models' });
  await expect(search).toBeFocused();
  const marked = app.page.locator('[role=option].active');
  await expect(marked).toHaveText(/scripted/);
  await app.page.keyboard.press('ArrowDown');
  await expect(marked).toHaveText(/second/);
  await app.page.keyboard.press('Escape');
  await expect(app.composer).toBeFocused();
  await expect(app.composer).toHaveValue('half a thought');
  await expect(app.modelButton).toHaveAccessibleName('Model: scripted');
});
