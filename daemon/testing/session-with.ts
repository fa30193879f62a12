/** A real session in a temporary home, and waiting for what its conversation comes to: by its events, never by time. */
import { onTestFinished } from 'vitest';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { Draft } from '#protocol/event.ts';
import type { InputTarget } from '#protocol/events/input.ts';
import { LOG_VERSION } from '#protocol/version.ts';
import type { HomePaths } from '../base/files.ts';
import { placeInHome, type SessionPlace } from '../session/place.ts';
import { Session, type SessionOptions } from '../session/session.ts';
import { ManualClock } from './manual-clock.ts';
import { CountingIds, projectAt, sessionIdOf, temporaryHome } from './temporary-home.ts';

export interface SessionSetup {
  home?: HomePaths;
  number?: number;
  /** The project's folder. */
  folder?: string;
  /** Events after the first two (created, configured). */
  events?: readonly Draft[];
  options?: Partial<SessionOptions>;
}

export interface MadeSession {
  session: Session;
  place: SessionPlace;
  home: HomePaths;
  clock: ManualClock;
  ids: CountingIds;
  options: SessionOptions;
  /** What went wrong without a caller. */
  faults: unknown[];
}

export async function sessionWith(setup: SessionSetup = {}): Promise<MadeSession> {
  const home = setup.home ?? (await temporaryHome());
  const number = setup.number ?? 1;
  const clock = new ManualClock();
  const faults: unknown[] = [];
  const options: SessionOptions = {
    clock,
    owner: 'the daemon',
    durability: 'kernel',
    fault: (error) => void faults.push(error),
    ...setup.options,
  };
  const place = placeInHome(home, sessionIdOf(number));
  const session = await Session.create(place, options);
  onTestFinished(() => session.close());
  await session.append([...beginning(number, setup.folder ?? '/nowhere'), ...(setup.events ?? [])]);
  return { session, place, home, clock, ids: new CountingIds(clock), options, faults };
}

/** The two events that every session begins with. */
export function beginning(number: number, folder: string): Draft[] {
  const sessionId = sessionIdOf(number);
  return [
    { type: 'session.created', logVersion: LOG_VERSION, sessionId, project: projectAt(folder), folder },
    { type: 'session.configured', model: 'scripted/demo', mode: 'ask' },
  ];
}

/** Closes and opens it again, as a restart would; without recovery. */
export async function reopen({
  session,
  place,
  options,
}: Pick<MadeSession, 'session' | 'place' | 'options'>): Promise<Session> {
  await session.close();
  const again = await Session.open(place, options);
  onTestFinished(() => again.close());
  return again;
}

export function queued(ids: CountingIds, text: string, target: InputTarget = 'next-turn'): Draft {
  const command = ids.mark();
  return {
    type: 'input.queued',
    command,
    inputId: command.id,
    target,
    parts: [{ type: 'text', text }],
    origin: 'person',
  };
}

/** Resolves with the conversation once it fulfils the condition. The test's own time limit is the only one. */
export async function until(
  session: Session,
  condition: (conversation: Conversation) => boolean,
): Promise<Conversation> {
  const signal = AbortSignal.timeout(20_000);
  for (;;) {
    const { conversation } = session;
    if (condition(conversation)) return conversation;
    await session.changed(conversation.seq, signal);
  }
}
