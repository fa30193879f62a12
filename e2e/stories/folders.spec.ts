/** Choosing the folder that sessions work in. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../support/test.ts';

const field = (page: Page) => page.getByRole('combobox', { name: 'Folder on this machine' });

/** Faster than any answer: the text and the key in one turn of the page's own loop. */
function typedAtOnce(field: Locator, more: string, key: string): Promise<void> {
  return field.evaluate(
    (input, typed) => {
      (input as HTMLInputElement).value += typed.more;
      input.dispatchEvent(new InputEvent('input', { bubbles: true }));
      input.dispatchEvent(new KeyboardEvent('keydown', { key: typed.key, bubbles: true, cancelable: true }));
    },
    { more, key },
  );
}

test('UI27: a person types the beginning, Tab completes it, Enter opens it', async ({ newcomer, scratch }) => {
  const { page } = newcomer;
  await mkdir(join(scratch, 'orchard', 'apples', '.git'), { recursive: true });
  await newcomer.pair();
  await page.getByRole('button', { name: 'Choose another' }).click();
  // On a phone the keyboard comes when the person wants it.
  if (newcomer.phone) await field(page).tap();
  await expect(field(page)).toBeFocused();
  await page.keyboard.type('~/orch');
  await expect(page.getByRole('option', { name: 'orchard' })).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(field(page)).toHaveValue('~/orchard/');
  await expect(page.getByRole('option', { name: /^apples/ })).toContainText('git');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(field(page)).toHaveValue('~/orchard/apples/');
  await expect(page.getByRole('button', { name: 'Open ~/orchard/apples' })).toBeEnabled();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/new\?/);
  await expect(page.getByRole('button', { name: 'Project: apples' })).toBeVisible();
});

test('UI27: Tab and Enter mean what is typed, also where the list of it has not come yet', async ({
  newcomer,
  scratch,
}) => {
  const { page } = newcomer;
  await mkdir(join(scratch, 'orchard', 'apples'), { recursive: true });
  await newcomer.pair();
  await page.getByRole('button', { name: 'Choose another' }).click();
  if (newcomer.phone) await field(page).tap();
  await page.keyboard.type('~/');
  await expect(page.getByRole('option', { name: 'garden' })).toBeVisible();
  await typedAtOnce(field(page), 'orch', 'Tab');
  await expect(field(page)).toHaveValue('~/orchard/');
  await typedAtOnce(field(page), 'apples', 'Enter');
  await page.waitForURL(/\/new\?/);
  await expect(page.getByRole('button', { name: 'Project: apples' })).toBeVisible();
});

test('UI27: a folder that is missing is made on the way', async ({ newcomer, scratch }) => {
  const { page } = newcomer;
  await newcomer.pair();
  await page.getByRole('button', { name: 'Choose another' }).click();
  await field(page).fill('~/orchard/new');
  await page.getByRole('button', { name: 'Make this folder ~/orchard/new' }).click();
  await page.getByRole('button', { name: 'Open ~/orchard/new' }).click();
  await page.waitForURL(/\/new\?/);
  expect(existsSync(join(scratch, 'orchard', 'new'))).toBe(true);
});

test('UI27: a whole home is opened only by a press of its own, after a word of caution', async ({
  newcomer,
  daemon,
}) => {
  const { page } = newcomer;
  await newcomer.pair();
  await page.getByRole('button', { name: 'Choose another' }).click();
  await field(page).fill('~');
  await expect(page.getByRole('alert')).toContainText('your whole home folder');
  const confirm = page.getByRole('button', { name: 'Open it all the same' });
  await field(page).press('Enter');
  await expect(confirm).toBeFocused();
  expect((await daemon.call('project.list', {})).projects).toEqual([]);
  await confirm.press('Enter');
  await page.waitForURL(/\/new\?/);
});

test('UI27: a folder that cannot be opened says why, and the field keeps what was typed', async ({
  newcomer,
  daemon,
}) => {
  const { page } = newcomer;
  await newcomer.pair();
  await page.getByRole('button', { name: 'Choose another' }).click();
  await field(page).fill(daemon.home);
  await expect(page.getByRole('alert')).toContainText("Alcove's own home");
  await expect(page.getByRole('button', { name: /^Open/ }).last()).toBeDisabled();
  await expect(field(page)).toHaveValue(daemon.home);
});

test('UI27: lately opened folders are offered, one press each', async ({ app, folder }) => {
  const { page } = app;
  await page.getByRole('button', { name: 'Another folder' }).click();
  await page.getByRole('option', { name: new RegExp(`garden.*open already`) }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Project: garden' })).toBeVisible();
  expect(folder).toMatch(/garden$/);
});
