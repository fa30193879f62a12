/**
 * What the world refuses, provoked for real: a home that may not be written, a disk that is full at the start and in the middle of a turn, a port
 * that is taken, no network, and a provider that is not there or answers each kind of no. Each is one sentence that says what to do next, and
 * nothing is lost.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { errorReply, type Reply } from '../../daemon/testing/wire-server.ts';
import { temporaryFolder } from '../../daemon/testing/temporary-folder.ts';
import { newCommandId } from '../support/daemon.ts';
import { canMount, SmallDisk } from '../support/mounts.ts';
import { House, say, secretKey, soundFold, textIn } from './house.ts';

/** More than the space that a file system keeps at the end of a file's last block, and not to be compressed. */
const noise = randomBytes(16 * 1024).toString('hex');
const asRoot = process.getuid?.() === 0;

function smallDisk(folder: string, bytes: number): SmallDisk {
  const disk = new SmallDisk(folder, bytes);
  onTestFinished(() => disk.unmount());
  return disk;
}

/** Starting the daemon on this home, which must not succeed. */
async function startOn(home: string) {
  const house = await House.open();
  return house.alcove(['--port', '0', '--no-open'], { home }).ended();
}

describe('a home that cannot be used', () => {
  it.skipIf(asRoot)('is named, with what to do, where its rights forbid it (skipped for root, who may)', async () => {
    const folder = temporaryFolder();
    await chmod(folder, 0o500);
    const run = await startOn(join(folder, 'home'));
    await chmod(folder, 0o700);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/^alcove: .*home cannot be written \(EACCES\)\. Make it writable, or set ALCOVE_HOME/);
  });

  it.skipIf(!canMount)('is named where its disk is read-only (skipped where nobody may mount)', async () => {
    const disk = smallDisk(join(temporaryFolder(), 'disk'), 1024 * 1024);
    disk.makeReadOnly();
    const run = await startOn(join(disk.folder, 'home'));
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toBe(
      `alcove: ${disk.folder}/home cannot be written (EROFS). Make it writable, or set ALCOVE_HOME to another folder.\n`,
    );
  });

  it.skipIf(!canMount)('is named where its disk is full (skipped where nobody may mount)', async () => {
    const disk = smallDisk(join(temporaryFolder(), 'disk'), 256 * 1024);
    await mkdir(join(disk.folder, 'home'), { mode: 0o700 });
    disk.fill();
    const run = await startOn(join(disk.folder, 'home'));
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/^alcove: There is no space left for .*home .*Make space and try again\.\n$/);
  });

  it('is named where a file stands in its place', async () => {
    const house = await House.open();
    const run = await house.alcove(['--port', '0', '--no-open'], { home: join(house.folder, 'notes.md') }).ended();
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/notes\.md is not a folder .*Move it away, or set ALCOVE_HOME/);
  });
});

it('a port that another program holds is one sentence, and nothing stays behind', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  onTestFinished(() => void holder.close());
  const { port } = holder.address() as AddressInfo;
  const house = await House.open();
  const run = await house.alcove(['--port', String(port), '--no-open']).ended();
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toMatch(new RegExp(`^alcove: Port ${port} is used by another program\\. .*--port`));
  expect(await readdir(house.home)).not.toContain('daemon.json');
});

describe.skipIf(!canMount)('a disk that fills up while Alcove runs (skipped where nobody may mount)', () => {
  /** A house whose home is a disk of 4 MiB, with its daemon started. */
  async function onSmallDisk(script?: (disk: SmallDisk, asked: number) => Reply) {
    const disks: SmallDisk[] = [];
    let asked = 0;
    const [disk, house] = await House.open(
      script === undefined ? undefined : () => script(disks[0]!, (asked += 1)),
      (home) => disks.push(smallDisk(home, 4 * 1024 * 1024)),
    ).then((opened) => [disks[0]!, opened] as const);
    await house.daemon.start();
    return { disk, house };
  }

  it('refuses an input by a sentence, keeps nothing of it, and takes it once there is space', async () => {
    const { disk, house } = await onSmallDisk();
    house.provider.enqueue(chatReply({ text: 'Roses.' }));
    const sessionId = await house.session('ask', 'Which first?');
    const follower = await house.follow(sessionId);
    await follower.turnEnded();
    disk.fill();
    const params = {
      commandId: newCommandId(),
      sessionId,
      target: 'next-turn' as const,
      parts: say(`And then? ${noise}`),
    };
    await expect(house.daemon.call('session.submit', params)).rejects.toThrow(
      /could not be written .*ENOSPC.* Nothing was added to it\. Make space and try again/,
    );
    disk.makeSpace();
    house.provider.enqueue(chatReply({ text: 'Ferns.' }));
    await house.daemon.call('session.submit', params);
    expect(await follower.turnEnded(2)).toBe('completed');
    const conversation = soundFold(await house.exported(sessionId));
    expect(conversation.turns.map((turn) => turn.outcome)).toEqual(['completed', 'completed']);
    expect(textIn(await house.events(sessionId))).toBe('Roses.Ferns.');
    // The list was kept in memory meanwhile; the next start makes it true again.
    await house.daemon.restart();
    expect(await house.row(sessionId)).toMatchObject({ state: 'idle', seq: conversation.seq, problem: null });
  });

  it('in the middle of a turn stops it; what was acknowledged is there, and the session goes on once there is space', async () => {
    const { disk, house } = await onSmallDisk((small, asked) => {
      if (asked > 1) return chatReply({ text: 'Better.' });
      small.fill();
      return chatReply({ text: [noise, noise] });
    });
    const sessionId = await house.session('ask', 'Talk.');
    await expect.poll(async () => (await house.row(sessionId)).driver).toBe('idle');
    disk.makeSpace();
    await house.submit(sessionId, 'Again.');
    const follower = await house.follow(sessionId);
    await follower.until((event) => event.type === 'part.delta' && String(event['text']).includes('Better.'));
    await expect.poll(async () => (await house.row(sessionId)).state).toBe('idle');
    const conversation = soundFold(await house.exported(sessionId));
    expect(conversation.turns.at(-1)?.outcome).toBe('completed');
  });
});

describe('a provider that says no', () => {
  const refusals: [string, Reply, RegExp][] = [
    [
      'a bad key',
      errorReply(401, { message: 'Incorrect API key provided', code: 'invalid_api_key' }),
      /answered 401\. It said: “Incorrect API key provided” .*key/,
    ],
    [
      'no credit',
      errorReply(429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }),
      /answered 429\. It said: “You exceeded your current quota” The account has no credit left/,
    ],
    [
      'a model that is gone',
      errorReply(404, { message: 'The model does not exist', code: 'model_not_found' }),
      /answered 404\. .*Choose another model/,
    ],
    [
      'a full context',
      errorReply(400, {
        message: "This model's maximum context length is 8192 tokens",
        code: 'context_length_exceeded',
      }),
      /larger than this model can read/,
    ],
  ];

  it.each(refusals)(
    '%s ends the run with its own words and the next step, and no key in them',
    async (_, reply, words) => {
      const house = await House.open();
      house.provider.enqueue(reply);
      const run = await house.alcove(['run', 'Do it.']).ended();
      expect(run).toMatchObject({ code: 1, stdout: '' });
      expect(run.stderr).toMatch(words);
      expect(run.stderr).not.toContain(secretKey);
    },
  );

  it('a provider that is down is named with where to look', async () => {
    const house = await House.open();
    await house.provider.close();
    const run = await house.alcove(['run', 'Do it.']).ended();
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/loopback cannot be reached \(ECONNREFUSED\)/);
  }, 60_000);

  const canUnshare = process.platform === 'linux' && spawnSync('unshare', ['-rn', 'true']).status === 0;
  it.skipIf(!canUnshare)(
    'no network at all is said so (skipped where no namespace without one can be made)',
    async () => {
      const house = await House.open();
      const run = await house.alcove(['run', 'Do it.'], { through: ['unshare', '-rn'] }).ended();
      expect(run.code).toBe(1);
      expect(run.stderr).toMatch(/loopback cannot be reached \(ENETUNREACH\)\. Look whether this machine is online/);
    },
    60_000,
  );
});
