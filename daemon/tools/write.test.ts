import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textOf, ToolScratch } from '../testing/tool-environment.ts';
import { FileQueue } from './file-queue.ts';
import { readTool } from './read.ts';
import { replaceFile } from './replace-file.ts';
import { writeTool } from './write.ts';

let scratch: ToolScratch;
const tool = writeTool(new FileQueue());

beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(() => scratch.close());

describe('TL7: write', () => {
  test('makes a file with its parents', async () => {
    const result = await scratch.call(tool, { path: 'src/deep/a.ts', content: 'one\ntwo\n' });
    expect(textOf(result)).toBe('Created src/deep/a.ts: 2 lines.');
    expect(scratch.get('src/deep/a.ts')).toBe('one\ntwo\n');
    expect(result.details).toMatchObject({
      change: 'created',
      before: null,
      added: 2,
      removed: 0,
      diff: expect.stringContaining('--- /dev/null') as string,
    });
    const plain = scratch.put('plain.txt', '');
    expect(statSync(scratch.path('src/deep/a.ts')).mode).toBe(statSync(plain).mode);
    expect(readdirSync(scratch.path('src/deep'))).toEqual(['a.ts']);
  });

  test('replaces a file whole, and the bytes before are kept', async () => {
    scratch.put('a.txt', 'old\n');
    const result = await scratch.call(tool, { path: 'a.txt', content: '' });
    expect(textOf(result)).toBe('Wrote a.txt: 0 lines.');
    expect(scratch.get('a.txt')).toBe('');
    expect([...scratch.blobs.values()].map(String)).toEqual(['old\n', '']);
  });

  test('writes through a link that leads nowhere yet, to where it leads', async () => {
    symlinkSync('target.txt', scratch.path('link.txt'));
    await scratch.call(tool, { path: 'link.txt', content: 'x' });
    expect(scratch.get('target.txt')).toBe('x');
  });

  test('a file seen here and changed since is not overwritten', async () => {
    scratch.put('a.txt', 'old\n');
    await scratch.call(readTool, { path: 'a.txt' });
    writeFileSync(scratch.path('a.txt'), "a person's work\n");
    expect(textOf(await scratch.call(tool, { path: 'a.txt', content: 'new\n' }))).toMatch(
      /has changed on disk since it was last read/,
    );
    expect(scratch.get('a.txt')).toBe("a person's work\n");
  });

  test('two writes one after the other both count as seen', async () => {
    await scratch.call(tool, { path: 'a.txt', content: '1' });
    expect(await scratch.call(tool, { path: 'a.txt', content: '2' })).toMatchObject({ outcome: 'completed' });
  });

  test('RT28: content above 4 MiB is refused before anything is written', async () => {
    const content = 'x'.repeat(4 * 1024 * 1024);
    expect(await scratch.call(tool, { path: 'a.txt', content })).toMatchObject({ outcome: 'completed' });
    expect(textOf(await scratch.call(tool, { path: 'b.txt', content: `${content}x` }))).toMatch(/up to 4 MiB/);
    expect(readdirSync(scratch.folder)).toEqual(['a.txt']);
  });

  test('a directory, and a file where a folder should be, are told', async () => {
    mkdirSync(scratch.path('src'));
    scratch.put('a.txt', '');
    expect(textOf(await scratch.call(tool, { path: 'src', content: 'x' }))).toBe('src is a directory.');
    expect(textOf(await scratch.call(tool, { path: 'a.txt/b', content: 'x' }))).toMatch(/should be a folder is a file/);
  });

  test('content that changed between reading and replacing is left alone', async () => {
    const path = scratch.put('a.txt', 'by a person');
    await expect(
      replaceFile(path, 'a.txt', Buffer.from('new'), Buffer.from('as read'), scratch.environment.temporaries),
    ).rejects.toThrow(/changed by somebody else/);
    expect(scratch.get('a.txt')).toBe('by a person');
    expect(readdirSync(scratch.folder)).toEqual(['a.txt']);
    expect([...scratch.temporaries]).toEqual([]);
  });

  test('a kill in the middle leaves the old or the new content, whole', async () => {
    const path = scratch.put('a.txt', Buffer.alloc(1024 * 1024, 'a'));
    const program = fileURLToPath(new URL('fixtures/replacer.ts', import.meta.url));
    for (const delay of [3, 17, 41]) {
      const replacer = spawn(process.execPath, ['--import', 'tsx', program, path], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(replacer.stdout, 'data');
      await wait(delay);
      replacer.kill('SIGKILL');
      await once(replacer, 'exit');
      const content = scratch.bytes('a.txt');
      expect(content.equals(Buffer.alloc(1024 * 1024, content[0]))).toBe(true);
    }
  });

  test('a name as long as the file system takes is written, in letters of several bytes too', async () => {
    for (const name of ['x'.repeat(255), '한'.repeat(85), '😀'.repeat(63)]) {
      expect(await scratch.call(tool, { path: name, content: '1' })).toMatchObject({ outcome: 'completed' });
      expect(await scratch.call(tool, { path: name, content: '2' })).toMatchObject({ outcome: 'completed' });
      expect(scratch.get(name)).toBe('2');
    }
    expect(readdirSync(scratch.folder)).toHaveLength(3);
  });

  test('where it cannot be noted that a temporary file is written, none is, and no folder is made for it', async () => {
    const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
    const temporaries = { writing: () => Promise.reject(full), written: () => Promise.resolve() };
    const call = tool.prepare({ path: 'new/a.txt', content: 'x' });
    if ('problem' in call) throw new Error(call.problem);
    const result = await call.execute({ ...scratch.environment, temporaries }, new AbortController().signal);
    expect(textOf(result)).toBe('new/a.txt was not written: the disk is full.');
    expect(readdirSync(scratch.folder)).toEqual([]);
  });

  test.runIf(process.platform === 'linux')('a place that can hold no files is refused in words', async () => {
    const refused = await scratch.call(tool, { path: '/proc/none/a.txt', content: 'x' });
    expect([refused.outcome, textOf(refused)]).toEqual(['failed', '/proc/none/a.txt does not exist.']);
    expect(textOf(await scratch.call(tool, { path: '/dev/null', content: 'x' }))).toBe(
      '/dev/null is not a regular file.',
    );
  });

  test('TL29: outside the project asks, Alcove home and .git are refused, also by execute', async () => {
    const outside = join(scratch.root, 'other.txt');
    expect(await scratch.assess(tool, { path: outside, content: '' })).toMatchObject({
      effect: 'change',
      caution: `${outside} is outside the project.`,
    });
    for (const path of ['.git/config', 'sub/.GIT/hooks/pre-commit', join(scratch.home, 'x')]) {
      expect(await scratch.assess(tool, { path, content: '' })).toMatchObject({ effect: 'refused' });
      expect(await scratch.call(tool, { path, content: '' })).toMatchObject({ outcome: 'failed' });
    }
    expect(readdirSync(scratch.folder)).toEqual([]);
  });
});
