/** A headless Chromium for what is measured on a screen, with nothing of its own on the network. Where there is none, the row says so. */
import { chromium, type Browser, type Page } from '@playwright/test';
import { find, quietArguments } from '../../chromium.cjs';

/** Null where no Chromium is found; `npm test` brings one. */
export async function launchChromium(): Promise<Browser | null> {
  const found = find();
  if (found === null) return null;
  return await chromium.launch({
    ...(found.executablePath === null ? {} : { executablePath: found.executablePath }),
    args: [...quietArguments],
  });
}

/** What tsx compiles keeps the names of its functions by a helper, which a page that runs them has to have. */
export const namesInPages = 'globalThis.__name = (named) => named;';

/** Resolves once the page has one: what is visited from then on finds the shell in the browser's own cache. */
export async function serviceWorkerOf(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
}
