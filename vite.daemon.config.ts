import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

/** The parser of shell commands: its two files stand beside the program (daemon/tools/shell/parser.ts). */
const shellGrammar: Plugin = {
  name: 'shell-grammar',
  generateBundle() {
    for (const file of ['web-tree-sitter/web-tree-sitter.wasm', 'tree-sitter-bash/tree-sitter-bash.wasm']) {
      const source = readFileSync(createRequire(import.meta.url).resolve(file));
      this.emitFile({ type: 'asset', fileName: basename(file), source });
    }
  },
};

/** Everything is bundled (three times quicker to start) but what is native or brings its own files. */
export default defineConfig({
  plugins: [shellGrammar],
  publicDir: false,
  ssr: {
    noExternal: true,
    external: [
      'zstd-napi',
      '@lydell/node-pty',
      'libsql',
      '@bokuweb/zstd-wasm',
      '@vscode/ripgrep',
      '@silvia-odwyer/photon-node',
    ],
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
