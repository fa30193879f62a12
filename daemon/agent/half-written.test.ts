/** A crash in any moment of a change: what is on the disk at once, and after the next opening of the session (TL7). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { stepByStep } from '../testing/disk-steps.ts';
import { ToolScratch } from '../testing/tool-environment.ts';
import { applyPatchTool } from '../tools/apply-patch.ts';
import { editTool } from '../tools/edit.ts';
import { FileQueue } from '../tools/file-queue.ts';
import type { Tool } from '../tools/tool.ts';
import { writeTool } from '../tools/write.ts';
import { endOrphans, SessionProcesses } from './process-ledger.ts';

function aProject(): { scratch: ToolScratch; ledger: string } {
  const scratch = new ToolScratch();
  onTestFinished(() => scratch.close());
  chmodSync(scratch.put('run.sh', 'echo old\n'), 0o755);
  scratch.put('b.txt', 'old\n');
  scratch.put('c.txt', 'old\n');
  symlinkSync('b.txt', scratch.path('link.txt'));
  return { scratch, ledger: join(scratch.root, 'ses_1.processes') };
}

/** Each file with its mode and content. */
function files(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    found
      .map((one) => join(one.parentPath, one.name))
      .toSorted()
      .map((path) => [
        path.slice(folder.length + 1),
        `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'utf8')}`,
      ]),
  );
}

const calls: [name: string, tool: () => Tool, args: Record<string, unknown>][] = [
  ['edit', () => editTool(new FileQueue()), { path: 'run.sh', oldText: 'old', newText: 'new' }],
  ['edit through a link', () => editTool(new FileQueue()), { path: 'link.txt', oldText: 'old', newText: 'new' }],
  ['write', () => writeTool(new FileQueue()), { path: 'b.txt', content: 'new\n' }],
  ['write a new file in new folders', () => writeTool(new FileQueue()), { path: 'd/e/f.txt', content: 'new\n' }],
  [
    'apply_patch',
    () => applyPatchTool(new FileQueue()),
    {
      patch: [
        '*** Begin Patch',
        '*** Add File: d/new.txt',
        '+new',
        '*** Update File: run.sh',
        '*** Move to: d/run.sh',
        '@@',
        '-echo old',
        '+echo new',
        '*** Delete File: c.txt',
        '*** End Patch',
      ].join('\n'),
    },
  ],
];

class Crash extends Error {}

describe('TL7: a crash in any moment of a change', () => {
  test.each(calls)(
    '%s: each file is the old or the new one, with its mode, and nothing else is left',
    async (_, tool, args) => {
      const whole = aProject();
      const old = files(whole.scratch.folder);
      const { steps } = await change(whole, tool(), args, Infinity);
      const changed = files(whole.scratch.folder);
      expect(changed).not.toEqual(old);
      const seen = new Set<string>();
      for (let at = 1; at <= steps; at++) {
        const crashed = aProject();
        let left: Record<string, string> = {};
        await change(crashed, tool(), args, at, async () => {
          // Whatever is there beside is hidden, named for what it is, and known to the ledger.
          const temporary = Object.keys(files(crashed.scratch.folder)).filter(
            (name) => !(name in old) && !(name in changed),
          );
          for (const name of temporary) {
            expect(name).toMatch(/(^|\/)\.[^/]*\.[0-9a-f]{12}\.tmp$/);
            expect(readFileSync(crashed.ledger, 'utf8')).toContain(JSON.stringify(crashed.scratch.path(name)));
          }
          // What the next start does.
          await endOrphans(crashed.ledger, 'none');
          expect(existsSync(crashed.ledger)).toBe(false);
          left = files(crashed.scratch.folder);
        });
        for (const name of new Set([...Object.keys(old), ...Object.keys(changed), ...Object.keys(left)])) {
          expect([old[name], changed[name]]).toContain(left[name]);
        }
        seen.add(JSON.stringify(left));
      }
      // Not all crashes came before the change.
      expect(seen).toContain(JSON.stringify(old));
      expect(seen).toContain(JSON.stringify(changed));
    },
  );

  test('edit, by a real kill of a real process ahead of each step that changes the disk', async () => {
    const args = { path: 'run.sh', oldText: 'old', newText: 'new' };
    const whole = aProject();
    const steps: number[] = [];
    await change(whole, editTool(new FileQueue()), args, Infinity, undefined, (number, call) => {
      if (!['readlink', 'stat', 'lstat', 'readFile', 'close'].includes(call)) steps.push(number);
    });
    const changed = files(whole.scratch.folder);
    const outcomes = await Promise.all(
      steps.map(async (step) => {
        const { scratch, ledger } = aProject();
        const old = files(scratch.folder);
        const child = spawn(
          process.execPath,
          ['--import', 'tsx', program, scratch.folder, ledger, JSON.stringify(args), String(step)],
          { stdio: ['ignore', 'ignore', 'inherit'] },
        );
        expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
        await endOrphans(ledger, 'none');
        const left = files(scratch.folder);
        expect([old, changed]).toContainEqual(left);
        return left['run.sh'];
      }),
    );
    expect(new Set(outcomes)).toEqual(new Set(['755 echo old\n', '755 echo new\n']));
  }, 60_000);
});

const program = fileURLToPath(new URL('fixtures/change-until-killed.ts', import.meta.url));

/** Goes no further than the step ahead of which it crashes: there the disk is as a kill would leave it. */
async function change(
  { scratch, ledger }: ReturnType<typeof aProject>,
  tool: Tool,
  args: Record<string, unknown>,
  crashAt: number,
  onCrash: () => Promise<void> = () => Promise.resolve(),
  onStep: (number: number, call: string) => void = () => {},
): Promise<{ steps: number }> {
  const call = tool.prepare(args);
  if ('problem' in call) throw new Error(call.problem);
  const processes = new SessionProcesses(ledger, 'none');
  const environment = { ...scratch.environment, temporaries: processes };
  let crashed = false;
  const { steps } = await stepByStep(
    async ({ number, call: name }) => {
      onStep(number, name);
      // A dead process holds nothing open, either.
      if (number < crashAt || (crashed && name === 'close')) return;
      if (!crashed) {
        crashed = true;
        await onCrash();
      }
      throw new Crash(); // nothing happens on the disk any more, and what is open is let go
    },
    () =>
      call.execute(environment, new AbortController().signal).catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
      }),
  );
  await processes.endAll();
  return { steps };
}

test('what a person named like a temporary file, or put in its place, is not removed', async () => {
  const { scratch, ledger } = aProject();
  const session = new SessionProcesses(ledger, 'none');
  const [plain, link, real] = ['notes.tmp', '.b.txt.0123456789ab.tmp', '.c.txt.0123456789ab.tmp'].map((name) =>
    scratch.path(name),
  ) as [string, string, string];
  writeFileSync(plain, '');
  symlinkSync('b.txt', link);
  writeFileSync(real, '');
  for (const path of [plain, link, real, scratch.path('none/.x.0123456789ab.tmp')]) await session.writing(path);
  expect(await endOrphans(ledger, 'none')).toBe(0);
  expect(readdirSync(scratch.folder).toSorted()).toEqual([
    '.b.txt.0123456789ab.tmp',
    'b.txt',
    'c.txt',
    'link.txt',
    'notes.tmp',
    'run.sh',
  ]);
});
