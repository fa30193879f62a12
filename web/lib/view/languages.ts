/**
 * The languages that code is coloured in: those that agents write most. A lazy chunk; imported by highlight.ts alone.
 * Others are shown plain rather than guessed.
 */
import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const languages = {
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};

for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);
highlighter.registerAliases(['svelte', 'vue'], { languageName: 'xml' });
highlighter.registerAliases(['jsonl', 'json5'], { languageName: 'json' });

/** HTML, or null for a language that is not here. */
export function highlight(code: string, language: string): string | null {
  if (highlighter.getLanguage(language) === undefined) return null;
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}
