import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textOf, ToolScratch } from '../testing/tool-environment.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { lsTool } from './ls.ts';
import { plainSearch } from './search-plain.ts';
import { ripgrepOnPath, shippedRipgrep } from './search-ripgrep.ts';
import { quickestSearch } from './search-below.ts';
import type { Search } from './search.ts';
import type { Tool } from './tool.ts';

let scratch: ToolScratch;
beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(() => scratch.close());

const shipped = await shippedRipgrep();
if (shipped === null) throw new Error('There is no ripgrep for this machine, so there is nothing to compare with.');
const ways: Record<string, Search> = { shipped, plain: plainSearch };
const each = Object.entries(ways).map(([name, search]) => ({ name, search }));

/** What all ways find, which must be one. */
async function byAll(make: (find: () => Promise<Search>) => Tool, args: Record<string, unknown>): Promise<string> {
  const answers: Record<string, string> = {};
  for (const { name, search } of each) {
    const result = await scratch.call(
      make(() => Promise.resolve(search)),
      args,
    );
    answers[name] = `${result.outcome}: ${textOf(result)}`;
  }
  expect(answers).toEqual(Object.fromEntries(each.map(({ name }) => [name, answers['shipped']])));
  return answers['shipped'] as string;
}
const glob = (args: Record<string, unknown>) => byAll(globTool, args);
const grep = (args: Record<string, unknown>) => byAll(grepTool, args);
const completed = (...lines: string[]) => `completed: ${lines.join('\n')}`;

function putTree(): void {
  for (const name of [
    'a/z.ts',
    'a-b.ts',
    'a.ts',
    'B.ts',
    'é.ts',
    '[x].ts',
    'two words.ts',
    'src/one.ts',
    'src/one.test.ts',
    'src/deep/er/two.ts',
    'src/two.svelte',
    'src/gen/made.ts',
    'src/gen/kept.ts',
    'build/out.ts',
    'nested/build/out.ts',
    'nested/ignored.log',
    'nested/kept.log',
    'node_modules/x/index.ts',
    '.github/workflows/ci.ts',
    '.hidden.ts',
    'sub/.git/config.ts',
    'sub/any.log',
  ])
    scratch.put(name, `needle in ${name}\nnothing\n`);
  scratch.put('.git/inside.ts', 'needle');
  scratch.put('.gitignore', '# made\n/build\nnode_modules/\n*.log\nsrc/gen/*\n!src/gen/kept.ts\n');
  scratch.put('nested/.gitignore', '!kept.log\n');
  scratch.put('binary.ts', Buffer.from('needle\n\0\n'));
  scratch.put('late-binary.ts', Buffer.from(`needle\n${'x\n'.repeat(100_000)}\0`));
  scratch.put('two\nlines.ts', 'needle');
  scratch.put('server.key', 'needle');
  scratch.put('secrets.json', 'needle');
  scratch.put('.env', 'needle');
  writeFileSync(join(scratch.person, 'private.ts'), 'needle');
  symlinkSync(scratch.person, scratch.path('linked'));
  symlinkSync(join(scratch.person, 'private.ts'), scratch.path('linked.ts'));
}

describe('TL13: all ways of searching find the same', () => {
  test('files by a pattern: sorted, without what is ignored, hidden, secret, linked', async () => {
    putTree();
    const all = await glob({ pattern: '**' });
    expect(all.split('\n')).toEqual([
      'completed: B.ts',
      '[x].ts',
      'a/z.ts',
      'a-b.ts',
      'a.ts',
      'binary.ts',
      'late-binary.ts',
      'nested/build/out.ts',
      'nested/kept.log',
      'src/deep/er/two.ts',
      'src/gen/kept.ts',
      'src/one.test.ts',
      'src/one.ts',
      'src/two.svelte',
      'sub/any.log',
      String.raw`"two\nlines.ts"`,
      'two words.ts',
      'é.ts',
    ]);
    expect(await glob({ pattern: 'two.*' })).toBe(completed('src/deep/er/two.ts', 'src/two.svelte'));
    expect(await glob({ pattern: 'src/*.{ts,svelte}' })).toBe(
      completed('src/one.test.ts', 'src/one.ts', 'src/two.svelte'),
    );
    expect(await glob({ pattern: 'er/*', path: 'src/deep' })).toBe(completed('src/deep/er/two.ts'));
    expect(await glob({ pattern: '.github/**' })).toBe(completed('.github/workflows/ci.ts'));
    expect(await glob({ pattern: 'none' })).toBe(completed('(no file matches)'));
  });

  test('a folder that is ignored or hidden is searched when it is named', async () => {
    putTree();
    expect(await glob({ pattern: '*', path: 'node_modules' })).toBe(completed('node_modules/x/index.ts'));
    expect(await glob({ pattern: '*', path: 'build' })).toBe(completed('build/out.ts'));
    expect(await glob({ pattern: '*', path: 'src/gen' })).toBe(completed('src/gen/kept.ts'));
    expect(await grep({ pattern: 'needle', path: '.github' })).toBe(
      completed('.github/workflows/ci.ts', '1\tneedle in .github/workflows/ci.ts'),
    );
  });

  test('outside a repository .gitignore files count from the searched folder on', async () => {
    scratch.put('.gitignore', '*.log\n');
    scratch.put('a.log', '');
    scratch.put('b/a.txt', '');
    scratch.put('b/.git/config', '');
    scratch.put('b/a.log', '');
    expect(await glob({ pattern: '*' })).toBe(completed('b/a.txt'));
    expect(await glob({ pattern: '*', path: 'b' })).toBe(completed('b/a.log', 'b/a.txt'));
  });

  test('lines by an expression, by file', async () => {
    putTree();
    expect(await grep({ pattern: '^needle', glob: 'src/**/*.ts' })).toBe(
      completed(
        'src/deep/er/two.ts\n1\tneedle in src/deep/er/two.ts\n',
        'src/gen/kept.ts\n1\tneedle in src/gen/kept.ts\n',
        'src/one.test.ts\n1\tneedle in src/one.test.ts\n',
        'src/one.ts\n1\tneedle in src/one.ts',
      ),
    );
    const all = await grep({ pattern: 'needle' });
    for (const secret of ['server.key', 'secrets.json', '.env', 'binary', 'linked', 'private', '.git/'])
      expect(all).not.toContain(secret);
    expect(await grep({ pattern: 'NEEDLE' })).toBe(completed('(no line matches)'));
    expect(await grep({ pattern: 'NEEDLE', ignoreCase: true, path: 'a.ts' })).toBe(
      completed('a.ts', '1\tneedle in a.ts'),
    );
    expect(await grep({ pattern: 'needle', path: 'binary.ts' })).toBe(completed('(no line matches)'));
    for (const path of ['[x].ts', 'two words.ts', '.hidden.ts', 'nested/ignored.log', 'server.key', '.env'])
      expect(await grep({ pattern: 'needle', path })).toContain(`completed: ${path}\n1\tneedle`);
  });

  test.each([
    ['fo+\\b', ['1\tfoo bar']],
    ['\\w+é', ['3\tcafé']],
    ['^$', ['4\t']],
    ['end$', ['5\tthe end']],
    ['[[:digit:]]{3}', ['6\t"a-b" 123 {x} 日本']],
    ['\\"a\\-b\\"', ['6\t"a-b" 123 {x} 日本']],
    ['\\{x}', ['6\t"a-b" 123 {x} 日本']],
    ['[\\w-]+" \\d', ['6\t"a-b" 123 {x} 日本']],
    ['\\p{Han}.$', ['6\t"a-b" 123 {x} 日本']],
    ['(?i)FOO|(?P<n>caf)', ['1\tfoo bar', '3\tcafé']],
    ['[]}] 日', ['6\t"a-b" 123 {x} 日本']],
    ['--help', ['7\t--help $(touch made) `x`']],
    ['$(touch made)', []],
    ['a\\x{66}', ['3\tcafé']],
  ])('the expression %s', async (pattern, lines) => {
    scratch.put(
      'text.txt',
      '\ufefffoo bar\nnothing\ncafé\n\r\nthe end\r\n"a-b" 123 {x} 日本\n--help $(touch made) `x`\n',
    );
    expect(await grep({ pattern })).toBe(
      lines.length === 0 ? completed('(no line matches)') : completed('text.txt', ...lines),
    );
  });

  test.each(['(', '(?=a)', '(a)\\1', '[z-a]', 'a{2', '*'])('the expression %s is refused in words', async (pattern) => {
    scratch.put('a.txt', 'a');
    for (const { search } of each) {
      const result = await scratch.call(
        grepTool(() => Promise.resolve(search)),
        { pattern },
      );
      expect(result.outcome).toBe('failed');
      expect(textOf(result).length).toBeGreaterThan(20);
    }
  });

  test('a long line is shown around its match, and says that it is cut', async () => {
    scratch.put('min.js', `${'é'.repeat(150_000)}needle${'ü'.repeat(50_000)}\nshort needle\n`);
    const found = await grep({ pattern: 'needle' });
    expect(found).toMatch(
      /^completed: min\.js\n1\t…é{50}needleü+… \[cut: the line has 400006 bytes\]\n2\tshort needle$/,
    );
    expect(found.length).toBeLessThan(600);
  });

  test('at most 200, with a word on how to narrow', async () => {
    for (let index = 0; index < 230; index++) scratch.put(`f${String(index).padStart(3, '0')}.txt`, 'x\nx\n');
    const files = (await glob({ pattern: '*.txt' })).split('\n');
    expect(files).toHaveLength(201);
    expect(files.slice(-2)).toEqual([
      'f199.txt',
      '[The first 200 are shown. Use a narrower pattern, or name a folder with path.]',
    ]);
    const lines = (await grep({ pattern: 'x' })).split('\n');
    expect(lines.filter((line) => line.endsWith('\tx'))).toHaveLength(200);
    expect(lines.at(-1)).toBe('[The first 200 lines are shown. Narrow the search: a longer pattern, a path, a glob.]');
    scratch.put('many.md', 'y\n'.repeat(200));
    expect(await grep({ pattern: 'y' })).not.toContain('Narrow');
    scratch.put('many.md', 'y\n'.repeat(100_000));
    expect(await grep({ pattern: 'y' })).toContain('Narrow');
    scratch.put('wide.log', `${'w'.repeat(499)}\n`.repeat(200));
    expect(Buffer.byteLength(await grep({ pattern: 'w' }))).toBeLessThan(52 * 1024);
  });

  test('wide characters and bytes that are no text are no hindrance', async () => {
    scratch.put('wide.txt', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('a needle\n', 'utf16le')]));
    scratch.put('latin.txt', Buffer.from('caf\xe9 needle\n', 'latin1'));
    expect(await grep({ pattern: 'needle' })).toBe(
      completed('latin.txt', '1\tcaf\ufffd needle', '', 'wide.txt', '1\ta needle'),
    );
  });

  test('ripgrep is taken from the PATH where none is shipped', async () => {
    expect(await ripgrepOnPath(`relative:${scratch.person}`)).toBeNull();
    symlinkSync(shipped.name, join(scratch.person, 'rg'));
    const found = await ripgrepOnPath(`relative:/nowhere:${scratch.person}`);
    expect(found?.name).toBe(join(scratch.person, 'rg'));
    expect((await quickestSearch(scratch.environment)).name).toBe(shipped.name);
  });
});

describe('searching stays where it may be', () => {
  test("TL29: the inside of .git and Alcove's home are refused; outside the project and secrets ask", async () => {
    scratch.put('.git/config', '');
    scratch.put('server.key', '');
    for (const tool of [lsTool, globTool(), grepTool()]) {
      const assess = (path: string) => scratch.assess(tool, { pattern: 'x', path });
      expect(await assess('.git')).toMatchObject({ effect: 'refused' });
      expect(await assess(scratch.home)).toMatchObject({ effect: 'refused' });
      expect(await assess(scratch.person)).toMatchObject({
        effect: 'read',
        caution: expect.stringContaining('outside'),
      });
      expect(await assess('server.key')).toMatchObject({ effect: 'read', caution: expect.stringContaining('key') });
      expect(await assess('.')).toEqual({ effect: 'read', caution: null, rulePattern: `${tool.name} .` });
      expect((await scratch.call(tool, { pattern: 'x', path: '.git' })).outcome).toBe('failed');
    }
  });

  test("TL29: a folder above the project gives nothing of Alcove's home, of a .git, of secrets", async () => {
    scratch.put('in.txt', 'needle');
    scratch.put('.git/in.txt', 'needle');
    writeFileSync(join(scratch.home, 'token.txt'), 'needle');
    mkdirSync(join(scratch.person, '.ssh'));
    writeFileSync(join(scratch.person, '.ssh', 'known'), 'needle');
    writeFileSync(join(scratch.person, 'own.pem'), 'needle');
    writeFileSync(join(scratch.person, 'own.txt'), 'needle');
    expect(await glob({ pattern: '{*,.x}', path: scratch.root })).toBe(
      completed(join(scratch.person, 'own.txt'), scratch.path('in.txt')),
    );
    expect(await grep({ pattern: 'needle', glob: '{*,.x}', path: scratch.root })).toBe(
      completed(join(scratch.person, 'own.txt'), '1\tneedle', '', scratch.path('in.txt'), '1\tneedle'),
    );
  });

  test('the whole output of a command, kept in the spills, can be searched', async () => {
    const path = await scratch.environment.spillFile('command-1.txt');
    writeFileSync(path, 'one\nneedle\n');
    expect(await grep({ pattern: 'needle', path })).toBe(completed(path, '2\tneedle'));
  });

  test.each(each)('$name: an abort ends it, and no process is left', async ({ search }) => {
    scratch.put('a.txt', `${'a'.repeat(40)}!\n`);
    const controller = new AbortController();
    const call = scratch.call(
      grepTool(() => Promise.resolve(search)),
      { pattern: '(a+)+$|(a|a)+b' },
      controller.signal,
    );
    controller.abort();
    expect(textOf(await call)).toBe('Searching . was stopped.');
    const [started, ended] = ['started', 'ended'].map((word) => scratch.groups.filter((one) => one.startsWith(word)));
    expect(ended).toHaveLength(started?.length ?? -1);
  });

  test('an expression that takes for ever does not hold up anything else, and ends with the abort', async () => {
    scratch.put('a.txt', `${'a'.repeat(60)}!\n`);
    const controller = new AbortController();
    const call = scratch.call(
      grepTool(() => Promise.resolve(plainSearch)),
      { pattern: '(a|a)+$' },
      controller.signal,
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    controller.abort();
    expect(textOf(await call)).toBe('Searching . was stopped.');
  });

  test('what is not there, and what the model gave wrongly, is said', async () => {
    expect(await grep({ pattern: 'x', path: 'none' })).toBe('failed: none does not exist.');
    expect(grepTool().prepare({})).toEqual({ problem: '"pattern" is missing: give the pattern as a string.' });
    expect(globTool().prepare({ pattern: '{a,b}'.repeat(12) })).toEqual({
      problem: 'The pattern stands for more than 200 alternatives: use fewer braces.',
    });
    expect(lsTool.prepare({ path: 3 })).toMatchObject({ problem: expect.stringContaining('path') });
  });

  test('the screen is told what is searched for, and where', () => {
    const display = (tool: Tool, args: Record<string, unknown>) => {
      const call = tool.prepare(args);
      return 'problem' in call ? call.problem : call.display;
    };
    expect(display(lsTool, {})).toEqual({ title: 'List', kind: 'search', target: '.' });
    expect(display(globTool(), { pattern: '*.ts', path: 'src' })).toEqual({
      title: 'Find',
      kind: 'search',
      target: '*.ts',
      summary: 'in src',
    });
    expect(display(grepTool(), { pattern: 'x', path: 'src', glob: '*.ts' })).toEqual({
      title: 'Search',
      kind: 'search',
      target: 'x',
      summary: 'in src *.ts',
    });
  });
});

describe('TL13: ls', () => {
  const ls = async (path?: string) => textOf(await scratch.call(lsTool, path === undefined ? {} : { path }));

  test('lists all names with what they are', async () => {
    putTree();
    expect((await ls()).split('\n')).toEqual(expect.arrayContaining(['.env', '.git/', 'a/', 'linked@', 'server.key']));
    expect(await ls('src/deep')).toBe('er/');
    mkdirSync(scratch.path('empty'));
    expect(await ls('empty')).toBe('(the folder is empty)');
    expect(await ls('a.ts')).toBe('a.ts cannot be reached: a part of the path that should be a folder is a file.');
  });

  test('at most 500, with a word on how to find others', async () => {
    for (let index = 0; index < 501; index++) scratch.put(`many/${String(index).padStart(3, '0')}`, '');
    const lines = (await ls('many')).split('\n');
    expect(lines).toHaveLength(501);
    expect(lines.at(-1)).toBe('[500 of 501 names are shown. Use glob with a pattern to find others.]');
  });
});
