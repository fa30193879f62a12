import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { maxLookAlikeNames } from '../base/limits.ts';
import { pngOf } from '../testing/pictures.ts';
import { textOf, ToolScratch } from '../testing/tool-environment.ts';
import { applyPatchTool } from './apply-patch.ts';
import { editTool } from './edit.ts';
import { FileQueue } from './file-queue.ts';
import { lookAlike } from './look-alike.ts';
import { lsTool } from './ls.ts';
import { findPlace } from './paths.ts';
import { readTool } from './read.ts';
import { writeTool } from './write.ts';

let scratch: ToolScratch;
beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(() => scratch.close());

const queue = new FileQueue();
const [edit, write, patch] = [editTool(queue), writeTool(queue), applyPatchTool(queue)];
const composed = 'Café.txt'.normalize('NFC');
const decomposed = composed.normalize('NFD');
const screenshot = 'Screenshot 2026-12-01 at 3.45.12\u202fPM.png';
const typed = 'Screenshot 2026-12-01 at 3.45.12 PM.png';

describe('a name that looks like one that is there', () => {
  test('a screenshot of macOS is read by the name that everybody sees, also from its folder', async () => {
    scratch.put(`My\u00a0Desktop/${screenshot}`, pngOf(2, 2));
    expect(textOf(await scratch.call(readTool, { path: `My Desktop/${typed}` }))).toContain('2 x 2 png');
    expect(textOf(await scratch.call(lsTool, { path: 'My Desktop' }))).toBe(screenshot);
  });

  test('an edit of a composed name changes the file whose name is decomposed, and the other way round', async () => {
    for (const [there, given] of [
      [decomposed, composed],
      [composed, decomposed],
    ] as const) {
      scratch.put(there, 'one\n');
      expect(textOf(await scratch.call(edit, { path: given, oldText: 'one', newText: 'two' }))).toBe(
        `Edited ${there}: 1 place, +1 -1 lines.`,
      );
      expect(readdirSync(scratch.folder)).toEqual([there]);
      expect(scratch.get(there)).toBe('two\n');
      scratch.close();
      scratch = new ToolScratch();
    }
  });

  test('a write takes the file of the same letters, and makes a new one beside a name that only looks alike', async () => {
    scratch.put(decomposed, 'old\n');
    scratch.put('don’t.md', 'kept\n');
    expect(textOf(await scratch.call(write, { path: composed, content: 'new\n' }))).toBe(
      `Wrote ${decomposed}: 1 line.`,
    );
    expect(textOf(await scratch.call(write, { path: "don't.md", content: 'new\n' }))).toBe("Created don't.md: 1 line.");
    expect([scratch.get(decomposed), scratch.get('don’t.md'), scratch.get("don't.md")]).toEqual([
      'new\n',
      'kept\n',
      'new\n',
    ]);
  });

  test('a patch finds what it updates and deletes; what it adds is new', async () => {
    scratch.put('a–b.txt', 'one\n');
    scratch.put('c d.txt', 'gone\n');
    const lines = ['*** Begin Patch', '*** Update File: a-b.txt', '@@', '-one', '+two'];
    lines.push('*** Delete File: c\u202fd.txt', '*** Add File: a-b c.txt', '+new', '*** End Patch');
    expect((await scratch.call(patch, { patch: lines.join('\n') })).outcome).toBe('completed');
    expect(readdirSync(scratch.folder).toSorted()).toEqual(['a-b c.txt', 'a–b.txt']);
    expect(scratch.get('a–b.txt')).toBe('two\n');
  });

  test('of two that look alike none is taken, and the very name always', async () => {
    scratch.put('a\u00a0b.txt', 'no-break\n');
    scratch.put('a\u202fb.txt', 'narrow\n');
    expect(textOf(await scratch.call(readTool, { path: 'a b.txt' }))).toMatch(/^a b\.txt does not exist/);
    expect(textOf(await scratch.call(readTool, { path: 'a\u202fb.txt' }))).toBe('1\tnarrow');
    scratch.put('a b.txt', 'plain\n');
    expect(textOf(await scratch.call(readTool, { path: 'a b.txt' }))).toBe('1\tplain');
  });

  test('TL29: it is judged by the name that is there, and by where that leads', async () => {
    mkdirSync(`${scratch.root}/outside`);
    writeFileSync(`${scratch.root}/outside/a b.pem`, '');
    symlinkSync('../outside', scratch.path('to\u00a0it'));
    const place = await findPlace('to it/a\u00a0b.pem', scratch.environment, 'alike');
    expect([place.real, place.toRead.kind, place.isLink]).toEqual([`${scratch.root}/outside/a b.pem`, 'asks', false]);
    expect((await findPlace('to it', scratch.environment, 'alike')).isLink).toBe(true);
    // A shell has no such help, so its paths are judged as they stand.
    expect((await findPlace('to it/a b.pem', scratch.environment)).real).toBe(scratch.path('to it/a b.pem'));
  });

  test('RT28: a folder of more names than the limit is not looked through', async () => {
    const name = (index: number) => scratch.path(`file ${index}`);
    for (let index = 1; index <= maxLookAlikeNames; index++) writeFileSync(name(index), '');
    expect(await lookAlike(scratch.folder, 'file\u00a07', 'alike')).toBe('file 7');
    writeFileSync(name(maxLookAlikeNames + 1), '');
    expect(await lookAlike(scratch.folder, 'file\u00a07', 'alike')).toBeNull();
  });
});

test('any name that is there is found as itself, in each of its Unicode forms where it has no twin', async () => {
  const name = fc
    .array(fc.constantFrom('a', 'é', 'e\u0301', 'ü', 'Å', 'ﬁ', ' ', '\u202f', '’', "'", '-', '–', '한', '😀', '.'), {
      minLength: 1,
      maxLength: 8,
    })
    .map((parts) => parts.join(''))
    .filter((one) => !/^\.+$/.test(one));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), async (names) => {
      scratch.close();
      scratch = new ToolScratch();
      for (const one of names) scratch.put(one, one);
      for (const one of names) {
        expect((await findPlace(one, scratch.environment, 'alike')).shown).toBe(one);
        const twins = names.filter((other) => other.normalize('NFC') === one.normalize('NFC'));
        if (twins.length > 1) continue;
        for (const form of ['NFC', 'NFD'] as const)
          expect((await findPlace(one.normalize(form), scratch.environment, 'same')).shown).toBe(one);
      }
    }),
    { numRuns: 60 },
  );
});
