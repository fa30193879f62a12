/**
 * The stories: a real browser against a real daemon, at desktop and phone size. Nothing is retried: a story that fails now and then is a bug.
 * E2E_CHROMIUM names the browser; `npm test` finds or brings one and sets it (empty: Playwright's own).
 */
import { defineConfig, devices } from '@playwright/test';
import { find, quietArguments } from './chromium.cjs';

const named = process.env['E2E_CHROMIUM'];
const executablePath = named === undefined ? find()?.executablePath : named === '' ? null : named;

export default defineConfig({
  testDir: 'stories',
  outputDir: '../test-results/stories',
  // A story that waits for an event which never comes is told so long before the whole run is.
  timeout: 45_000,
  globalTimeout: 20 * 60_000,
  expect: { timeout: 10_000 },
  workers: 2,
  fullyParallel: true,
  retries: 0,
  forbidOnly: process.env['CI'] !== undefined,
  reporter: [['list']],
  use: {
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
    actionTimeout: 10_000,
    serviceWorkers: 'allow',
    launchOptions: {
      ...(executablePath ? { executablePath } : {}),
      args: [
        ...quietArguments,
        // A name that an attacker points at this machine (DNS rebinding), for the stories of the fence.
        '--host-resolver-rules=MAP rebound.example 127.0.0.1',
      ],
    },
  },
  projects: [
    { name: 'desktop', use: { ...devices['Desktop Chrome'], viewport: { width: 1440, height: 900 } } },
    {
      name: 'phone',
      grepInvert: /@desktop/,
      use: { ...devices['Pixel 7'], viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    },
  ],
});
