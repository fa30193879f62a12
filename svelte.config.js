import adapter from '@sveltejs/adapter-static';
import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

/** The web program lives in web/; its build is a static shell that holds no data (see web/README.md). */
export default {
  preprocess: vitePreprocess(),
  kit: {
    files: { src: 'web', assets: 'web/static' },
    adapter: adapter({
      pages: 'dist/web',
      assets: 'dist/web',
      fallback: 'index.html',
      precompress: true,
      strict: true,
    }),
    serviceWorker: { register: false },
    version: { pollInterval: 0 },
    // The daemon copies this policy, hash included, from the built page into a header and adds what a meta tag cannot say.
    csp: {
      mode: 'hash',
      directives: {
        'default-src': ['none'],
        'script-src': ['self', 'wasm-unsafe-eval'],
        'style-src': ['self', 'unsafe-inline'],
        'img-src': ['self', 'data:', 'blob:'],
        'font-src': ['self'],
        'connect-src': ['self'],
        'worker-src': ['self'],
        'manifest-src': ['self'],
        'base-uri': ['none'],
        'form-action': ['none'],
      },
    },
  },
};
