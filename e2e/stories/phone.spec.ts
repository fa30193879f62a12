/** The app in one hand: what a finger hits, what the on-screen keyboard leaves, and that nothing forbids to zoom. */
import type { Page } from '@playwright/test';
import { chatReply, expect, test } from '../support/test.ts';

test.skip(({ isMobile }) => !isMobile, 'the phone alone');

/** Controls a finger cannot hit (under 44 px in a direction), and fields that a phone would zoom into (under 16 px): their names. */
async function tooSmall(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const control of document.querySelectorAll<HTMLElement>(
      'button, a[href], input, textarea, select, [role^="menuitem"], summary',
    )) {
      const box = control.getBoundingClientRect();
      const shown = control.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      if (!shown || box.width === 0 || box.bottom < 0 || box.right < 0) continue;
      const name = (control.getAttribute('aria-label') ?? control.textContent).trim().slice(0, 40);
      // A link within a sentence is as high as its line: WCAG 2.5.8 lets it be.
      const inText = control.matches('p a, li a:not([class]), td a') && getComputedStyle(control).display === 'inline';
      // What lies over it may be the larger target: a label around a box, a pseudo-element that spreads it.
      const spread = (['::before', '::after'] as const).some((part) => {
        const style = getComputedStyle(control, part);
        return style.content !== 'none' && Number.parseFloat(style.height) >= 43.5;
      });
      const labelled = control.closest('label')?.getBoundingClientRect();
      const height = Math.max(box.height, labelled?.height ?? 0);
      if (!inText && !spread && (height < 43.5 || Math.max(box.width, labelled?.width ?? 0) < 43.5))
        found.push(`${name}: ${Math.round(box.width)} x ${Math.round(box.height)}`);
      if (control.matches('input:not([type=checkbox], [type=radio]), textarea, select')) {
        const size = Number.parseFloat(getComputedStyle(control).fontSize);
        if (size < 16) found.push(`${name}: ${size} px letters`);
      }
    }
    return found;
  });
}

test('MB3: a finger hits every control, and no field makes the phone zoom', async ({ app, provider }) => {
  const { page } = app;
  expect(await tooSmall(page)).toEqual([]);
  provider.enqueue(
    chatReply({ text: 'I look first.', calls: [{ tool: 'read', arguments: { path: 'notes.md' } }] }),
    chatReply({ calls: [{ tool: 'bash', arguments: { command: 'echo grown >> notes.md' } }] }),
    chatReply({ text: 'Done.' }),
  );
  await app.say('Let it grow.');
  await expect(app.approval).toBeVisible();
  expect(await tooSmall(page)).toEqual([]);
  await app.allowOnce();
  await app.sees('Done.');
  expect(await tooSmall(page)).toEqual([]);
  await app.showSessions();
  await expect(app.sidebar).toBeVisible();
  expect(await tooSmall(page)).toEqual([]);
  await page.getByRole('link', { name: 'More' }).click();
  await expect(page.getByRole('heading', { name: 'More', level: 1 })).toBeVisible();
  expect(await tooSmall(page)).toEqual([]);
});

test('MB3: nothing forbids to zoom, and the page keeps clear of notch and home bar', async ({ app }) => {
  const content = await app.page.locator('meta[name=viewport]').getAttribute('content');
  expect(content).not.toMatch(/maximum-scale|user-scalable/);
  expect(content).toContain('viewport-fit=cover');
});

test.describe('with the on-screen keyboard up', () => {
  test('MB3: where it shrinks the page, the line that is typed and the button to send are visible', async ({ app }) => {
    await app.composer.fill('What grows here?');
    await app.page.setViewportSize({ width: 390, height: 420 });
    await expect(app.composer).toBeInViewport({ ratio: 1 });
    await expect(app.page.getByRole('button', { name: 'Send' })).toBeInViewport({ ratio: 1 });
  });

  test('MB3: where it lies over the page, they stand above it', async ({ app, provider }) => {
    provider.enqueue(chatReply({ text: 'Roses.' }));
    await app.say('What grows here?');
    await app.sees('Roses.');
    await app.composer.fill('And in winter?');
    const keyboard = 380;
    await app.page.evaluate((covered) => {
      const viewport = window.visualViewport!;
      Object.defineProperty(viewport, 'height', { configurable: true, get: () => window.innerHeight - covered });
      viewport.dispatchEvent(new Event('resize'));
    }, keyboard);
    const above = 844 - keyboard;
    const bottomOf = async (name: 'field' | 'button') => {
      const one = name === 'field' ? app.composer : app.page.getByRole('button', { name: 'Send' });
      const box = await one.boundingBox();
      return box === null ? Infinity : box.y + box.height;
    };
    await expect.poll(() => bottomOf('field')).toBeLessThanOrEqual(above);
    await expect.poll(() => bottomOf('button')).toBeLessThanOrEqual(above);
  });
});
