/**
 * `alcove stop`: ends the daemon in order. It refuses while work runs, and changes nothing; `--wait` waits until none does, `--force` closes what
 * runs as interrupted. What waits for a person stays open, and is asked again by the next start. Exit codes: 0 it has ended, 1 it runs on.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { RequestError } from '#protocol/errors.ts';
import type { CommandId } from '#protocol/values/ids.ts';
import { systemClock } from '../base/clock.ts';
import { SystemIds } from '../base/ids.ts';
import { processStartTime } from '../base/process-table.ts';
import { readDaemonFile } from '../daemon.ts';
import { NotRunningError, Running } from './running.ts';
import type { Surroundings } from './surroundings.ts';

/** An orderly end takes 5 s at most, also where a tool ignores its signals; a busy disk may need as long again. */
const endMs = 20_000;
const lookAgainMs = 50;
const askAgainMs = 500;

export async function stop(around: Surroundings, options: { force?: boolean; wait?: boolean }): Promise<number> {
  const file = await readDaemonFile(around.home);
  try {
    const running = await Running.find(around.home);
    await ask(running, options.force === true, options.wait === true);
  } catch (error) {
    if (error instanceof NotRunningError) {
      process.stdout.write('Alcove is not running.\n');
      return 0;
    }
    if (!(error instanceof RequestError) || error.code !== 'busy') throw error;
    process.stderr.write(`alcove: ${error.message}\n`);
    return 1;
  }
  const until = performance.now() + endMs;
  while (file !== null && (await processStartTime(file.pid)) === file.startTime && lives(file.pid)) {
    if (performance.now() > until) throw new Error(`The daemon (process ${file.pid}) was told to end and has not yet.`);
    await delay(lookAgainMs);
  }
  process.stdout.write('Alcove has ended.\n');
  return 0;
}

async function ask(running: Running, force: boolean, wait: boolean): Promise<void> {
  for (let told = false; ;) {
    try {
      const commandId = new SystemIds(systemClock).uuid7() as CommandId;
      await running.call('machine.stop', { commandId, force });
      return;
    } catch (error) {
      if (!wait || !(error instanceof RequestError) || error.code !== 'busy') throw error;
      if (!told) process.stderr.write(`${error.message.split('. ')[0] ?? ''}. Waiting for it to end.\n`);
      told = true;
    }
    await delay(askAgainMs);
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
