import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { runProcess } from '../base/process.ts';
import { endProcesses, findMarked, processStartTime } from '../base/process-table.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { endOrphans, SessionProcesses } from './process-ledger.ts';

const program = fileURLToPath(new URL('fixtures/run-until-killed.ts', import.meta.url));

function aMark(): string {
  const mark = `test-${process.pid}-${Math.random().toString(36).slice(2)}`;
  onTestFinished(() => void endProcesses(() => findMarked(mark)));
  return mark;
}

/** A process of ours that is killed while it runs a command; returns what it left. */
async function killedWhileRunning(command: string, said: 'running' | 'returned' = 'running') {
  const folder = temporaryFolder();
  const path = join(folder, 'ses_1.processes');
  const mark = aMark();
  const child = spawn(process.execPath, ['--import', 'tsx', program, path, mark, folder, command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const line of createInterface(child.stdout)) if (line === said) break;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  return { path, mark, folder };
}

test.each([
  ['a command', 'echo on; sleep 60', 'running'],
  ['a command with children', '(sleep 60 & sleep 61 & echo on; wait)', 'running'],
  ['a grandchild in a session of its own', 'setsid -f sleep 60; echo on; sleep 61', 'running'],
  [
    'what a command that had returned left behind',
    'setsid -f sleep 60 </dev/null >/dev/null 2>&1; echo on',
    'returned',
  ],
  ['one that ignores TERM', "trap '' TERM; echo on; sleep 60 & wait; sleep 60", 'running'],
] as const)('orphans of a killed process are ended at the next opening: %s (RT4)', async (_, command, said) => {
  const { path, mark } = await killedWhileRunning(command, said);
  expect(await findMarked(mark)).not.toEqual([]);
  expect(await endOrphans(path, mark)).toBeGreaterThan(0);
  expect(await findMarked(mark)).toEqual([]);
  expect(existsSync(path)).toBe(false);
  expect(await endOrphans(path, mark)).toBe(0);
});

test('C06 a recorded pid that now belongs to another program is left alone', async () => {
  const folder = temporaryFolder();
  const innocent = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void innocent.kill('SIGKILL'));
  await once(innocent, 'spawn');
  const path = join(folder, 'ses_1.processes');
  writeFileSync(path, `${JSON.stringify({ started: { pid: innocent.pid, startTime: 'of another life' } })}\n`);
  expect(await endOrphans(path, aMark())).toBe(0);
  expect(innocent.exitCode).toBeNull();
  expect(await processStartTime(innocent.pid as number)).not.toBeNull();
});

test('a ledger with lines that cannot be read keeps no session closed: the others and the mark are gone by', async () => {
  const { path, mark } = await killedWhileRunning('echo on; sleep 60');
  writeFileSync(path, `\0\0\0garbage\n${readFileSync(path, 'utf8')}{"half":`);
  expect(await endOrphans(path, mark)).toBeGreaterThan(0);
  expect(await findMarked(mark)).toEqual([]);
});

test('the end of a session ends what its commands left running, and its file', async () => {
  const folder = temporaryFolder();
  const mark = aMark();
  const path = join(folder, 'ses_1.processes');
  const ledger = new SessionProcesses(path, mark);
  const end = await runProcess({
    program: 'bash',
    args: ['-c', 'sleep 60 & setsid -f sleep 61; echo on'],
    folder,
    environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    mark: `${mark}.1`,
    timeLimitMs: 20_000,
    signal: new AbortController().signal,
    onStarted: (group) => ledger.started(group),
    onOutput: () => {},
  });
  expect(end.leftRunning).toBe(2);
  expect(await ledger.anyRunning()).toBe(true);
  await ledger.endAll();
  expect(await findMarked(mark)).toEqual([]);
  expect(existsSync(path)).toBe(false);
});

test('the file stays short however many commands run, and says nothing when none does', async () => {
  const path = join(temporaryFolder(), 'ses_1.processes');
  const ledger = new SessionProcesses(path, aMark());
  for (let pid = 1_000_000_001; pid < 1_000_000_050; pid += 1) {
    await ledger.started({ pid, startTime: 'x' });
    await ledger.ended({ pid });
  }
  expect(statSync(path).size).toBe(0);
  await ledger.started({ pid: 1_000_000_099, startTime: 'x' });
  expect(readFileSync(path, 'utf8')).toBe('{"started":{"pid":1000000099,"startTime":"x"}}\n');
  expect(await ledger.anyRunning()).toBe(false);
  await ledger.endAll();
  appendFileSync(path, '');
});
