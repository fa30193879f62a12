import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { maxLogEntries } from '../../base/limits.ts';
import { findMarked } from '../../base/process-table.ts';
import { textOf, ToolScratch } from '../../testing/tool-environment.ts';
import { gitTool } from './git.ts';

let scratch: ToolScratch;
beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(() => scratch.close());

const identity = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'a@b',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'a@b',
};
function git(...words: string[]): string {
  const env = { PATH: process.env['PATH'], HOME: scratch.person, ...identity };
  return execFileSync('git', words, { cwd: scratch.folder, env, stdio: ['ignore', 'pipe', 'ignore'] }).toString();
}
function commit(message: string): void {
  git('add', '-A');
  git('commit', '-qm', message);
}
function garden(): void {
  git('init', '-q', '-b', 'main', '.');
  scratch.put('notes.md', 'Roses\nFerns\n');
  commit('Plant');
  scratch.put('notes.md', 'Roses\nFerns\nMoss\n');
  commit('Moss');
}
async function look(args: Record<string, unknown>) {
  const result = await scratch.call(gitTool, args);
  return { outcome: result.outcome, text: textOf(result) };
}

describe('TL14: git looks', () => {
  test('at status, differences, history, one commit, who wrote a line, and branches', async () => {
    garden();
    git('branch', 'shade');
    scratch.put('notes.md', 'Roses\nFerns\nMoss\nIvy\n');
    scratch.put('new.txt', 'x');
    expect((await look({ action: 'status' })).text).toBe('## main\n M notes.md\n?? new.txt');
    expect((await look({ action: 'diff' })).text).toMatch(/^diff --git[^]*\n\+Ivy$/);
    expect((await look({ action: 'diff', staged: true })).text).toBe('(nothing)');
    expect((await look({ action: 'diff', revision: 'HEAD~1..HEAD', stat: true })).text).toMatch(/notes.md \| 1 \+/);
    expect((await look({ action: 'log' })).text).toMatch(
      /^\w+ \S+ Ada \(HEAD -> main, shade\)\n {4}Moss\n\w+ \S+ Ada\n {4}Plant$/,
    );
    expect((await look({ action: 'log', count: 1 })).text).not.toContain('Plant');
    expect((await look({ action: 'show', revision: 'HEAD:notes.md' })).text).toBe('Roses\nFerns\nMoss');
    expect((await look({ action: 'show', revision: 'HEAD~1', paths: 'notes.md' })).text).toMatch(/Plant[^]*\+Ferns$/);
    expect((await look({ action: 'blame', paths: ['notes.md'], firstLine: 2, lastLine: 2 })).text).toMatch(
      /^\^?\w+ \(Ada .* 2\) Ferns$/,
    );
    expect((await look({ action: 'branch' })).text).toMatch(/^\* main +\w+ Moss\n {2}shade +\w+ Moss$/);
    expect(await findMarked(scratch.mark)).toEqual([]);
  });

  test('arguments pass no shell, and odd names are names', async () => {
    garden();
    const names = [
      '$(touch pwned)',
      '`touch pwned`',
      'a;touch pwned',
      '-rf',
      ':(glob)*',
      'ü\u0301 \u202f.txt',
      'tab\there',
      '*',
    ];
    for (const name of names) scratch.put(name, 'x');
    commit('Odd');
    for (const name of names) scratch.put(name, 'y');
    for (const name of names) {
      const { text } = await look({ action: 'diff', paths: [name] });
      expect(text.match(/^diff --git/gm), name).toHaveLength(1);
    }
    expect((await look({ action: 'diff', paths: ['ü\u0301 \u202f.txt'] })).text).toContain('ü\u0301 \u202f.txt');
    expect(existsSync(scratch.path('pwned'))).toBe(false);
  });

  test.each([
    [{ action: 'push' }, /it can be status, diff/],
    [{ action: 'diff', revision: '--output=x' }, /must name a commit/],
    [{ action: 'log', revision: '-p' }, /must name a commit/],
    [{ action: 'blame' }, /one file/],
    [{ action: 'blame', paths: ['a', 'b'] }, /one file/],
    [{ action: 'show', paths: [1] }, /paths as strings/],
    [{ action: 'log', count: 'many' }, /whole number/],
  ])('%o is refused', (args, says) => {
    expect(gitTool.prepare(args)).toEqual({ problem: expect.stringMatching(says) as string });
  });

  test('nothing that the settings or attributes of a repository name is run, and nothing is written', async () => {
    garden();
    const trap = scratch.put('trap.sh', `#!/bin/sh\necho ran >> ${join(scratch.root, 'ran')}\ncat\n`);
    chmodSync(trap, 0o755);
    for (const setting of [
      'diff.external',
      'core.pager',
      'core.fsmonitor',
      'diff.odd.textconv',
      'diff.odd.command',
      'pager.log',
      'gpg.program',
    ])
      git('config', setting, trap);
    git('config', 'log.showSignature', 'true');
    scratch.put('.gitattributes', '*.md diff=odd\n');
    scratch.put('.git/hooks/post-index-change', readFileSync(trap));
    chmodSync(scratch.path('.git/hooks/post-index-change'), 0o755);
    scratch.put('notes.md', 'Other\n');
    const index = statSync(scratch.path('.git/index')).mtimeMs;
    for (const args of [
      { action: 'status' },
      { action: 'diff' },
      { action: 'log', stat: true },
      { action: 'show' },
      { action: 'blame', paths: ['notes.md'] },
      { action: 'branch' },
    ]) {
      const { outcome, text } = await look(args);
      expect([outcome, text], JSON.stringify(args)).toEqual(['completed', expect.any(String)]);
    }
    expect(existsSync(join(scratch.root, 'ran'))).toBe(false);
    expect(statSync(scratch.path('.git/index')).mtimeMs).toBe(index);
  });

  test('outside a repository it compares no two files of the machine, and says where it is', async () => {
    scratch.put('a', '1');
    scratch.put('b', '2');
    expect(await look({ action: 'diff', paths: ['a', 'b'] })).toEqual({
      outcome: 'failed',
      text: 'This folder is in no git repository.',
    });
  });

  test('what git itself refuses is told in its words', async () => {
    garden();
    expect(await look({ action: 'show', revision: 'nope' })).toMatchObject({
      outcome: 'failed',
      text: expect.stringMatching(/nope/) as string,
    });
  });

  test('a secret is asked about, in an old commit too; what lies elsewhere as well; the home of Alcove is refused', async () => {
    expect(await scratch.assess(gitTool, { action: 'status' })).toMatchObject({ effect: 'read', caution: null });
    for (const args of [
      { action: 'show', revision: 'HEAD~3:.env' },
      { action: 'diff', paths: ['.env'] },
    ])
      expect(await scratch.assess(gitTool, args)).toMatchObject({
        caution: expect.stringMatching(/secrets/) as string,
      });
    expect(await scratch.assess(gitTool, { action: 'log', paths: [scratch.home] })).toMatchObject({
      effect: 'refused',
    });
  });

  test('RT28: of maxLogEntries commits and one more, the last are shown', async () => {
    garden();
    const head = git('rev-parse', 'HEAD').trim();
    const commits = Array.from({ length: maxLogEntries }, (_, at) => {
      const parent = at === 0 ? `from ${head}\n` : '';
      return `commit refs/heads/main\ncommitter Ada <a@b> ${1_700_000_000 + at} +0000\ndata 2\nn\n${parent}\n`;
    }).join('');
    execFileSync('git', ['fast-import', '--quiet'], { cwd: scratch.folder, input: commits });
    const { text } = await look({ action: 'log', count: maxLogEntries + 1 });
    expect(text.match(/^\w+ \S+ Ada/gm)).toHaveLength(maxLogEntries);
    expect(git('rev-list', '--count', 'main').trim()).toBe(String(maxLogEntries + 2));
  });

  test('a difference that is too long is cut, and the whole is where it says', async () => {
    garden();
    scratch.put('notes.md', Array.from({ length: 20_000 }, (_, at) => `line ${at}\n`).join(''));
    const { text } = await look({ action: 'diff' });
    const [, path] = /the whole output is in (\S+) …\]/.exec(text) ?? [];
    expect(readFileSync(path ?? '', 'utf8').split('\n').length).toBeGreaterThan(20_000);
  });
});
