import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stepByStep } from '../testing/disk-steps.ts';
import { textOf, ToolScratch } from '../testing/tool-environment.ts';
import { applyPatchTool } from './apply-patch.ts';
import { editTool } from './edit.ts';
import { FileQueue } from './file-queue.ts';
import { HeldFolder, removeEmptyFolders } from './held-folder.ts';
import { lsTool } from './ls.ts';
import { readTool } from './read.ts';
import { failed } from './result.ts';
import type { Tool, ToolResult } from './tool.ts';
import { writeTool } from './write.ts';

let scratch: ToolScratch;
beforeEach(() => {
  scratch = new ToolScratch();
});
afterEach(() => scratch.close());

const queue = new FileQueue();
const [edit, write, patch] = [editTool(queue), writeTool(queue), applyPatchTool(queue)];
const patchOf = (...lines: string[]) => ({ patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });

/** All that is below a folder: what files hold, and which folders there are. */
function tree(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .map((one) => [join(one.parentPath, one.name).slice(folder.length + 1), one] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, one]) => [path, one.isFile() ? readFileSync(join(folder, path), 'utf8') : 'not a file']),
  );
}

const calls: [name: string, tool: Tool, args: Record<string, unknown>, inside: Record<string, string>][] = [
  ['read', readTool, { path: 'data/a.txt' }, {}],
  ['ls', lsTool, { path: 'data' }, {}],
  ['edit', edit, { path: 'data/a.txt', oldText: 'one', newText: 'two' }, { 'a.txt': 'two, inside\n' }],
  ['write', write, { path: 'data/a.txt', content: 'new\n' }, { 'a.txt': 'new\n' }],
  ['write, a new file', write, { path: 'data/b.txt', content: 'new\n' }, { 'b.txt': 'new\n' }],
  ['write, in new folders', write, { path: 'data/c/d/b.txt', content: 'new\n' }, { 'c/d/b.txt': 'new\n' }],
  [
    'apply_patch',
    patch,
    patchOf('*** Add File: data/e/f/b.txt', '+new', '*** Update File: data/move.txt', '*** Move to: data/g/moved.txt'),
    { 'e/f/b.txt': 'new\n', 'g/moved.txt': 'move\n' },
  ],
];

/** A folder of the project, and beside the project one with the same names: where a link would lead. */
function start(): { outside: string } {
  scratch.close();
  scratch = new ToolScratch();
  const outside = join(scratch.root, 'outside');
  mkdirSync(outside);
  for (const folder of ['data', '../outside']) {
    if (folder !== 'data') scratch.put(`${folder}/only-outside`, '');
    // Empty folders too: what would be taken away if it were tidied by its path.
    for (const name of ['e/f', 'g']) if (folder !== 'data') mkdirSync(join(outside, name), { recursive: true });
    scratch.put(`${folder}/a.txt`, folder === 'data' ? 'one, inside\n' : 'one, outside\n');
    scratch.put(`${folder}/move.txt`, 'move\n');
  }
  return { outside };
}

/** As the agent does it: what would need a person is not carried out. */
async function judgedAndCarriedOut(tool: Tool, args: Record<string, unknown>): Promise<ToolResult> {
  const call = tool.prepare(args);
  if ('problem' in call) throw new Error(call.problem);
  const assessment = await call.assess(scratch.environment);
  const free = (assessment.effect === 'read' || assessment.effect === 'change') && assessment.caution === null;
  return free ? call.execute(scratch.environment, new AbortController().signal) : failed('asked a person');
}

const aside = () => join(scratch.root, 'aside');
function swap(outside: string): void {
  renameSync(scratch.path('data'), aside());
  symlinkSync(outside, scratch.path('data'));
}
function swapBack(): void {
  unlinkSync(scratch.path('data'));
  renameSync(aside(), scratch.path('data'));
}

describe('PM17: a folder that becomes a link in any moment of a call', () => {
  test.each(calls)('%s reads and changes nothing behind it', async (_, tool, args, inside) => {
    start();
    const { steps } = await stepByStep(
      () => {},
      () => judgedAndCarriedOut(tool, args),
    );
    let [refused, done] = [0, 0];
    // `back`: how many steps later the folder is what it was; 0 for never.
    for (const back of [0, 2]) {
      for (let at = 1; at <= steps; at++) {
        const { outside } = start();
        const before = tree(outside);
        const run = await stepByStep(
          ({ number }) => {
            if (number === at) swap(outside);
            if (back !== 0 && number === at + back) swapBack();
          },
          () => judgedAndCarriedOut(tool, args),
        );
        expect(tree(outside)).toEqual(before);
        expect(textOf(run.result)).not.toMatch(/one, outside|only-outside/);
        const data = existsSync(aside()) ? aside() : scratch.path('data');
        const files = tree(data);
        expect(Object.keys(files).filter((name) => name.endsWith('.tmp'))).toEqual([]);
        if (run.result.outcome === 'failed') refused += 1;
        else {
          done += 1;
          // What was told as done is so, in the folder that was judged.
          for (const [path, content] of Object.entries(inside)) expect(files[path] ?? 'gone').toBe(content);
        }
      }
    }
    expect(refused).toBeGreaterThan(0);
    expect(done).toBeGreaterThan(0);
  });
});

describe('PM17: what was judged is what is carried out', () => {
  test('a path that leads elsewhere by then is refused, also where that is free', async () => {
    scratch.put('data/a.txt', 'one\n');
    scratch.put('other/a.txt', 'one\n');
    const call = edit.prepare({ path: 'data/a.txt', oldText: 'one', newText: 'two' });
    if ('problem' in call) throw new Error(call.problem);
    expect(await call.assess(scratch.environment)).toMatchObject({ effect: 'change', caution: null });
    renameSync(scratch.path('data'), aside());
    symlinkSync('other', scratch.path('data'));
    const run = () => call.execute(scratch.environment, new AbortController().signal);
    expect(textOf(await run())).toBe(
      'data/a.txt led to data/a.txt when the call was judged, and leads to other/a.txt now: nothing was done. Call again if that is what you mean.',
    );
    expect(scratch.get('other/a.txt')).toBe('one\n');
    // Judged again, it is another question with another answer.
    await call.assess(scratch.environment);
    expect(await run()).toMatchObject({ outcome: 'completed' });
    expect(scratch.get('other/a.txt')).toBe('two\n');
  });

  test('a process that swaps a folder and a link as fast as it can gets nothing written or read behind the link', async () => {
    const { outside } = start();
    const before = tree(outside);
    const swapper = spawn(process.execPath, ['-e', swapping, scratch.path('data'), aside(), outside], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(swapper, 'exit');
    try {
      await once(swapper.stdout, 'data');
      const outcomes = { completed: 0, failed: 0 };
      // Both ends are met, however the two processes are scheduled; the time of a test is the bound.
      for (let round = 0; round < 60 || outcomes.completed === 0 || outcomes.failed === 0; round++) {
        const path = `data/new-${round}/deep/b.txt`;
        for (const [tool, args] of [
          [write, { path, content: 'new\n' }],
          [write, { path: 'data/a.txt', content: `one, inside ${round}\n` }],
          [readTool, { path: 'data/a.txt' }],
        ] as const) {
          scratch.seen.clear();
          const result = await judgedAndCarriedOut(tool, args);
          expect(textOf(result)).not.toContain('one, outside');
          outcomes[result.outcome] += 1;
        }
      }
      expect(outcomes.completed).toBeGreaterThan(0);
      expect(outcomes.failed).toBeGreaterThan(0);
    } finally {
      swapper.kill('SIGKILL');
      await ended;
    }
    expect(tree(outside)).toEqual(before);
  });
});

/** argv: the folder, where it is put meanwhile, where the link leads. */
const swapping = `
  const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
  const [folder, aside, outside] = process.argv.slice(1);
  process.stdout.write('ready');
  const moment = new Int32Array(new SharedArrayBuffer(4));
  for (let swaps = 1; ; swaps += 1) {
    // Now and then it rests for as long as a call takes on a busy machine: what is judged then can be carried out.
    if (swaps % 16 === 0) Atomics.wait(moment, 0, 0, 20);
    renameSync(folder, aside);
    try {
      symlinkSync(outside, folder);
      unlinkSync(folder);
    } catch {} // made anew just in this moment: that one goes
    for (;;) {
      try {
        renameSync(aside, folder);
        break;
      } catch {
        try {
          rmSync(folder, { recursive: true, force: true });
        } catch {} // it is still being filled
      }
    }
  }
`;

describe('a held folder', () => {
  test('is made with all that is missing, and what was made is taken back as long as it is empty', async () => {
    scratch.put('a/there.txt', '');
    const folder = await HeldFolder.make(scratch.path('a/b/c/d'));
    expect(folder.made).toBe(scratch.path('a/b'));
    expect(statSync(scratch.path('a/b/c/d')).isDirectory()).toBe(true);
    scratch.put('a/b/kept.txt', '');
    await folder.takeBack();
    await folder.close();
    expect(tree(scratch.folder)).toEqual({
      a: 'not a file',
      'a/b': 'not a file',
      'a/b/kept.txt': '',
      'a/there.txt': '',
    });
  });

  test('is not made through a file, which is told', async () => {
    scratch.put('a.txt', '');
    await expect(HeldFolder.make(scratch.path('a.txt/b/c'))).rejects.toThrow(/ENOTDIR/);
    expect(textOf(await scratch.call(write, { path: 'a.txt/b/c', content: '' }))).toMatch(
      /should be a folder is a file/,
    );
  });

  test('folders are removed from the inside out until one holds something', async () => {
    mkdirSync(scratch.path('a/b/c'), { recursive: true });
    scratch.put('a/kept.txt', '');
    await removeEmptyFolders(scratch.path('a/b/c'), scratch.path('a'));
    expect(tree(scratch.folder)).toEqual({ a: 'not a file', 'a/kept.txt': '' });
  });

  test('a folder that could not be filled is not left behind', async () => {
    const name = 'x'.repeat(300);
    expect(textOf(await scratch.call(write, { path: `a/b/${name}`, content: '' }))).toMatch(
      /too long for the file system/,
    );
    expect(tree(scratch.folder)).toEqual({});
  });
});
