import { defineConfig } from 'vite';

/** Everything is bundled (three times quicker to start) but what is native or brings its own files. */
export default defineConfig({
  publicDir: false,
  ssr: {
    noExternal: true,
    external: ['zstd-napi', 'libsql', '@bokuweb/zstd-wasm', '@vscode/ripgrep', '@silvia-odwyer/photon-node'],
  },
  build: {
    ssr: 'daemon/cli/main.ts',
    outDir: 'dist/daemon',
    target: 'node20',
    sourcemap: true,
    minify: false,
    rolldownOptions: { output: { entryFileNames: '[name].js' } },
  },
});
