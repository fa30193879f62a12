/** A process that is killed while it writes: what it had said to be durable is there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { contentOf, upTo } from '../testing/small-log.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { cutTornTail, examine } from './repair.ts';

const program = fileURLToPath(new URL('fixtures/append-until-killed.ts', import.meta.url));

test.each(['a.jsonl.zst', 'a.jsonl'])(
  'RT3 C01 after a kill in mid-write %s holds every event that was acknowledged',
  async (name) => {
    const path = join(temporaryFolder(), name);
    const child = spawn(process.execPath, ['--import', 'tsx', program, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    let acknowledged = 0;
    for await (const line of createInterface(child.stdout)) {
      acknowledged = Number(line);
      if (acknowledged >= 300) child.kill('SIGKILL');
    }
    await exit;
    const found = await examine(path);
    if (found.state === 'torn') await cutTornTail(path, found.goodEnd);
    expect(['whole', 'torn']).toContain(found.state);
    expect(found.lastSeq).toBeGreaterThanOrEqual(acknowledged);
    expect(await contentOf(path)).toEqual({ seqs: upTo(found.lastSeq), damages: [] });
  },
);
