/** `npm run screenshots`: every screen and every error as a picture, at three sizes, light and dark, into test-results/screens. */
import { defineConfig, devices } from '@playwright/test';
import stories from '../playwright.config.ts';

const sizes = {
  phone: {
    ...devices['Pixel 7'],
    viewport: { width: 390, height: 844 },
    screen: { width: 390, height: 844 },
    isMobile: true,
  },
  tablet: { ...devices['Desktop Chrome'], viewport: { width: 820, height: 1180 }, hasTouch: true },
  desktop: { ...devices['Desktop Chrome'], viewport: { width: 1440, height: 900 } },
};

export default defineConfig({
  ...stories,
  testDir: '.',
  outputDir: '../../test-results/screens-work',
  timeout: 120_000,
  projects: Object.entries(sizes).flatMap(([name, size]) =>
    (['light', 'dark'] as const).map((colorScheme) => ({
      name: `${name}-${colorScheme}`,
      use: { ...size, colorScheme, deviceScaleFactor: name === 'desktop' ? 1 : 2, reducedMotion: 'reduce' as const },
    })),
  ),
});
