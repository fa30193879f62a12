/**
 * Sessions that no model has to be asked for: logs in the home of a stopped daemon, written by the project's own session and writer, with
 * bases beside them as a run would have left them. What they hold is work as agents do it: reasoning, a reply, two calls with output.
 */
import type { Draft, KnownEvent, SessionEvent } from '#protocol/event.ts';
import { LogBuilder } from '#protocol/testing/log-builder.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import type { Clock } from '../../../daemon/base/clock.ts';
import { homePaths } from '../../../daemon/base/files.ts';
import { encodeEvent } from '../../../daemon/log/codec.ts';
import { LogWriter } from '../../../daemon/log/writer.ts';
import { placeInHome } from '../../../daemon/session/place.ts';
import { Session } from '../../../daemon/session/session.ts';
import { newCommandId } from '../../support/daemon.ts';

/** A frame of a run holds few events; of one that is written in one go as many as fill it. */
const eventsInOneGo = 200;
const stepsOfOneTurn = 20;
/** Work of a million events takes days: what is remembered of a day is then that of a day. */
const msOfOneEvent = 500;
/** Each syncs the folder; more at once do not get it done sooner. */
const writtenAtOnce = 16;

/** What the newest step says: a screen that shows it has opened. */
export const newestWords = 'The newest leaf was looked at and turned over.';

/**
 * Writes a session of at least so many events.
 * @param turns `one`: all of them in one turn that is still open, and rests; `many`: closed turns of twenty steps each.
 */
export async function writeLongSession(home: string, events: number, turns: 'one' | 'many'): Promise<SessionId> {
  return await write(home, events, function* () {
    const log = new LogBuilder().session().asks('Work until it is done.').turn();
    let inputs = 1;
    for (let step = 0; ; step += 1) {
      const last = log.conversation.seq >= events - 10;
      const first = turns === 'many' ? step % stepsOfOneTurn === 0 : step === 0;
      if (first && step > 0) {
        log.endsTurn().asks(`Go on, turn ${++inputs}.`).turn();
      }
      log.step(first ? undefined : []);
      if (last) log.says([newestWords]).replies().endsStep();
      else writeWork(log, step);
      if (last && turns === 'many') log.endsTurn();
      yield log.events.splice(0);
      if (last) return;
    }
  });
}

/** Writes so many small sessions with one short turn each, a minute apart. By the writer alone: a lock each would take longer than all else. */
export async function writeShortSessions(home: string, count: number): Promise<void> {
  let number = 0;
  const some = async () => {
    while (number < count) {
      const log = new LogBuilder()
        .waits(++number * 60_000)
        .session()
        .asks(`Look after bed ${number}.`)
        .turn();
      log.step().says(['It was looked after.']).replies().endsStep().endsTurn();
      const sessionId = newSessionId();
      const lines = log.events.map((event) => encodeEvent(ownedBy(sessionId, event) as KnownEvent));
      const writer = await LogWriter.create(placeInHome(homePaths(home), sessionId).log);
      await writer.append(lines, 1);
      await writer.close();
    }
  };
  await Promise.all(Array.from({ length: writtenAtOnce }, some));
}

/** Some fifty events: thoughts, a reply, a call that reads and one that prints. */
function writeWork(log: LogBuilder, step: number): void {
  const says = Array.from({ length: 12 }, (_, place) => `Leaf ${step}.${place} was looked at. `);
  log.says(says.slice(0, 4), 'reasoning').says(says).replies();
  log.requests('read', { path: `notes-${step}.md` }, { title: 'Read', kind: 'read', target: `notes-${step}.md` });
  const read = log.conversation.counts.calls;
  log.requests('bash', { command: `make ${step}` }, { title: 'Run', kind: 'command', target: `make ${step}` });
  const made = log.conversation.counts.calls;
  log.starts(read).ends(`# Notes ${step}\n${'Roses, ferns and moss. '.repeat(20)}`, 'completed', read);
  log.starts(made);
  for (let line = 0; line < 12; line += 1) log.prints(`compiled leaf ${step}.${line}\n`, made);
  log.ends(`compiled leaf ${step}, all of it`, 'completed', made).endsStep();
}

/** @param expected How many events it will be: its clock begins so long ago that they end about now. */
async function write(
  home: string,
  expected: number,
  pieces: () => Generator<readonly SessionEvent[]>,
): Promise<SessionId> {
  const sessionId = newSessionId();
  const place = placeInHome(homePaths(home), sessionId);
  let at = Date.now() - expected * msOfOneEvent;
  const clock: Clock = { now: () => at };
  const session = await Session.create(place, { clock, owner: 'the daemon', durability: 'kernel' });
  let drafts: Draft[] = [];
  const flush = async () => {
    if (drafts.length > 0) await session.append(drafts);
    at += drafts.length * msOfOneEvent;
    drafts = [];
  };
  for (const events of pieces()) {
    for (const { seq: _, at: __, ...draft } of events.map((event) => ownedBy(sessionId, event)))
      drafts.push(draft as unknown as Draft);
    // Whole steps only: a base is taken where a frame ends between two steps.
    if (drafts.length >= eventsInOneGo) await flush();
  }
  await flush();
  await session.close();
  return sessionId;
}

function newSessionId(): SessionId {
  return `ses_${newCommandId()}` as SessionId;
}

/** The builder's sessions all have one id. */
function ownedBy(sessionId: SessionId, event: SessionEvent): SessionEvent {
  return event.type === 'session.created' ? { ...event, sessionId } : event;
}
