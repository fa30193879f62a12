import { execFileSync } from 'node:child_process';
import { symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textOf, ToolScratch } from '../testing/tool-environment.ts';
import { pdfOf } from '../testing/pdf.ts';
import { readTool } from './read.ts';
import { icoOf, jpegOf, pngClaiming, pngOf } from '../testing/pictures.ts';

let scratch: ToolScratch;
beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(() => scratch.close());

const read = async (args: Record<string, unknown>) => textOf(await scratch.call(readTool, args));
const lines = (count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`).join('\n');

describe('TL5: read', () => {
  test('numbers the lines and says what it read', async () => {
    scratch.put('a.txt', '\ufeffone\r\ntwo\r\n\r\nfour');
    const result = await scratch.call(readTool, { path: 'a.txt' });
    expect(textOf(result)).toBe('1\tone\n2\ttwo\n3\t\n4\tfour');
    expect(result.details).toEqual({ type: 'file-read', path: 'a.txt', firstLine: 1, lastLine: 4, totalLines: 4 });
  });

  test('a window names where to go on', async () => {
    scratch.put('a.txt', `${lines(30)}\n`);
    expect(await read({ path: 'a.txt', offset: '10', limit: 2 })).toBe(
      '10\tline 10\n11\tline 11\n[Lines 10-11 of 30 are shown. Go on with offset=12.]',
    );
    expect(await read({ path: 'a.txt', offset: 29 })).toBe('29\tline 29\n30\tline 30');
  });

  test('at most 2000 lines, and the offset it names leads on', async () => {
    scratch.put('a.txt', lines(2001));
    const first = (await read({ path: 'a.txt' })).split('\n');
    expect(first).toHaveLength(2001);
    expect(first.at(-1)).toBe('[Lines 1-2000 of 2001 are shown (limit of 2000 lines). Go on with offset=2001.]');
    expect(await read({ path: 'a.txt', offset: 2001 })).toBe('2001\tline 2001');
    scratch.put('b.txt', lines(2000));
    expect(await read({ path: 'b.txt' })).not.toContain('[');
  });

  test('at most 50 KiB, by whole lines', async () => {
    scratch.put('a.txt', Array.from({ length: 100 }, () => 'x'.repeat(1_000)).join('\n'));
    const text = await read({ path: 'a.txt' });
    expect(Buffer.byteLength(text)).toBeLessThan(50 * 1024 + 100);
    expect(text.split('\n').at(-1)).toBe('[Lines 1-51 of 100 are shown (limit of 50 KiB). Go on with offset=52.]');
  });

  test('a line that is too long is cut between characters, with advice', async () => {
    scratch.put('a.txt', `short\n${'é'.repeat(1_500)}\nlast`);
    const [first, second, third] = (await read({ path: 'a.txt' })).split('\n');
    expect([first, third]).toEqual(['1\tshort', '3\tlast']);
    expect(second).toBe(
      `2\t${'é'.repeat(1_000)} [cut: the line has 3000 bytes. Its rest: sed -n '2p' FILE | tail -c +2001 | head -c 2000]`,
    );
    scratch.put('b.txt', `${'y'.repeat(2_000)}\r\nz`);
    expect(await read({ path: 'b.txt' })).toBe(`1\t${'y'.repeat(2_000)}\n2\tz`);
  });

  test('past the end names the last line', async () => {
    scratch.put('a.txt', 'one\ntwo\n');
    const result = await scratch.call(readTool, { path: 'a.txt', offset: 3 });
    expect(result.outcome).toBe('failed');
    expect(textOf(result)).toBe('Line 3 is past the end of a.txt: its last line is 2.');
  });

  test.each([
    ['NUL', 'ab\0c', /holds NUL bytes: it is a binary file/],
    ['a broken picture', Buffer.from('\x89PNG\r\n\x1a\n....', 'latin1'), /is a picture \(PNG\) that is broken/],
    ['a PDF', '%PDF-1.7', /is a PDF/],
    ['UTF-16', Buffer.from('\ufeffhello', 'utf16le'), /is UTF-16 text/],
  ])('%s is refused with a clear word', async (_, content, says) => {
    scratch.put('a', content);
    const result = await scratch.call(readTool, { path: 'a' });
    expect(result.outcome).toBe('failed');
    expect(textOf(result)).toMatch(says);
  });

  test('PR19: a PDF is read as its text, page by page, in the windows of any file', async () => {
    scratch.put('a.pdf', pdfOf(['Roses', 'Ferns']));
    expect(await read({ path: 'a.pdf' })).toBe('1\t--- Page 1 ---\n2\tRoses\n3\t\n4\t--- Page 2 ---\n5\tFerns');
    expect(await read({ path: 'a.pdf', offset: 5 })).toBe('5\tFerns');
  });

  test('a NUL far behind what is shown is found too', async () => {
    scratch.put('a', `${lines(100_000)}\0`);
    expect(await read({ path: 'a', limit: 1 })).toMatch(/NUL/);
  });

  test('what is no file says so, without waiting for a writer', async () => {
    scratch.put('src/a.txt', '');
    execFileSync('bash', ['-c', 'mkfifo fifo'], { cwd: scratch.folder });
    symlinkSync('loop', scratch.path('loop'));
    expect(await read({ path: 'src' })).toBe('src is a directory; list it with ls.');
    expect(await read({ path: 'fifo' })).toBe('fifo is not a regular file, so it is not read.');
    expect(await read({ path: 'none' })).toBe('none does not exist. Look at the folder for its right name.');
    expect(await read({ path: 'src/a.txt/b' })).toMatch(/should be a folder is a file/);
    expect(await read({ path: 'loop' })).toMatch(/link/);
    expect(await read({ path: 'src/a.txt' })).toBe('(the file is empty)');
  });

  test('invalid UTF-8 is shown with replacement characters', async () => {
    scratch.put('a.txt', Buffer.from('caf\xe9\n', 'latin1'));
    expect(await read({ path: 'a.txt' })).toBe('1\tcaf\ufffd');
  });

  test('RT28: a large file is passed through in bounded memory', async () => {
    const path = scratch.put('a.txt', '');
    execFileSync('bash', ['-c', `head -c 150000000 /dev/zero | tr '\\0' x > '${path}'`]);
    const before = process.memoryUsage.rss();
    expect(await read({ path: 'a.txt' })).toMatch(/the line has 150000000 bytes/);
    expect(process.memoryUsage.rss() - before).toBeLessThan(60 * 1024 * 1024);
    truncateSync(path);
  });

  test('stops on abort', async () => {
    scratch.put('a.txt', lines(10));
    const result = await scratch.call(readTool, { path: 'a.txt' }, AbortSignal.abort());
    expect(textOf(result)).toBe('Reading a.txt was stopped.');
  });

  test('TL29: secrets and places outside ask, Alcove home and .git are refused, the spill files are free', async () => {
    expect(await scratch.assess(readTool, { path: 'src/a.ts' })).toEqual({
      effect: 'read',
      caution: null,
      rulePattern: 'read src/a.ts',
    });
    expect(await scratch.assess(readTool, { path: '.env' })).toMatchObject({
      effect: 'read',
      caution: '.env usually holds secrets of an environment.',
    });
    expect(await scratch.assess(readTool, { path: '/etc/hosts' })).toMatchObject({
      caution: '/etc/hosts is outside the project.',
    });
    expect(await scratch.assess(readTool, { path: '.git/config' })).toMatchObject({ effect: 'refused' });
    expect(await scratch.assess(readTool, { path: join(scratch.home, 'token') })).toMatchObject({ effect: 'refused' });
    expect(await scratch.assess(readTool, { path: await scratch.environment.spillFile('x.txt') })).toMatchObject({
      effect: 'read',
      caution: null,
    });
  });

  test('arguments that make no sense are told', () => {
    expect(readTool.prepare({ path: 'a', offset: 0 })).toEqual({
      problem: expect.stringMatching(/"offset" is 0/) as string,
    });
    expect(readTool.prepare({ path: 'a', limit: 'all' })).toEqual({
      problem: expect.stringMatching(/"limit" is "all"/) as string,
    });
    expect(readTool.prepare({})).toEqual({ problem: expect.stringMatching(/"path" is missing/) as string });
  });
});

describe('TL6: read of a picture', () => {
  test('TL6: answers the picture as it is, with its sides, in every mode that reads', async () => {
    scratch.put('logo.txt', pngOf(30, 20));
    const result = await scratch.call(readTool, { path: 'logo.txt' });
    expect(textOf(result)).toBe('logo.txt: 30 x 20 png.\n<image>');
    const [, part] = result.content;
    expect(part).toMatchObject({ type: 'image', mediaType: 'image/png', name: 'logo.txt', width: 30, height: 20 });
    const sha256 = part?.type === 'image' ? part.blob.sha256 : '';
    expect(scratch.blobs.get(sha256)?.equals(pngOf(30, 20))).toBe(true);
    expect(await scratch.assess(readTool, { path: 'logo.txt' })).toMatchObject({ effect: 'read', caution: null });
    expect(scratch.seen.size).toBe(1);
  });

  test('TL6: makes a large one smaller and an icon a png, and says so', async () => {
    scratch.put('wide.jpg', jpegOf(2500, 100));
    scratch.put('app.ico', icoOf(64));
    expect(textOf(await scratch.call(readTool, { path: 'wide.jpg' }))).toBe(
      'wide.jpg: 1568 x 63 jpeg. Scaled from 2500 x 100 to 1568 x 63.\n<image>',
    );
    expect(textOf(await scratch.call(readTool, { path: 'app.ico' }))).toBe(
      'app.ico: 64 x 64 png. Turned from ico into png.\n<image>',
    );
  });

  test('TL6: a text that begins as a picture might is a text; a picture that is too large is said to be', async () => {
    scratch.put('bm.txt', 'BM is short for benchmark, and this line goes on for quite a while.\n');
    scratch.put('bomb.png', pngClaiming(60_000, 60_000));
    expect(textOf(await scratch.call(readTool, { path: 'bm.txt' }))).toContain('1\tBM is short');
    const bomb = await scratch.call(readTool, { path: 'bomb.png' });
    expect([bomb.outcome, textOf(bomb)]).toEqual([
      'failed',
      expect.stringMatching(/^bomb\.png has 60000 x 60000 pixels/),
    ]);
  });
});
