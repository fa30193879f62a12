/** The sandbox, by running commands in it. Where this machine has none that works, it is said why, and these are skipped. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { textOf, ToolScratch } from '../../testing/tool-environment.ts';
import { bashTool } from '../bash.ts';
import { bubblewrap } from './bubblewrap.ts';
import { Sandbox, type SandboxSettings } from './sandbox.ts';
import { profileOf } from './seatbelt.ts';

const environment = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
const tried = await Sandbox.open({ level: 'workspace-write', network: false, writable: [] }, environment);
const works = process.platform === 'linux' && tried.state.problem === null;
if (!works) console.warn(`No sandbox here: ${tried.state.problem ?? process.platform}`); // eslint-disable-line no-console -- why they are skipped

async function scratch(settings: Partial<SandboxSettings> = {}, readOnly = false) {
  const made = new ToolScratch();
  onTestFinished(() => made.close());
  const of = await Sandbox.open({ level: 'workspace-write', network: true, writable: [], ...settings }, environment);
  onTestFinished(() => of.close());
  Object.assign(made.environment, { sandbox: { of, readOnly } });
  const run = async (command: string, more: object = {}) => {
    const result = await made.call(bashTool, { command, ...more });
    return { outcome: result.outcome, text: textOf(result), details: result.details };
  };
  return { ...made, made, run, sandbox: of };
}

describe.skipIf(!works)('PM18 commands in a sandbox', () => {
  test('workspace-write: they write in the project and in a temporary folder of their own, and nowhere else', async () => {
    const { made, run } = await scratch();
    expect(
      await run('echo in > in.txt; echo tmp > /tmp/alcove-sandbox-probe; cat /tmp/alcove-sandbox-probe'),
    ).toMatchObject({
      outcome: 'completed',
      text: 'tmp',
    });
    expect(made.get('in.txt')).toBe('in\n');
    expect(existsSync('/tmp/alcove-sandbox-probe')).toBe(false);
    // What one command left there, the next finds; another session does not.
    expect((await run('cat /tmp/alcove-sandbox-probe')).text).toBe('tmp');
    expect((await (await scratch()).run('cat /tmp/alcove-sandbox-probe')).outcome).toBe('failed');
    expect((await run('echo out > /etc/alcove-probe')).text).toContain(
      'The sandbox lets commands write in the project and /tmp only',
    );
    for (const place of [
      '/etc/alcove-probe',
      '/usr/alcove-probe',
      '/var/tmp/../lib/alcove-probe',
      '$HOME/alcove-probe',
    ])
      expect((await run(`touch ${place}`)).outcome).toBe('failed');
  });

  test('read-only, and plan mode whatever is allowed else: they write in their temporary folder alone', async () => {
    for (const { made, run } of [await scratch({ level: 'read-only' }), await scratch({}, true)]) {
      made.put('there.txt', 'there');
      expect((await run('cat there.txt')).text).toBe('there');
      expect(await run('echo x > there.txt')).toMatchObject({
        outcome: 'failed',
        text: expect.stringContaining('write in /tmp only') as string,
      });
      expect(made.get('there.txt')).toBe('there');
      expect((await run('echo x > "$TMPDIR/x" && cat "$TMPDIR/x"')).text).toBe('x');
    }
  });

  test('what git runs for the person later cannot be planted', async () => {
    const { made, run } = await scratch();
    expect(
      (await run('git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one')).outcome,
    ).toBe('completed');
    expect((await run('echo evil > .git/hooks/post-commit')).outcome).toBe('failed');
    expect((await run('git config core.fsmonitor evil')).outcome).toBe('failed');
    expect((await run('mv .git/hooks .git/other')).outcome).toBe('failed');
    expect(
      (
        await run('git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two && git log --oneline | wc -l')
      ).text.trim(),
    ).toBe('2');
    expect(readFileSync(join(made.folder, '.git/config'), 'utf8')).not.toContain('evil');
  });

  test("Alcove's home is not seen, but for the session's own outputs, which are read", async () => {
    const { made, run } = await scratch();
    writeFileSync(join(made.home, 'keys.json'), 'sk-secret');
    mkdirSync(made.environment.spills, { recursive: true });
    writeFileSync(join(made.environment.spills, 'whole.txt'), 'whole');
    expect((await run(`ls -A ${made.home}`)).text).toBe('spills');
    expect((await run(`cat ${made.environment.spills}/whole.txt`)).text).toBe('whole');
    expect((await run(`echo x > ${made.environment.spills}/whole.txt`)).outcome).toBe('failed');
    expect((await run(`echo x > ${made.home}/new.txt`)).outcome).toBe('failed');
    expect(existsSync(join(made.home, 'new.txt'))).toBe(false);
  });

  test('other processes are not seen: neither their files, by /proc, nor their signals', async () => {
    const { made, run } = await scratch();
    const target = join(dirname(made.folder), 'by-proc.txt');
    const { text } = await run(
      `ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid} && echo reached; echo x > /proc/${process.pid}/root${target}`,
    );
    expect(Number(text.split('\n')[0])).toBeLessThan(10);
    expect(text).not.toContain('reached');
    expect(existsSync(target)).toBe(false);
  });

  test('without network nothing on this machine is reached either', async () => {
    const server = createServer((_, response) => response.end('reached'));
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && tail -1 <&3`;
    expect((await (await scratch()).run(ask)).text).toContain('reached');
    const none = await (await scratch({ network: false })).run(ask);
    expect(none.outcome).toBe('failed');
    expect(none.text).not.toContain('reached');
  });

  test('other folders are written where the settings say so; one that is not there is no reason to fail', async () => {
    const elsewhere = new ToolScratch();
    onTestFinished(() => elsewhere.close());
    const { run } = await scratch({ writable: [elsewhere.folder, '/nowhere/at/all'] });
    expect((await run(`echo cached > ${elsewhere.folder}/cache`)).outcome).toBe('completed');
    expect(elsewhere.get('cache')).toBe('cached\n');
  });

  test('exit code, signals, time limit and abort are as without it, and nothing is left', async () => {
    const { made, run } = await scratch();
    expect((await run('exit 7')).details).toMatchObject({ exitCode: 7 });
    expect(
      (await run('sleep 30 & setsid sleep 30 & echo begun; exec sleep 30', { timeout: 0.7 })).details,
    ).toMatchObject({ timedOut: true });
    const abort = new AbortController();
    const going = made.call(bashTool, { command: 'echo waiting; sleep 30' }, abort.signal);
    await expect.poll(() => made.output).toContain('waiting');
    abort.abort();
    expect((await going).outcome).toBe('failed');
    expect((await run('test -t 1 && echo terminal', { tty: true })).text).toContain('terminal');
    // Its process namespace ends with the command, and all in it.
    expect(await run('setsid sleep 30 > /dev/null 2>&1 & echo ok')).toMatchObject({ outcome: 'completed', text: 'ok' });
    await expect.poll(() => made.groups.filter((line) => line.startsWith('ended')).length).toBe(5);
  });
});

test('where it is asked for and cannot be had, no command runs, and it is said what to do', async () => {
  const made = new ToolScratch();
  onTestFinished(() => made.close());
  const of = await Sandbox.open({ level: 'read-only', network: true, writable: [] }, { PATH: made.folder });
  expect(of.state.problem).toMatch(/set sandbox to off/);
  Object.assign(made.environment, { sandbox: { of, readOnly: false } });
  expect(await made.assess(bashTool, { command: 'ls' })).toEqual({ effect: 'refused', reason: of.state.problem });
});

test('one that is there and does not work is said to be so, in its own words', async () => {
  const made = new ToolScratch();
  onTestFinished(() => made.close());
  const broken = join(made.folder, bubblewrap.program);
  writeFileSync(broken, '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2; exit 1\n', {
    mode: 0o755,
  });
  const of = await Sandbox.open(
    { level: 'workspace-write', network: true, writable: [] },
    { PATH: `${made.folder}:/usr/bin:/bin` },
  );
  if (process.platform === 'linux')
    expect(of.state.problem).toMatch(
      /bubblewrap cannot make one here \(bwrap: setting up uid map: Permission denied\)/,
    );
});

test('off: commands run as they are', async () => {
  const run = { folder: '/', forbidden: [], spills: '/nowhere' };
  expect(await Sandbox.none.wrap('bash', ['-c', 'ls'], run, true)).toEqual({ program: 'bash', args: ['-c', 'ls'] });
  expect(Sandbox.none.state).toEqual({ level: 'off', network: true, problem: null });
});

test('the profile for macOS: what is written, kept, hidden and shown, the last that matches counting', () => {
  const profile = profileOf({
    network: false,
    writable: ['/work/a "b"'],
    kept: ['/work/.git/hooks'],
    hidden: ['/home/.alcove'],
    shown: ['/home/.alcove/spills/s'],
    folder: '/work',
    temporary: '/private/tmp/own',
  }).split('\n');
  const place = (line: string) => profile.findIndex((one) => one.includes(line));
  expect(profile.slice(0, 3)).toEqual(['(version 1)', '(allow default)', '(deny file-write*)']);
  expect(place('(allow file-write* (subpath "/work/a \\"b\\""))')).toBeGreaterThan(2);
  expect(place('(deny file-write* (subpath "/work/.git/hooks"))')).toBeGreaterThan(place('/work/a'));
  expect(place('(allow file-read* (subpath "/home/.alcove/spills/s"))')).toBeGreaterThan(
    place('(deny file-read* file-write* (subpath "/home/.alcove"))'),
  );
  expect(profile.at(-1)).toBe('(deny network*)');
});
