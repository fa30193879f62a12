import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FileChanges } from '#protocol/values/display.ts';
import { maxEventBytes, maxInlineFieldBytes, maxPatchFiles } from '../base/limits.ts';
import { textOf, ToolScratch } from '../testing/tool-environment.ts';
import { applyPatchTool } from './apply-patch.ts';
import { editTool } from './edit.ts';
import { FileQueue } from './file-queue.ts';
import { readTool } from './read.ts';
import { writeTool } from './write.ts';

let scratch: ToolScratch;
const queue = new FileQueue();
const tool = applyPatchTool(queue);
const patch = (...lines: string[]) => ({ patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });
const told = (details: unknown) =>
  (details as FileChanges).files.map(({ path, movedFrom, change, added, removed }) => [
    change,
    movedFrom,
    path,
    added,
    removed,
  ]);

beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(() => scratch.close());

/** Every file of the project with its content. */
function tree(): Record<string, string> {
  const names = readdirSync(scratch.folder, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => !one.isDirectory()).map((one) => join(one.parentPath, one.name));
  return Object.fromEntries(
    files.toSorted().map((path) => [path.slice(scratch.folder.length + 1), readFileSync(path, 'utf8')]),
  );
}

describe('apply_patch', () => {
  const several = patch(
    '*** Add File: src/new/c.txt',
    '+see',
    '*** Update File: a.txt',
    '@@',
    ' one',
    '-two',
    '+2',
    '*** Delete File: old.txt',
    '*** Update File: b.txt',
    '*** Move to: moved/b.txt',
    '@@',
    '-bee',
    '+B',
  );
  const start = () => {
    scratch.put('a.txt', 'one\ntwo\n');
    scratch.put('b.txt', 'bee\n');
    scratch.put('old.txt', 'old\n');
  };

  test('TL8: adds, updates, moves and deletes by one call, and tells each with the bytes before and after', async () => {
    start();
    chmodSync(scratch.path('b.txt'), 0o755);
    const result = await scratch.call(tool, several);
    expect(textOf(result)).toBe(
      'Added src/new/c.txt: +1 -0 lines.\nUpdated a.txt: +1 -1 lines.\nMoved b.txt to moved/b.txt: +1 -1 lines.\nDeleted old.txt: +0 -1 lines.',
    );
    expect(tree()).toEqual({ 'a.txt': 'one\n2\n', 'moved/b.txt': 'B\n', 'src/new/c.txt': 'see\n' });
    expect(statSync(scratch.path('moved/b.txt')).mode & 0o777).toBe(0o755);
    expect(told(result.details)).toEqual([
      ['created', undefined, 'src/new/c.txt', 1, 0],
      ['modified', undefined, 'a.txt', 1, 1],
      ['modified', 'b.txt', 'moved/b.txt', 1, 1],
      ['deleted', undefined, 'old.txt', 0, 1],
    ]);
    const bytes = (result.details as FileChanges).files.map(({ before, after }) =>
      [before, after].map((blob) => (blob === null ? null : scratch.blobs.get(blob.sha256)?.toString())),
    );
    expect(bytes).toEqual([
      [null, 'see\n'],
      ['one\ntwo\n', 'one\n2\n'],
      ['bee\n', 'B\n'],
      ['old\n', null],
    ]);
    expect((result.details as FileChanges).files[3]?.diff).toBe(
      '--- a/old.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-old\n',
    );
  });

  test('TL8: says before what it would do, changing nothing', async () => {
    start();
    const before = tree();
    const assessment = await scratch.assess(tool, several);
    expect(assessment).toMatchObject({
      effect: 'change',
      caution: null,
      rulePattern: 'apply_patch a.txt b.txt moved/b.txt old.txt src/new/c.txt',
    });
    expect(told(assessment.effect === 'change' && assessment.preview)).toHaveLength(4);
    expect(tree()).toEqual(before);
    expect(tool.prepare(several)).toMatchObject({
      display: { title: 'Patch', kind: 'edit', target: 'src/new/c.txt, a.txt and 2 more', summary: '4 files' },
    });
  });

  test.each([
    [
      'a hunk that is not there',
      ['*** Update File: a.txt', '@@', '-nine', '+9'],
      /a\.txt \(file 5 of 5\) could not be patched\. Its hunk was not found/,
    ],
    ['a file that is there already', ['*** Add File: a.txt', '+x'], /a\.txt.* exists already/],
    ['a file to delete that is not there', ['*** Delete File: none.txt'], /none\.txt.* does not exist/],
    [
      'a file to update that is not there',
      ['*** Update File: none.txt', '@@', '-a', '+b'],
      /none\.txt.* does not exist/,
    ],
    ['a place to move to that is taken', ['*** Update File: a.txt', '*** Move to: d.txt'], /d\.txt.* exists already/],
    ['a folder', ['*** Update File: dir', '@@', '-a', '+b'], /dir is a directory/],
    ['a file that is read-only', ['*** Delete File: fixed.txt'], /fixed\.txt is read-only/],
    ['a link to be deleted', ['*** Delete File: link'], /reached through a link/],
  ])('TL8: with %s no file is changed, nor asked about', async (_, lines, problem) => {
    start();
    scratch.put('d.txt', 'd\n');
    chmodSync(scratch.put('fixed.txt', 'fixed\n'), 0o444);
    symlinkSync('d.txt', scratch.path('link'));
    mkdirSync(scratch.path('dir'));
    const before = tree();
    const args = { patch: several.patch.replace('*** End Patch', [...lines, '*** End Patch'].join('\n')) };
    const assessment = await scratch.assess(tool, args);
    expect(assessment).toMatchObject({ effect: 'refused', reason: expect.stringMatching(problem) as string });
    const result = await scratch.call(tool, args);
    expect(result.outcome).toBe('failed');
    expect(textOf(result)).toMatch(problem);
    expect(textOf(result)).toContain('No file was changed.');
    expect(tree()).toEqual(before);
  });

  test('TL8: sections of one file follow each other; deleted and added again it is a change, moved and made anew it is two', async () => {
    start();
    const result = await scratch.call(
      tool,
      patch(
        '*** Update File: a.txt',
        '@@',
        '-one',
        '+1',
        '*** Update File: ./a.txt',
        '@@',
        ' 1',
        '+1.5',
        '*** Delete File: old.txt',
        '*** Add File: old.txt',
        '+new',
        '*** Update File: b.txt',
        '*** Move to: c.txt',
        '*** Add File: b.txt',
        '+again',
      ),
    );
    expect(tree()).toEqual({ 'a.txt': '1\n1.5\ntwo\n', 'b.txt': 'again\n', 'c.txt': 'bee\n', 'old.txt': 'new\n' });
    expect(told(result.details)).toEqual([
      ['modified', undefined, 'a.txt', 2, 1],
      ['modified', undefined, 'old.txt', 1, 1],
      ['modified', undefined, 'b.txt', 1, 1],
      ['created', undefined, 'c.txt', 1, 0],
    ]);
  });

  test('TL29: protected places are refused or ask, whichever file of the patch they are', async () => {
    start();
    const add = (path: string) => patch('*** Update File: a.txt', '@@', '-one', '+1', `*** Add File: ${path}`, '+x');
    expect(await scratch.assess(tool, add('.git/hooks/pre-commit'))).toMatchObject({ effect: 'refused' });
    expect(await scratch.assess(tool, add(`${scratch.home}/rules.json`))).toMatchObject({ effect: 'refused' });
    expect(await scratch.assess(tool, add('.env'))).toMatchObject({
      effect: 'change',
      caution: expect.stringContaining('.env') as string,
    });
    expect(await scratch.assess(tool, patch('*** Update File: a.txt', '*** Move to: ../out.txt'))).toMatchObject({
      effect: 'change',
      caution: expect.stringContaining('outside the project') as string,
    });
    const refused = await scratch.call(tool, add('.git/config'));
    expect([refused.outcome, scratch.get('a.txt')]).toEqual(['failed', 'one\ntwo\n']);
  });

  test('a file that has changed since it was read is not patched; one that was patched can be patched again', async () => {
    start();
    await scratch.call(readTool, { path: 'a.txt' });
    writeFileSync(scratch.path('a.txt'), 'one\ntwo\nthree\n');
    const two = patch('*** Update File: a.txt', '@@', '-two', '+2');
    expect(textOf(await scratch.call(tool, two))).toContain('a.txt has changed on disk since it was last read here');
    await scratch.call(readTool, { path: 'a.txt' });
    expect((await scratch.call(tool, two)).outcome).toBe('completed');
    expect((await scratch.call(tool, patch('*** Update File: a.txt', '@@', '-2', '+3'))).outcome).toBe('completed');
    expect(scratch.get('a.txt')).toBe('one\n3\nthree\n');
  });

  test('TL8: a link is followed, its target replaced', async () => {
    scratch.put('real.txt', 'a\n');
    symlinkSync('real.txt', scratch.path('link'));
    await scratch.call(tool, patch('*** Update File: link', '@@', '-a', '+b'));
    expect([scratch.get('real.txt'), lstatSync(scratch.path('link')).isSymbolicLink()]).toEqual(['b\n', true]);
  });

  test('TL8: where the disk refuses one file, those written before are put back, made folders too', async () => {
    start();
    mkdirSync(scratch.path('shut'));
    scratch.put('shut/x.txt', 'x\n');
    const before = tree();
    let opened = false;
    // The last file changes under the patch after everything was checked: the store of its bytes is the last thing before the writes.
    const environment = {
      ...scratch.environment,
      storeBlob: (bytes: Uint8Array) => {
        if (Buffer.from(bytes).toString() === 'x\n') {
          opened = true;
          writeFileSync(scratch.path('shut/x.txt'), 'somebody else\n');
        }
        return scratch.environment.storeBlob(bytes);
      },
    };
    const args = { patch: several.patch.replace('*** End Patch', '*** Delete File: shut/x.txt\n*** End Patch') };
    const call = tool.prepare(args);
    const result = 'problem' in call ? null : await call.execute(environment, new AbortController().signal);
    expect(opened).toBe(true);
    expect(result === null ? '' : textOf(result)).toBe(
      'shut/x.txt was changed by somebody else at the same moment; nothing was written. Read it again. What had been written before was put back: no file is changed.',
    );
    expect(tree()).toEqual({ ...before, 'shut/x.txt': 'somebody else\n' });
    expect([existsSync(scratch.path('src')), existsSync(scratch.path('moved'))]).toEqual([false, false]);
  });

  test('RT27: calls that meet in one file wait for each other, whatever else they change', async () => {
    scratch.put('a.txt', '0\n');
    scratch.put('b.txt', '0\n');
    const step = (from: number) =>
      patch(...['a.txt', 'b.txt'].flatMap((path) => [`*** Update File: ${path}`, '@@', `-${from}`, `+${from + 1}`]));
    const edit = (path: string, from: number) =>
      scratch.call(editTool(queue), { path, oldText: String(from), newText: String(from + 1) });
    const results = await Promise.all([
      scratch.call(tool, step(0)),
      edit('a.txt', 1),
      edit('b.txt', 1),
      scratch.call(tool, step(2)),
      scratch.call(writeTool(queue), { path: 'b.txt', content: '9\n' }),
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(5).fill('completed'));
    expect([scratch.get('a.txt'), scratch.get('b.txt')]).toEqual(['3\n', '9\n']);
  });

  test('RT7: a patch of very many files and very long diffs is told within one event', async () => {
    const long = Array.from({ length: 100 }, (_, line) => `+${'\u0001'.repeat(60)} ${line}`);
    const files = Array.from({ length: 200 }, (_, index) => [`*** Add File: ${'d/'.repeat(40)}${index}.txt`, ...long]);
    const args = patch(...files.flat());
    const result = await scratch.call(tool, args);
    const { files: changes } = result.details as FileChanges;
    expect(changes).toHaveLength(200);
    expect(Buffer.byteLength(JSON.stringify(result.details))).toBeLessThan(maxEventBytes / 2);
    expect(Buffer.byteLength(changes.map(({ diff }) => diff ?? '').join(''))).toBeLessThan(maxInlineFieldBytes);
    const blob = changes.at(-1)?.diffBlob;
    expect(blob && scratch.blobs.get(blob.sha256)?.toString()).toContain('+++ b/');
  });

  test('RT28: more files than one patch may have are refused by name of the limit', () => {
    const files = Array.from({ length: maxPatchFiles + 1 }, (_, index) => `*** Delete File: ${index}`);
    expect(tool.prepare(patch(...files))).toMatchObject({
      problem: expect.stringContaining('maxPatchFiles') as string,
    });
  });

  test.each([
    ['input', (text: string) => ({ input: text })],
    ['a command line', (text: string) => ({ input: ['apply_patch', text] })],
    ['a heredoc', (text: string) => ({ patch: `apply_patch <<'EOF'\n${text}\nEOF\n` })],
  ])('TL8: takes the patch as %s', async (_, as) => {
    start();
    const { patch: text } = patch('*** Update File: a.txt', '@@', '-two', '+2');
    expect((await scratch.call(tool, as(text))).outcome).toBe('completed');
    expect(scratch.get('a.txt')).toBe('one\n2\n');
  });

  test('what cannot be read is answered in words', () => {
    expect(tool.prepare({})).toEqual({ problem: '"patch" is missing: give the whole patch as a string.' });
    expect(tool.prepare({ patch: 'fix it' })).toMatchObject({
      problem: expect.stringContaining('must begin with') as string,
    });
  });
});

test('TL8: any set of changes comes out as asked, and with one more that cannot be, nothing changes', async () => {
  const content = fc
    .array(fc.constantFrom('a', 'b', 'ä', ''), { maxLength: 6 })
    .map((lines) => lines.map((line, at) => `${at} ${line}\n`).join(''));
  const names = ['a', 'b', 'c/d', 'c/e', 'f'];
  const state = fc.record(Object.fromEntries(names.map((name) => [name, fc.option(content)])));
  await fc.assert(
    fc.asyncProperty(state, state, async (before, after) => {
      for (const name of [...names, 'bad']) rmSync(scratch.path(name), { force: true });
      for (const [name, text] of Object.entries(before)) if (text !== null) scratch.put(name, text);
      scratch.seen.clear();
      const lines = names.flatMap((name) => {
        const [was, is] = [before[name] ?? null, after[name] ?? null];
        if (was === is) return [];
        if (is === null) return [`*** Delete File: ${name}`];
        const come = is
          .split('\n')
          .slice(0, -1)
          .map((line) => `+${line}`);
        if (was === null) return [`*** Add File: ${name}`, ...come];
        return [
          `*** Update File: ${name}`,
          '@@',
          ...was
            .split('\n')
            .slice(0, -1)
            .map((line) => `-${line}`),
          ...come,
        ];
      });
      fc.pre(lines.length > 0);
      const start = tree();
      const bad = await scratch.call(tool, patch(...lines, '*** Update File: bad', '@@', '-a', '+b'));
      expect([bad.outcome, tree()]).toEqual(['failed', start]);
      const result = await scratch.call(tool, patch(...lines));
      expect(textOf(result)).not.toContain('No file was changed');
      expect(tree()).toEqual(Object.fromEntries(Object.entries(after).filter(([, text]) => text !== null)));
    }),
    { numRuns: 40 },
  );
});

test('TL8: a kill in the middle of a patch leaves each file old or new', async () => {
  for (const name of ['a', 'b', 'c']) scratch.put(name, '0\n');
  const program = fileURLToPath(new URL('./fixtures/patcher.ts', import.meta.url));
  for (let round = 0; round < 4; round++) {
    const child = spawn(process.execPath, ['--import', 'tsx', program, scratch.folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise<void>((resolve) => {
      let said = '';
      child.stdout.on('data', (text: Buffer) => {
        said += text.toString();
        if (said.split('\n').length > 2 + round) resolve();
      });
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    const numbers = ['a', 'b', 'c'].map((name) => scratch.get(name));
    for (const text of numbers) expect(text).toMatch(/^\d+\n$/);
    const [a, b, c] = numbers.map(Number) as [number, number, number];
    // Written one after the other: who is behind is behind by one.
    expect([a - b, b - c, a - c].every((ahead) => ahead === 0 || ahead === 1)).toBe(true);
    for (const name of ['a', 'b', 'c']) scratch.put(name, '0\n');
  }
}, 60_000);
