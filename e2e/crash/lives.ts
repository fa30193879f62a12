/**
 * One life of the daemon after another: it starts, is held against the law, works, and is killed. In the end it is let work in peace until
 * nothing is open, and everything is checked once more.
 */
import type { SessionEvent } from '#protocol/event.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { openWork } from '#protocol/conversation/open.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import { Life } from './life.ts';
import * as law from './law.ts';
import { answer } from './person.ts';
import { LawBroken, type World } from './world.ts';

/** Killed so often, a session has seen enough: it is looked at once more at the very end. */
const killsOfASession = 25;
/** Until everything rests in the end. */
const settleMs = 180_000;
/** In the end a reply that says nothing for so long is one of those that never do. Longer than any command takes. */
const hangMs = 3000;

export interface Summary {
  kills: number;
  /** What was going on in a session at a kill, and how often it was. */
  readonly moving: Map<string, number>;
  events: number;
  sessions: number;
  acknowledged: number;
  requests: number;
}

/** Kills the daemon `kills` times. Rejects with the first law that was broken. `told` hears of each kill. */
export async function live(world: World, kills: number, told: (summary: Summary) => void): Promise<Summary> {
  const summary: Summary = { kills: 0, moving: new Map(), events: 0, sessions: 0, acknowledged: 0, requests: 0 };
  const deaths = new Map<SessionId, number>();
  await world.daemon.start();
  while (summary.kills < kills) {
    const followers = await new Life(world).live();
    summary.kills += 1;
    const before = await afterKill(world, followers, summary);
    const pids = (await world.lines('pids.txt')).map(Number);
    if (world.chance.below(6) === 0) {
      await dieAtStart(world);
      summary.kills += 1;
      count(summary, 'the daemon was starting');
    }
    await world.daemon.start();
    law.nobodyLeft(pids);
    await law.filesWhole(world);
    await checkAll(world, world.sessions, before);
    await repeatSome(world);
    for (const { sessionId } of followers) deaths.set(sessionId, (deaths.get(sessionId) ?? 0) + 1);
    for (const [sessionId, times] of deaths)
      if (times >= killsOfASession && world.sessions.includes(sessionId)) world.retire(sessionId);
    summary.requests += world.models.requests;
    world.models.forget();
    told(summary);
  }
  await settle(world);
  await checkAll(world, [...world.retired, ...world.sessions], new Map());
  await everyInputWasAsked(world);
  for (const sessionId of [...world.retired, ...world.sessions]) {
    summary.sessions += 1;
    summary.events += (await world.events(sessionId)).events.length;
  }
  summary.acknowledged = world.ledger.filter((sent) => sent.seq !== null).length;
  return summary;
}

/** For people, as Markdown. */
export function tableOf({ kills, moving, sessions, events, acknowledged, requests }: Summary): string {
  const rows = [...moving].sort(([, one], [, other]) => other - one).map(([what, times]) => `| ${what} | ${times} |`);
  return [
    `${kills} kills: ${sessions} sessions, ${events} events, ${acknowledged} acknowledged commands, ${requests} requests. The law held.`,
    '',
    '| at a kill | times |',
    '| --- | --: |',
    ...rows,
    '',
  ].join('\n');
}

/** Between two lives: what stands in the logs of the dead. */
async function afterKill(
  world: World,
  followers: readonly { sessionId: SessionId; seen: readonly SessionEvent[] }[],
  summary: Summary,
): Promise<Map<SessionId, SessionEvent[]>> {
  const before = new Map<SessionId, SessionEvent[]>();
  const moving = new Set<string>();
  for (const { sessionId, seen } of followers) {
    const { events, torn } = await world.events(sessionId);
    // What was shown was durable: a torn frame holds only what nobody saw.
    law.shownIsThere(sessionId, seen, events);
    before.set(sessionId, events);
    if (torn !== null) moving.add('a frame was half written');
    for (const what of movingIn(events.reduce(reduce, emptyConversation))) moving.add(what);
  }
  for (const what of moving) count(summary, what);
  return before;
}

function movingIn(conversation: Conversation): string[] {
  if (conversation.compacting !== null) return ['a summary was made'];
  const open = openWork(conversation);
  if (open === null) return conversation.inbox.length > 0 ? ['input waited for its turn'] : ['a session was idle'];
  const moving: string[] = [];
  if (open.turn.paused) moving.push('a turn was paused');
  if (open.step !== null && open.step.reply === null) moving.push('a reply streamed');
  if (open.calls.some((call) => call.state === 'running')) moving.push('a tool ran');
  if (open.approvals.length > 0) moving.push('an approval was open');
  if (open.questions.length > 0) moving.push('a question was open');
  if (conversation.inbox.length > 0) moving.push('input waited behind a turn');
  return moving;
}

function count(summary: Summary, what: string): void {
  summary.moving.set(what, (summary.moving.get(what) ?? 0) + 1);
}

/** Killed before it has opened, in the middle of recovering. */
async function dieAtStart(world: World): Promise<void> {
  const starting = world.daemon.start().catch(() => undefined);
  const turns = world.chance.below(400);
  await new Promise((resolve) => setTimeout(resolve, turns));
  await world.daemon.kill();
  await starting;
}

async function checkAll(
  world: World,
  sessions: readonly SessionId[],
  before: ReadonlyMap<SessionId, SessionEvent[]>,
): Promise<void> {
  const ran = new Map<string, number>();
  for (const sessionId of sessions) {
    const { events, torn } = await world.events(sessionId);
    // A session that is never acknowledged may never have come to be.
    if (events.length === 0) {
      law.acknowledgedIsThere(world, sessionId, events);
      continue;
    }
    law.require(torn === null, 'L1', () => `${sessionId}: its torn end (${torn ?? ''}) is still there`);
    law.keptWhole(sessionId, before.get(sessionId) ?? [], events);
    const conversation = law.soundFold(sessionId, events);
    law.acknowledgedIsThere(world, sessionId, events);
    const row = await rowOf(world, sessionId);
    if (row?.driver === 'idle' || row?.driver === 'paused') {
      if (row.seq === conversation.seq) law.rests(sessionId, conversation);
      await law.toldAsItIs(world, sessionId, conversation);
    }
    // Read behind the log: what is said there to have run has left its token by then.
    ran.clear();
    for (const token of await world.lines('ran.txt')) ran.set(token, (ran.get(token) ?? 0) + 1);
    law.ranOnce(sessionId, conversation, ran);
    world.seqs.set(sessionId, conversation.seq);
  }
  law.require(world.models.refusals.length === 0, 'L10', () => world.models.refusals.join('; '));
}

async function rowOf(world: World, sessionId: SessionId) {
  const { sessions } = await world.daemon.call('session.list', { limit: 500 });
  return sessions.find((one) => one.sessionId === sessionId);
}

/** Some of what was sent is sent again, as a client does that never heard: the same answer, no second effect. */
async function repeatSome(world: World): Promise<void> {
  const recent = world.ledger.slice(-12).filter(({ params }) => world.sessions.includes(params.sessionId));
  for (const sent of recent) {
    if (world.chance.below(3) > 0) continue;
    await world.again(sent).catch((error: unknown) => {
      if (error instanceof LawBroken) throw error;
      law.require(
        sent.seq === null,
        'L4',
        () => `${sent.method} was acknowledged, and again it is refused: ${String(error)}`,
      );
    });
  }
}

/** Nothing fails any more; requests are answered, pauses ended, replies that hang since before are stopped, until all is done. */
async function settle(world: World): Promise<void> {
  world.models.calm = true;
  const until = Date.now() + settleMs;
  const moved = new Map<SessionId, { seq: number; at: number }>();
  for (;;) {
    while (await answer(world).catch(() => false));
    const { sessions } = await world.daemon.call('session.list', { limit: 500 });
    const moving = sessions.filter((row) => row.driver !== 'idle' || row.requests.length > 0);
    if (moving.length === 0) return;
    if (Date.now() > until) {
      const words = moving.map((row) => `${row.sessionId} (${row.driver}, ${row.activity ?? ''})`).join(', ');
      throw new LawBroken(`L5: these do not come to rest: ${words}`);
    }
    for (const { sessionId, driver, seq } of moving) {
      const before = moved.get(sessionId);
      if (before?.seq !== seq) moved.set(sessionId, { seq, at: Date.now() });
      const hangs = before?.seq === seq && Date.now() - before.at > hangMs;
      if (driver === 'paused') await world.send('session.resume', { sessionId }).catch(() => undefined);
      else if (hangs) await world.send('session.abort', { sessionId }).catch(() => undefined);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** One more input in each session, and the model is asked with all that was ever claimed there, each once. */
async function everyInputWasAsked(world: World): Promise<void> {
  for (const sessionId of world.sessions) {
    const conversation = (await world.events(sessionId)).events.reduce(reduce, emptyConversation);
    if (conversation.session === null) continue;
    const last = world.nextInput();
    await world.send('session.submit', { sessionId, target: 'next-turn', parts: [{ type: 'text', text: last }] });
    await settle(world);
    const asked = world.models.asked(last).at(-1);
    law.require(asked !== undefined, 'L4', () => `${sessionId}: its last input was never asked`);
    const after = (await world.events(sessionId)).events.reduce(reduce, emptyConversation);
    if (after.compaction !== null) continue;
    const steps = after.turns.flatMap((turn) => turn.steps);
    for (const input of steps.flatMap((step) => step.inputs))
      for (const part of input.parts) {
        const said = part.type === 'text' ? /msg\d+e/.exec(part.text)?.[0] : undefined;
        if (said === undefined) continue;
        const times = asked.split(said).length - 1;
        law.require(times === 1, 'L4', () => `${sessionId}: ${said} was claimed and reaches the model ${times} times`);
      }
  }
}
