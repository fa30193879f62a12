/** `alcove storage` by the whole program, beside a running daemon and without one. Needs the build. */
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { House } from './house.ts';

const long = 'seq 1 200000';

it('RT28 what a home holds is told by kind, what nobody needs is freed, and sessions go on as they were', async () => {
  const house = await House.open();
  house.provider.enqueue(
    chatReply({ calls: [{ tool: 'bash', arguments: { command: long } }] }),
    chatReply({ text: 'Counted.' }),
    chatReply({ text: 'Still here.' }),
  );
  await house.daemon.start();
  const sessionId = await house.session('auto', 'Count.');
  const follower = await house.follow(sessionId);
  expect(await follower.turnEnded()).toBe('completed');
  const loose = await looseBlob(house.home);
  const verb = async (...words: string[]) => {
    const run = await house.alcove(['storage', ...words, '--json']).ended();
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(run.stdout) as Record<string, { files: number; bytes: number }> & {
      freed: Record<string, { files: number }>;
    };
  };

  const before = await verb();
  expect(before).toMatchObject({ logs: { files: 1 }, blobs: { files: 1 }, spills: { files: 1 }, torn: { files: 0 } });
  expect(before['logs']?.bytes).toBe((await stat(house.log(sessionId))).size);
  expect(before['spills']?.bytes).toBeGreaterThan(1_000_000);
  const all = ['blobs', 'indexes', 'leftovers', 'logs', 'spills', 'torn', 'catalogue', 'diagnostics'];
  expect(all.reduce((sum, kind) => sum + (before[kind]?.bytes ?? NaN), 0)).toBe(before['total']?.bytes);

  const dry = await verb('free', '--outputs', '--dry-run');
  expect(dry.freed).toMatchObject({ blobs: { files: 1 }, spills: { files: 0 } });
  expect((await stat(loose)).size).toBe(5);
  // The session is open in the daemon: its output stays.
  expect((await verb('free', '--outputs')).freed).toMatchObject({ blobs: { files: 1 }, spills: { files: 0 } });
  await expect(stat(loose)).rejects.toMatchObject({ code: 'ENOENT' });

  await house.submit(sessionId, 'And now?');
  expect(await follower.turnEnded(2)).toBe('completed');
  await house.daemon.stop();
  expect((await verb('free', '--outputs')).freed).toMatchObject({ spills: { files: 1 } });
  expect(await readdir(join(house.home, 'spills'))).toEqual([]);
  expect((await house.exported(sessionId)).filter(({ type }) => type === 'turn.ended')).toHaveLength(2);

  const words = await house.alcove(['storage']).ended();
  expect(words.stdout).toMatch(/Sessions +[\d.]+ (B|KiB) {2}1 file\n/);
  for (const wrong of [['free', '--nonsense'], ['loosen'], ['--outputs']])
    expect((await house.alcove(['storage', ...wrong]).ended()).code).toBe(2);
});

/** An upload that no session came to refer to, a month ago. */
async function looseBlob(home: string): Promise<string> {
  const sha256 = createHash('sha256').update('loose').digest('hex');
  const path = join(home, 'blobs', sha256.slice(0, 2), sha256);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, 'loose');
  const then = Date.now() / 1000 - 30 * 86_400;
  await utimes(path, then, then);
  return path;
}
