/** A session at work since yesterday, as it would stand in a home: one turn of 20,000 events that rests between two steps. */
import type { Draft, SessionEvent } from '#protocol/event.ts';
import { LogBuilder } from '#protocol/testing/log-builder.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { systemClock } from '../../daemon/base/clock.ts';
import { homePaths } from '../../daemon/base/files.ts';
import { placeInHome } from '../../daemon/session/place.ts';
import { Session } from '../../daemon/session/session.ts';

export const longTurnEvents = 20_000;

/** Hundreds of steps, each with reasoning, a reply, two calls and their output. Step n says "Leaf n.0 …" to "Leaf n.11 …". */
export function longTurn(): LogBuilder {
  const log = new LogBuilder().session().asks('Work until it is done.').turn();
  for (let step = 0; log.conversation.seq < longTurnEvents; step += 1) {
    const says = Array.from({ length: 12 }, (_, place) => `Leaf ${step}.${place} was looked at and turned over. `);
    log
      .step(step === 0 ? [1] : [])
      .says(says.slice(0, 4), 'reasoning')
      .says(says)
      .replies();
    log.requests('read', { path: `notes-${step}.md` }, { title: 'Read', kind: 'read', target: `notes-${step}.md` });
    log.requests('bash', { command: `make ${step}` }, { title: 'Run', kind: 'command', target: `make ${step}` });
    log
      .starts(2 * step + 1)
      .ends(`# Notes ${step}\n${'Roses, ferns and moss. '.repeat(20)}`, 'completed', 2 * step + 1);
    log.starts(2 * step + 2);
    for (let line = 0; line < 12; line += 1) log.prints(`compiled leaf ${step}.${line}\n`, 2 * step + 2);
    log.ends(`compiled leaf ${step}, all of it`, 'completed', 2 * step + 2).endsStep();
  }
  return log;
}

/** Writes the events into a home whose daemon is stopped, in frames as a run would have left them. */
export async function writeSession(home: string, events: readonly SessionEvent[]): Promise<SessionId> {
  const [created] = events as readonly (SessionEvent & { sessionId?: SessionId })[];
  const sessionId = created?.sessionId;
  if (sessionId === undefined) throw new Error('a log begins with session.created');
  const place = placeInHome(homePaths(home), sessionId);
  const session = await Session.create(place, { clock: systemClock, owner: 'the daemon', durability: 'kernel' });
  for (let from = 0; from < events.length; from += 25) {
    const drafts = events.slice(from, from + 25).map(({ seq: _, at: __, ...draft }) => draft as unknown as Draft);
    await session.append(drafts);
  }
  await session.close();
  return sessionId;
}
