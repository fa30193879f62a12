import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { placeOf, refuseImport } from './rooms.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const programs = ['protocol', 'daemon', 'web', 'e2e'];

describe('the rooms of the house', () => {
  const files = programs.flatMap((program) => sourcesUnder(join(root, program)));

  it('hold every source file', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.filter((file) => placeOf(file) === null)).toEqual([]);
  });

  it('import only from the rooms that the table allows', () => {
    const refused = files.flatMap((file) =>
      importsOf(file, readFileSync(join(root, file), 'utf8')).flatMap((to) => refuseImport(file, to) ?? []),
    );
    expect(refused).toEqual([]);
  });

  it('are left by no import that leads nowhere', () => {
    const lost = files.flatMap((file) =>
      importsOf(file, readFileSync(join(root, file), 'utf8'))
        .filter((to) => /^(protocol|daemon|web|e2e)\//.test(to) && !existsSync(join(root, to)))
        .map((to) => `${file} imports ${to}, which is not there`),
    );
    expect(lost).toEqual([]);
  });
});

describe('the check of the rooms', () => {
  const table: [file: string, source: string, sentence: RegExp][] = [
    ['web/lib/view/rows.ts', "import { serve } from '../../../daemon/daemon.ts';", /may import .*, not daemon/],
    ['web/lib/view/rows.ts', "import { readFileSync } from 'node:fs';", /no Node/],
    ['protocol/event.ts', "import type { Clock } from '../daemon/base/clock.ts';", /may import nothing of ours/],
    ['daemon/base/clock.ts', "export type { Frame } from '../log/frame.ts';", /daemon\/base may import/],
    ['daemon/llm/providers/providers.ts', "const s = await import('../../session/session.ts');", /not daemon\/session/],
    ['daemon/workspace/git/git.ts', "import { list } from '../projects/projects.ts';", /are siblings/],
    ['daemon/agent/driver.ts', "import { serve } from '../server/http.ts';", /not daemon\/server/],
    [
      'web/lib/components/composer/Composer.svelte',
      scripted("import { client } from '$lib/connection/client.ts';"),
      /not web\/lib\/connection/,
    ],
    [
      'web/lib/components/composer/Composer.svelte',
      scripted("import Row from '../transcript/Row.svelte';"),
      /are siblings/,
    ],
    ['daemon/helpers.ts', "import x from 'zod';", /belongs to no room/],
  ];
  it.each(table)('refuses in %s: %s', (file, source, sentence) => {
    expect(importsOf(file, source).map((to) => refuseImport(file, to))).toEqual([expect.stringMatching(sentence)]);
  });

  it('lets an allowed arrow pass', () => {
    const source =
      "import { reduce } from '#protocol/conversation/reduce.ts';\nimport { Lock } from '../base/lock.ts';\nimport 'node:fs';";
    expect(
      importsOf('daemon/session/session.ts', source).map((to) => refuseImport('daemon/session/session.ts', to)),
    ).toEqual([null, null, null]);
  });
});

function scripted(script: string): string {
  return `<script lang="ts">\n${script}\n</script>\n<p>text</p>`;
}

/** Paths from the root of every source file below a folder. */
function sourcesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'fixtures' || entry.name === 'static' ? [] : sourcesUnder(file);
    return /\.(ts|cts|cjs|js|svelte)$/.test(entry.name) ? [relative(root, file).split(sep).join('/')] : [];
  });
}

/** What a file imports, types and `import()` included: paths from the root for what is ours, else the name as it was written. */
function importsOf(file: string, text: string): string[] {
  const source = file.endsWith('.svelte') ? scriptsOf(text) : text;
  const { importedFiles } = ts.preProcessFile(source, true, true);
  return importedFiles.map(({ fileName }) => resolve(file, fileName));
}

function scriptsOf(text: string): string {
  return [...text.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map((match) => match[1]).join('\n');
}

function resolve(file: string, specifier: string): string {
  const name = specifier.replace(/\?.*$/, '');
  const found = name.startsWith('.')
    ? normalize(join(dirname(file), name))
        .split(sep)
        .join('/')
    : name.replace(/^#protocol\//, 'protocol/').replace(/^\$lib\//, 'web/lib/');
  // `./$types` is what kit generates for a route.
  return /\/\$types(\.d\.ts|\.js)?$/.test(found) ? '$types' : found;
}
