/** What the bench writes itself must be what a run would have left: whole, sound, and told by the newest words. */
import { mkdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { SessionEvent } from '#protocol/event.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { homePaths } from '../../../daemon/base/files.ts';
import { dumpLog, inspectLog } from '../../../daemon/session/inspect.ts';
import { placeInHome } from '../../../daemon/session/place.ts';
import { temporaryFolder } from '../../../daemon/testing/temporary-folder.ts';
import { readdirSync } from 'node:fs';
import { newestWords, writeLongSession, writeShortSessions } from './written-sessions.ts';

async function freshHome(): Promise<string> {
  const home = temporaryFolder();
  const { sessions, locks } = homePaths(home);
  await mkdir(sessions);
  await mkdir(locks);
  return home;
}

async function eventsOf(log: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  await dumpLog(
    log,
    async (line) => void events.push(JSON.parse(line) as SessionEvent),
    ({ reason }) => expect.fail(reason),
  );
  return events;
}

it.each([
  ['one', { turns: { open: 1 }, atRest: true }],
  ['many', { turns: { completed: 4 }, atRest: false }],
] as const)(
  'writes a long session of %s turns that reads back sound and ends with the newest words',
  async (kind, so) => {
    const home = await freshHome();
    const sessionId = await writeLongSession(home, 2500, kind);
    const { log } = placeInHome(homePaths(home), sessionId);
    const found = await inspectLog(log);
    expect([found.sessionId, found.damages, found.anomalies]).toEqual([sessionId, [], []]);
    expect(found.events).toBeGreaterThanOrEqual(2500);
    expect(found.events).toBeLessThan(2600);
    expect({ turns: found.turns, atRest: found.open?.atRest ?? false }).toEqual(so);
    const events = await eventsOf(log);
    expect(events.filter((event) => event.type === 'part.delta').at(-1)).toMatchObject({ text: newestWords });
    // It looks like work of hours that has just ended.
    const [first, last] = [events[0]?.at ?? 0, events.at(-1)?.at ?? 0];
    expect(last - first).toBeGreaterThan(2000 * 500);
    expect(Math.abs(Date.now() - last)).toBeLessThan(5 * 60_000);
  },
);

it('writes many short sessions, each under an id of its own and with other first words', async () => {
  const home = await freshHome();
  await writeShortSessions(home, 20);
  const logs = readdirSync(homePaths(home).sessions);
  const titles = new Set<string>();
  for (const name of logs) {
    const sessionId = name.slice(0, name.indexOf('.')) as SessionId;
    const found = await inspectLog(placeInHome(homePaths(home), sessionId).log);
    expect([found.sessionId, found.damages, found.anomalies, found.turns]).toEqual([
      sessionId,
      [],
      [],
      { completed: 1 },
    ]);
    titles.add(found.title);
  }
  expect([logs.length, titles.size]).toEqual([20, 20]);
});
