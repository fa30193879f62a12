import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endProcesses, findMarked, processStartTime } from './process-table.ts';
import { runProcess, type ProcessEnd, type ProcessRequest } from './process.ts';

let folder: string;
let mark: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'alcove-process-'));
  mark = `test-${process.pid}-${Math.random().toString(36).slice(2)}`;
});
afterEach(async () => {
  await endProcesses(() => findMarked(mark));
  rmSync(folder, { recursive: true, force: true });
});

interface Run extends ProcessEnd {
  output: string;
  ms: number;
}

async function run(script: string, changes: Partial<ProcessRequest> = {}): Promise<Run> {
  let output = '';
  const from = performance.now();
  const end = await runProcess({
    program: 'bash',
    args: ['-c', script],
    folder,
    environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    mark: `${mark}.1`,
    timeLimitMs: 20_000,
    signal: new AbortController().signal,
    onStarted: () => Promise.resolve(),
    onOutput: (piece) => (output += Buffer.from(piece).toString()),
    ...changes,
  });
  return { ...end, output, ms: performance.now() - from };
}

const clean = { exitCode: 0, signal: null, timedOut: false, aborted: false, leftRunning: 0 };

describe('a run', () => {
  test('gives stdout and stderr in the order they were written, and the exit code', async () => {
    const end = await run('echo one; echo two >&2; echo three; exit 7');
    expect(end).toMatchObject({ ...clean, exitCode: 7, output: 'one\ntwo\nthree\n' });
  });

  test('lets programs open /dev/stdout and /dev/stderr', async () => {
    const end = await run('echo a >/dev/stderr; echo b | tee /dev/stdout');
    expect(end).toMatchObject({ ...clean, output: 'a\nb\nb\n' });
  });

  test('has nothing on stdin and is the leader of its own session and group', async () => {
    const end = await run('cat; ps -o sid=,pgid= -p $$ | tr -s " "; echo " $$ $$"');
    const [ids, own] = end.output.trimEnd().split('\n');
    expect(ids?.trim()).toBe(own?.trim());
  });

  test('names the signal that ended it', async () => {
    expect(await run('kill -SEGV $$')).toMatchObject({ exitCode: null, signal: 'SIGSEGV' });
  });

  test('says in the output that a program does not exist', async () => {
    const end = await run('', { program: 'no-such-program-here', args: [] });
    expect(end.exitCode).toBe(127);
    expect(end.output).toContain('not found');
  });

  test('throws for a folder that does not exist', async () => {
    await expect(run('true', { folder: join(folder, 'none') })).rejects.toThrow(/ENOENT/);
  });

  test('passes 64 MiB through without keeping it', async () => {
    let bytes = 0;
    const end = await run('head -c 67108864 /dev/zero', { onOutput: (piece) => (bytes += piece.length) });
    expect({ ...clean, bytes, code: end.exitCode }).toEqual({ ...clean, bytes: 67108864, code: 0 });
  });
});

describe('C10: a run ends with its shell, not with what it left behind', () => {
  test.each([
    ['a sleeper that holds stdout', 'sleep 60 & echo done', 'done\n'],
    ['a sleeper that holds stderr only', 'sleep 60 </dev/null >/dev/null & echo done', 'done\n'],
    ['a sleeper that holds nothing', 'sleep 60 </dev/null >/dev/null 2>&1 & echo done', 'done\n'],
    ['a sleeper in a session of its own', 'setsid sleep 30 & echo spawned', 'spawned\n'],
  ])('%s', async (_, script, output) => {
    const end = await run(script);
    expect(end).toMatchObject({ ...clean, leftRunning: 1, output });
    expect(end.ms).toBeLessThan(1_500);
    expect(await findMarked(mark)).toHaveLength(1);
  });

  test('one that writes without end', async () => {
    const end = await run('yes & sleep 0.1', { onOutput: () => {} });
    expect(end).toMatchObject({ ...clean, leftRunning: 1 });
    expect(end.ms).toBeLessThan(2_000);
  });

  test('what was left behind is not broken by a closed pipe', async () => {
    const flag = join(folder, 'alive');
    await run(`(sleep 0.7; echo more; echo more; touch ${flag}) & echo done`);
    for (let tries = 0; tries < 50 && !existsSync(flag); tries++) await wait(50);
    expect(existsSync(flag)).toBe(true);
  });
});

describe('TL9: stopping a run ends all of it', () => {
  test('the time limit ends grandchildren, also one in a session of its own', async () => {
    const end = await run('setsid sleep 60 & (sleep 61 & sleep 62) & sleep 63', { timeLimitMs: 300 });
    expect(end).toMatchObject({ timedOut: true, aborted: false, leftRunning: 0, signal: 'SIGTERM' });
    expect(await findMarked(mark)).toEqual([]);
  });

  test('an abort ends what ignores TERM within 5 s', async () => {
    const stop = new AbortController();
    const end = await run(
      'trap "" TERM; (trap "" TERM; echo ready; while :; do sleep 1; done) & wait; while :; do sleep 1; done',
      {
        signal: stop.signal,
        onOutput: () => stop.abort(),
      },
    );
    expect(end).toMatchObject({ aborted: true, timedOut: false, leftRunning: 0, signal: 'SIGKILL' });
    expect(end.ms).toBeLessThan(4_500);
    expect(await findMarked(mark)).toEqual([]);
  });

  test('a program may still clean up on TERM', async () => {
    const end = await run('trap "echo cleaned; exit 3" TERM; echo ready; while :; do sleep 0.05; done', {
      timeLimitMs: 300,
    });
    expect(end).toMatchObject({ timedOut: true, exitCode: 3 });
    expect(end.output).toMatch(/^ready\n[^]*cleaned\n$/);
  });

  test('a signal that is aborted already runs nothing', async () => {
    const flag = join(folder, 'ran');
    expect(await run(`touch ${flag}`, { signal: AbortSignal.abort() })).toMatchObject({ aborted: true });
    expect(existsSync(flag)).toBe(false);
  });
});

describe('the gate', () => {
  test('the program does not run before its group is recorded', async () => {
    const flag = join(folder, 'ran');
    const end = await run(`touch ${flag}`, {
      onStarted: async ({ pid, startTime }) => {
        await wait(200);
        expect(existsSync(flag)).toBe(false);
        expect(startTime).toBe(await processStartTime(pid));
      },
    });
    expect(end).toMatchObject(clean);
    expect(existsSync(flag)).toBe(true);
  });

  test('nothing runs when recording fails, and the failure is told', async () => {
    const flag = join(folder, 'ran');
    await expect(run(`touch ${flag}`, { onStarted: () => Promise.reject(new Error('disk full')) })).rejects.toThrow(
      'disk full',
    );
    expect(existsSync(flag)).toBe(false);
    expect(await findMarked(mark)).toEqual([]);
  });

  test('an abort while the record is being written runs nothing', async () => {
    const flag = join(folder, 'ran');
    const stop = new AbortController();
    const end = await run(`touch ${flag}`, {
      signal: stop.signal,
      onStarted: () => {
        stop.abort();
        return new Promise(() => {});
      },
    });
    expect(end).toMatchObject({ aborted: true, exitCode: null });
    expect(existsSync(flag)).toBe(false);
    expect(await findMarked(mark)).toEqual([]);
  });

  test('the child ends without having run when we die before the gate opens', async () => {
    const flag = join(folder, 'ran');
    const holder = spawn(
      process.execPath,
      ['--import', 'tsx', fileURLToPath(new URL('fixtures/gate-holder.ts', import.meta.url)), flag],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [said] = (await once(holder.stdout, 'data')) as [Buffer];
    const pid = Number(said.toString());
    expect(await processStartTime(pid)).not.toBeNull();
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    for (let tries = 0; tries < 100 && (await findMarked('gate-holder')).includes(pid); tries++) await wait(20);
    expect(await findMarked('gate-holder')).not.toContain(pid);
    expect(existsSync(flag)).toBe(false);
  });
});

describe('the table', () => {
  test('a process that is not there has no start time', async () => {
    expect(await processStartTime(2 ** 22 + 1)).toBeNull();
    expect(await processStartTime(process.pid)).toMatch(/./);
  });

  test('a mark is found with the marks below it, and not by its beginning', async () => {
    await run('sleep 60 >/dev/null 2>&1 &');
    expect(await findMarked(`${mark}.1`)).toHaveLength(1);
    expect(await findMarked(mark)).toHaveLength(1);
    expect(await findMarked(mark.slice(0, -1))).toEqual([]);
  });
});

describe('TL11: a terminal', () => {
  test('is read to its end also by a reader that is slower than the program', async () => {
    let bytes = 0;
    const end = await run('seq 1 20000; exit 4', {
      terminal: true,
      onOutput: (piece) => {
        bytes += piece.length;
        const until = performance.now() + 40;
        while (performance.now() < until); // as on a busy machine
      },
    });
    expect({ ...end, output: '', ms: 0 }).toEqual({ ...clean, exitCode: 4, output: '', ms: 0 });
    expect(bytes).toBe(108_894);
  });
});
