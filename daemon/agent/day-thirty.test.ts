/** The thirtieth day of a daemon: sessions that rest leave its memory and close their files, however many have come and gone. */
import { readdirSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import { idleSessionMs } from '../base/limits.ts';
import { isLocked } from '../base/lock.ts';
import { placeInHome } from '../session/place.ts';
import { agentsIn } from '../testing/agents-in.ts';
import { sessionIdOf, temporaryHome } from '../testing/temporary-home.ts';

async function house() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const home = await temporaryHome();
  const made = await agentsIn(home);
  await made.agents.start();
  /** A turn of its own, to its end. */
  const work = async (number: number) => {
    await made.agents.create(made.request(number, 'Say ok.'), made.ids.mark());
    const source = await made.agents.source(sessionIdOf(number));
    while (made.catalog.get(sessionIdOf(number))?.lastOutcome !== 'completed')
      await source.changed(source.seq, AbortSignal.timeout(1000)).catch(() => undefined);
    return source;
  };
  const isOpen = (number: number) => isLocked(placeInHome(home, sessionIdOf(number)).lock);
  /** So much later: who is to go has gone. */
  const later = async (ms: number, numbers: readonly number[]) => {
    made.clock.advance(ms);
    vi.advanceTimersByTime(idleSessionMs / 2);
    await vi.waitUntil(() => !numbers.some(isOpen), { timeout: 20_000 });
  };
  /** What the kernel has open for this process in the home. */
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(home.home);
      } catch {
        return false;
      }
    });
  return { ...made, home, work, later, isOpen, openFiles };
}

const onLinux = test.skipIf(process.platform !== 'linux');

onLinux(
  'a session that rests and that nobody looks at closes its files after a minute; one that is looked at stays',
  async () => {
    const { agents, work, later, isOpen, openFiles, clock } = await house();
    const before = openFiles().length;
    const looking = await work(1);
    const left = await work(2);
    left.release();
    // Exactly as long as may be is not longer.
    clock.advance(idleSessionMs);
    vi.advanceTimersByTime(idleSessionMs / 2);
    await new Promise(setImmediate);
    expect([isOpen(1), isOpen(2)]).toEqual([true, true]);
    await later(1, [2]);
    expect([isOpen(1), isOpen(2)]).toEqual([true, false]);
    looking.release();
    await later(idleSessionMs + 1, [1]);
    await vi.waitUntil(() => openFiles().length <= before, { timeout: 20_000 });
    // It is there again for whoever comes back.
    expect((await agents.agent(sessionIdOf(2))).conversation.counts.turns).toBe(1);
  },
);

onLinux(
  'a thousand sessions that came and went leave memory and open files as they were',
  async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { work, later, openFiles, faults, told, model } = await house();
    const batch = 25;
    const heapAfter = async (from: number, to: number) => {
      for (let first = from; first < to; first += batch) {
        const numbers = Array.from({ length: batch }, (_, place) => first + place);
        const sources = await Promise.all(numbers.map(work));
        for (const source of sources) source.release();
        await later(idleSessionMs + 1, numbers);
      }
      // What the test's own recorders keep is not the daemon's.
      told.length = 0;
      (model.requests as unknown[]).length = 0;
      collectGarbage();
      await new Promise(setImmediate);
      collectGarbage();
      return { bytes: process.memoryUsage().heapUsed, files: openFiles().length };
    };
    const early = await heapAfter(1, 201);
    const late = await heapAfter(201, 1001);
    const perSession = (late.bytes - early.bytes) / 800;
    // Its conversation alone, or its lock, would be several times that; code that was compiled meanwhile counts too.
    expect(perSession).toBeLessThan(2048);
    expect(late.files).toBeLessThanOrEqual(early.files);
    expect(faults).toEqual([]);
  },
  240_000,
);
