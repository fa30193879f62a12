/** A command that prints 200 MiB, in the real daemon: what it costs in memory and time, what is kept, and that its exit code is its own. */
import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { callsOf, House, report, soundFold } from './house.ts';

const printed = 200 * 1024 * 1024;
const kept = 64 * 1024 * 1024;
/** More than the daemon had before: buffers of the reading, the window of the model, what the collector leaves for later. */
const maxGrowth = 150 * 1024 * 1024;

/** Of the daemon, as the kernel counts it: now, and at most since it was reset. */
function memory(pid: number): { now: number; most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
  return { now: bytes('VmRSS'), most: bytes('VmHWM') };
}

it.runIf(process.platform === 'linux').each([
  ['through a pipe', {}],
  ['through a terminal', { tty: true }],
])(
  'TL10: a command that prints 200 MiB %s ends with its own exit code, in bounded memory',
  { timeout: 180_000 },
  async (_, how) => {
    const house = await House.open();
    await house.daemon.start();
    const command = `yes "a line of some length to be read" | head -c ${printed}; exit 5`;
    house.provider.enqueue(
      chatReply({ calls: [{ tool: 'bash', arguments: { command, timeout: 160, ...how } }] }),
      chatReply({ text: 'Long.' }),
    );
    const before = memory(house.daemon.pid).now;
    const from = performance.now();
    const sessionId = await house.session('auto', 'Print.');
    expect(await (await house.follow(sessionId)).turnEnded()).toBe('completed');
    const seconds = (performance.now() - from) / 1000;
    const growth = memory(house.daemon.pid).most - before;
    const [call] = callsOf(soundFold(await house.events(sessionId)));
    const { details } = call ?? {};
    if (details?.type !== 'command') throw new Error('the call has no details of a command');
    expect(details).toMatchObject({ exitCode: 5, signal: null, timedOut: false, outputBytes: printed });
    expect(statSync(details.spill ?? '').size).toBe(kept);
    const log = statSync(house.log(sessionId)).size;
    const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
    report(
      `  200 MiB of output ${'tty' in how ? 'through a terminal' : 'through a pipe'}: ${seconds.toFixed(1)} s, exit code ${details.exitCode}, the daemon grew by ${mebibytes(growth)} at most, kept ${mebibytes(kept)}, the log has ${log} bytes`,
    );
    expect(growth).toBeLessThan(maxGrowth);
    expect(log).toBeLessThan(1024 * 1024);
  },
);
