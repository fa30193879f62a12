/**
 * The parser of shell commands: tree-sitter's grammar of bash, in WebAssembly. Loaded when the first command is judged, once. In the build the
 * two files stand beside the program; from a checkout they are taken from their packages.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Parser, Tree } from 'web-tree-sitter';
import { maxShellParseMs } from '../../base/limits.ts';

export interface ShellGrammar {
  /** Null where it takes too long: nobody honest writes such a command. The tree must be deleted. */
  parse(source: string): Tree | null;
}

let loading: Promise<ShellGrammar> | null = null;

/** Rejects where the parser cannot be had; the next call tries again. */
export function loadShellGrammar(): Promise<ShellGrammar> {
  loading ??= load().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load(): Promise<ShellGrammar> {
  const { Parser, Language } = await import('web-tree-sitter');
  const [runtime, grammar] = await Promise.all([
    bytesOf('web-tree-sitter.wasm', 'web-tree-sitter/web-tree-sitter.wasm'),
    bytesOf('tree-sitter-bash.wasm', 'tree-sitter-bash/tree-sitter-bash.wasm'),
  ]);
  await Parser.init({ wasmBinary: runtime });
  const parser: Parser = new Parser();
  parser.setLanguage(await Language.load(grammar));
  return {
    parse(source) {
      const until = performance.now() + maxShellParseMs;
      const tree = parser.parse(source, null, { progressCallback: () => performance.now() > until });
      if (tree === null) parser.reset();
      return tree;
    },
  };
}

async function bytesOf(name: string, inPackage: string): Promise<Uint8Array> {
  const beside = fileURLToPath(new URL(name, import.meta.url));
  return readFile(existsSync(beside) ? beside : createRequire(import.meta.url).resolve(inPackage));
}
