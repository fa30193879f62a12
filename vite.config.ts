import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vitest/config';

const daemon = process.env['ALCOVE_DEV_DAEMON'] ?? 'http://127.0.0.1:7717';
const forwarded = ['/rpc', '/pair', '/blobs', '/health', '/sessions'];

export default defineConfig({
  plugins: [sveltekit()],
  // Small fonts must stay files: an inlined data: font is refused by font-src 'self'.
  build: { assetsInlineLimit: 0 },
  server: {
    host: '127.0.0.1',
    proxy: {
      '/ws': { target: daemon.replace(/^http/, 'ws'), ws: true },
      ...Object.fromEntries(forwarded.map((path) => [path, daemon])),
    },
    fs: { allow: ['protocol'] },
  },
  test: {
    projects: [
      {
        test: {
          name: 'node',
          environment: 'node',
          include: ['{daemon,protocol,e2e}/**/*.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        resolve: { conditions: ['browser'] },
        test: { name: 'web', environment: 'happy-dom', include: ['web/**/*.test.ts'] },
      },
    ],
  },
});
