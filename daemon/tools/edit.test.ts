import { chmodSync, lstatSync, readdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textOf, ToolScratch } from '../testing/tool-environment.ts';
import { editTool } from './edit.ts';
import { FileQueue } from './file-queue.ts';
import { readTool } from './read.ts';

let scratch: ToolScratch;
const tool = editTool(new FileQueue());

beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(() => scratch.close());

describe('edit', () => {
  test('TL1: changes the file and keeps the bytes before and after', async () => {
    scratch.put('a.txt', 'one\ntwo\nthree\n');
    const result = await scratch.call(tool, { path: 'a.txt', edits: [{ oldText: 'two', newText: '2' }] });
    expect(scratch.get('a.txt')).toBe('one\n2\nthree\n');
    expect(textOf(result)).toBe('Edited a.txt: 1 place, +1 -1 lines.');
    expect(result.details).toMatchObject({
      type: 'file-change',
      path: 'a.txt',
      change: 'modified',
      added: 1,
      removed: 1,
    });
    const { before, after, diff } = result.details as {
      before: { sha256: string };
      after: { sha256: string };
      diff: string;
    };
    expect([before, after].map((blob) => scratch.blobs.get(blob.sha256)?.toString())).toEqual([
      'one\ntwo\nthree\n',
      'one\n2\nthree\n',
    ]);
    expect(diff).toBe('--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n');
  });

  test('TL1: a batch with one misfit writes nothing', async () => {
    scratch.put('a.txt', 'one\ntwo\n');
    const edits = [
      { oldText: 'one', newText: '1' },
      { oldText: 'nine', newText: '9' },
    ];
    const result = await scratch.call(tool, { path: 'a.txt', edits });
    expect(result.outcome).toBe('failed');
    expect(scratch.get('a.txt')).toBe('one\ntwo\n');
  });

  const batch = { path: 'a.txt', edits: [{ oldText: 'two', newText: '2' }] };
  test.each([
    ['the batch', batch],
    ['edits as JSON text', { path: 'a.txt', edits: JSON.stringify(batch.edits) }],
    ['each edit as JSON text', { path: 'a.txt', edits: batch.edits.map((edit) => JSON.stringify(edit)) }],
    ['a single object', { path: 'a.txt', edits: batch.edits[0] }],
    ['a single object as JSON text', { path: 'a.txt', edits: JSON.stringify(batch.edits[0]) }],
    ['old_string and new_string', { file_path: 'a.txt', old_string: 'two', new_string: '2' }],
    ['with replace_all', { file_path: 'a.txt', old_string: 'two', new_string: '2', replace_all: true }],
    ['with replace_all as text', { file_path: 'a.txt', old_string: 'two', new_string: '2', replace_all: 'false' }],
    ['oldText and newText without edits', { path: 'a.txt', oldText: 'two', newText: '2' }],
    ['a batch of the older names', { path: 'a.txt', edits: [{ old_str: 'two', new_str: '2' }] }],
  ])('TL2: %s', async (_, args) => {
    scratch.put('a.txt', 'one\ntwo\nthree\n');
    expect(await scratch.call(tool, args)).toMatchObject({ outcome: 'completed' });
    expect(scratch.get('a.txt')).toBe('one\n2\nthree\n');
  });

  test('TL2: replace_all replaces every place', async () => {
    scratch.put('a.txt', 'x y x');
    await scratch.call(tool, { path: 'a.txt', old_string: 'x', new_string: '$&', replace_all: true });
    expect(scratch.get('a.txt')).toBe('$& y $&');
  });

  test.each([
    ['no path', { edits: [] }, /"path" is missing/],
    ['no edits at all', { path: 'a' }, /Edit 1 has no oldText/],
    ['an empty batch', { path: 'a', edits: [] }, /"edits" is empty/],
    ['text that is not JSON', { path: 'a', edits: 'change it' }, /not JSON/],
    ['no new text', { path: 'a', edits: [{ oldText: 'x' }] }, /Edit 1 has no newText/],
  ])('TL2: says what is wrong with %s', (_, args, says) => {
    expect(tool.prepare(args)).toEqual({ problem: expect.stringMatching(says) as string });
  });

  test('keeps an executable mode and leaves no temporary file', async () => {
    chmodSync(scratch.put('run.sh', 'echo one\n'), 0o755);
    await scratch.call(tool, { path: 'run.sh', oldText: 'one', newText: 'two' });
    expect(statSync(scratch.path('run.sh')).mode & 0o777).toBe(0o755);
    expect(readdirSync(scratch.folder)).toEqual(['run.sh']);
  });

  test('follows a link to its file and keeps the link', async () => {
    scratch.put('real.txt', 'one\n');
    symlinkSync('real.txt', scratch.path('link.txt'));
    await scratch.call(tool, { path: 'link.txt', oldText: 'one', newText: 'two' });
    expect(lstatSync(scratch.path('link.txt')).isSymbolicLink()).toBe(true);
    expect(scratch.get('real.txt')).toBe('two\n');
  });

  test('a read-only file is not replaced', async () => {
    chmodSync(scratch.put('a.txt', 'one\n'), 0o444);
    expect(textOf(await scratch.call(tool, { path: 'a.txt', oldText: 'one', newText: 'two' }))).toBe(
      'a.txt is read-only (mode 444).',
    );
  });

  test('a file that changed since it was read is refused with that reason, and edited after another read', async () => {
    scratch.put('a.txt', 'one\n');
    await scratch.call(readTool, { path: 'a.txt' });
    writeFileSync(scratch.path('a.txt'), 'one more\n');
    const args = { path: 'a.txt', oldText: 'one', newText: 'two' };
    expect(textOf(await scratch.call(tool, args))).toMatch(/has changed on disk since it was last read/);
    expect(await scratch.assess(tool, args)).toMatchObject({ effect: 'refused' });
    await scratch.call(readTool, { path: 'a.txt' });
    expect(await scratch.call(tool, args)).toMatchObject({ outcome: 'completed' });
    expect(await scratch.call(tool, { path: 'a.txt', oldText: 'two', newText: 'three' })).toMatchObject({
      outcome: 'completed',
    });
    expect(scratch.get('a.txt')).toBe('three more\n');
  });

  test('RT27: parallel edits of one file, also by another name, all apply in order', async () => {
    scratch.put('a.txt', '0\n');
    symlinkSync('a.txt', scratch.path('b.txt'));
    const edits = Array.from({ length: 12 }, (_, index) => ({
      path: index % 2 === 0 ? 'a.txt' : './b.txt',
      oldText: `${index}\n`,
      newText: `${index}\n${index + 1}\n`,
    }));
    const results = await Promise.all(edits.map((args) => scratch.call(tool, args)));
    expect(results.map((result) => result.outcome)).toEqual(edits.map(() => 'completed'));
    expect(scratch.get('a.txt')).toBe(Array.from({ length: 13 }, (_, index) => `${index}\n`).join(''));
  });

  test('TL4 RT28: a file of 4 MiB is edited, one byte more is refused', async () => {
    const path = scratch.put('a.txt', `old\n${'x'.repeat(4 * 1024 * 1024 - 4)}`);
    expect(await scratch.call(tool, { path, oldText: 'old\n', newText: 'new\n' })).toMatchObject({
      outcome: 'completed',
    });
    truncateSync(path, 4 * 1024 * 1024 + 1);
    expect(textOf(await scratch.call(tool, { path, oldText: 'new', newText: 'old' }))).toMatch(/up to 4 MiB/);
  });

  test('a missing file and a directory are told apart', async () => {
    scratch.put('src/a.txt', 'one');
    expect(textOf(await scratch.call(tool, { path: 'b.txt', oldText: 'a', newText: 'b' }))).toMatch(
      /does not exist; a new file is made by write/,
    );
    expect(textOf(await scratch.call(tool, { path: 'src', oldText: 'a', newText: 'b' }))).toMatch(/is a directory/);
    expect(textOf(await scratch.call(tool, { path: 'src/a.txt/x', oldText: 'a', newText: 'b' }))).toMatch(
      /should be a folder is a file/,
    );
  });

  test('assess shows the change without making it, and refuses what cannot work', async () => {
    scratch.put('a.txt', 'one\n');
    expect(await scratch.assess(tool, { path: 'a.txt', oldText: 'one', newText: 'two' })).toMatchObject({
      effect: 'change',
      caution: null,
      preview: { diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n' },
      rulePattern: 'edit a.txt',
    });
    expect(scratch.get('a.txt')).toBe('one\n');
    expect(await scratch.assess(tool, { path: 'a.txt', oldText: 'nine', newText: 'x' })).toMatchObject({
      effect: 'refused',
    });
  });
});
