/** The sandbox of commands by the whole program: what the settings ask for is in force and said everywhere, or no command runs. Needs the build. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { House } from './house.ts';

const bound = [
  '--ro-bind',
  '/',
  '/',
  '--proc',
  '/proc',
  '--dev',
  '/dev',
  '--unshare-pid',
  '--unshare-net',
  '--',
  'true',
];
const works = (() => {
  try {
    execFileSync('bwrap', bound, { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
})();

async function houseWith(sandbox: object): Promise<House> {
  const house = await House.open();
  const file = join(house.home, 'settings.json');
  const settings = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...settings, sandbox }));
  return house;
}

const command = (line: string) => chatReply({ calls: [{ tool: 'bash', arguments: { command: line } }] });

it.skipIf(!works)(
  'PM18 what the settings ask for is in force in the app and in a run, and status says so',
  async () => {
    const house = await houseWith({ level: 'workspace-write', network: false });
    const outside = join(house.home, '..', 'outside.txt');
    // Read by nobody beforehand: what a script does shows when it runs.
    await writeFile(
      join(house.folder, 'escape.sh'),
      `echo in > in.txt; cat ${house.home}/settings.json; echo out > ${outside}; echo out > /usr/out.txt`,
    );
    const escapes = 'sh ./escape.sh';
    house.provider.enqueue(
      command(escapes),
      chatReply({ text: 'Tried.' }),
      command(escapes),
      chatReply({ text: 'Tried.' }),
    );
    const run = await house.alcove(['run', 'Try it.', '--mode', 'auto']).ended();
    expect(run).toMatchObject({ code: 0, stdout: 'Tried.\n' });
    await house.daemon.start();
    await expect.poll(() => house.daemon.output).toContain('Commands run in a sandbox: they write only in the project');
    const follower = await house.follow(await house.session('auto', 'Try it.'));
    expect(await follower.turnEnded()).toBe('completed');
    expect(house.read('in.txt')).toBe('in\n');
    expect([outside, '/usr/out.txt'].map((path) => existsSync(path))).toEqual([false, false]);
    const results = house.provider.requests.flatMap(({ body }) =>
      body.messages.flatMap((message) => (message.role === 'tool' ? [JSON.stringify(message.content)] : [])),
    );
    expect(results).toHaveLength(2);
    for (const text of results) {
      expect(text).toContain('The sandbox lets commands write in the project and /tmp only');
      expect(text).not.toContain('E2E_KEY');
    }
    expect(JSON.stringify(house.provider.requests[0]?.body.messages[0])).toContain('and reach no network');
    const { stdout } = await house.alcove(['status']).ended();
    expect(stdout).toContain('Sandbox   workspace-write: Commands run in a sandbox');
    expect(stdout).toContain('reach no network');
  },
);

it('PM18 one that is asked for and cannot be had stops every command, and is told with what to do', async () => {
  const house = await houseWith({ level: 'read-only' });
  // A program of that name that makes no sandbox.
  const bin = join(house.home, 'bin');
  await mkdir(bin);
  for (const name of ['bwrap']) {
    await writeFile(join(bin, name), '#!/bin/sh\nexit 1\n');
    await chmod(join(bin, name), 0o755);
  }
  const environment = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  house.provider.enqueue(command('echo ran > ran.txt'), chatReply({ text: 'It could not run.' }));
  const run = await house.alcove(['run', 'Try it.', '--mode', 'auto'], { environment }).ended();
  if (process.platform === 'linux') {
    expect(run.stderr).toContain('bubblewrap cannot make one here');
    expect(house.read('ran.txt')).toBe('');
  }
});

it('a setting that is none is said to be', async () => {
  const house = await houseWith({ level: 'tight' });
  house.provider.enqueue(chatReply({ text: 'Here.' }));
  const run = await house.alcove(['run', 'Hello.', '--model', 'offline/demo']).ended();
  expect(run.stderr).toMatch(/settings\.json does not fit \(.*sandbox.*level/);
});
