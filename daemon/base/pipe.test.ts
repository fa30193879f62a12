import { spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import type { Pipe } from './pipe.ts';

describe.skipIf(process.platform !== 'linux')('pipes', () => {
  let folder: string;
  let openPipe: () => Promise<Pipe | null>;

  beforeEach(async () => {
    folder = temporaryFolder();
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.resetModules();
    ({ openPipe } = await import('./pipe.ts'));
  });

  test('are each their own, however many are open at once, and leave no name behind', async () => {
    const pipes = await Promise.all(Array.from({ length: 40 }, () => openPipe()));
    const texts = pipes.map(async (pipe, index) => {
      if (pipe === null) throw new Error('no pipe');
      const child = spawn('sh', ['-c', `echo ${index} > /dev/stdout`], { stdio: ['ignore', pipe.writer, 'inherit'] });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      pipe.closeWriter();
      const said = await text(pipe.reader);
      await ended;
      return said;
    });
    expect(await Promise.all(texts)).toEqual(pipes.map((_, index) => `${index}\n`));
    const kept = readdirSync(folder).flatMap((name) => readdirSync(join(folder, name)));
    expect(kept.length).toBeLessThan(40);
  });

  test('are made anew where the temporary folder was swept', async () => {
    close(await openPipe());
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    close(await openPipe());
  });

  test('are none where no folder can hold one', async () => {
    vi.stubEnv('TMPDIR', join(folder, 'missing'));
    expect(await openPipe()).toBeNull();
  });

  function close(pipe: Pipe | null): void {
    expect(pipe).not.toBeNull();
    pipe?.closeWriter();
    pipe?.reader.destroy();
  }
});
