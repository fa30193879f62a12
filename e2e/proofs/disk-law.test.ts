/**
 * The crash law for a disk that fails: a session with replies, tools, approvals and steering on a disk that is full, refuses, takes half a
 * write, cannot be cut back or cannot be synced, at moments chosen by chance. Whatever happens, what was acknowledged is there once, what
 * lives equals what is on the disk, nothing ran twice, and with a good disk the session goes on.
 */
import { describe, expect, it } from 'vitest';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { SessionEvent } from '#protocol/event.ts';
import { openWork } from '#protocol/conversation/open.ts';
import { readEvents } from '../../daemon/log/reader.ts';
import type { Action } from '../../daemon/llm/scripted/scripted.ts';
import { agentOn, calls, fakeTool, says, type MadeAgent } from '../../daemon/testing/agent-on.ts';
import { FaultyDisk } from '../../daemon/testing/faulty-disk.ts';
import { sessionIdOf } from '../../daemon/testing/temporary-home.ts';
import { soundFold } from '../crash/law.ts';
import { Chance } from './chance.ts';
import { report } from './house.ts';

const rounds = 60;

describe('RT8 RT14 on a disk that fails at moments chosen by chance', () => {
  it('what was acknowledged is there once, nothing ran twice, live equals the disk, and with a good disk the session goes on', async () => {
    const chance = new Chance();
    const sum = { acknowledged: 0, refused: 0, failures: 0, closed: 0, ran: 0 };
    try {
      for (let round = 0; round < rounds; round += 1) await oneRound(chance, sum);
    } catch (error) {
      throw new Error(`KILL_SEED=${chance.seed}`, { cause: error });
    }
    report(`${rounds} sessions on a failing disk: ${JSON.stringify(sum)}`);
    expect(sum.failures).toBeGreaterThan(rounds);
    expect(sum.closed).toBeGreaterThan(0);
  }, 240_000);
});

type Sum = Record<'acknowledged' | 'refused' | 'failures' | 'closed' | 'ran', number>;

async function oneRound(chance: Chance, sum: Sum): Promise<void> {
  const ran = new Map<string, number>();
  const disk = new FaultyDisk();
  const tool = (name: string, effect: 'read' | 'change') =>
    fakeTool(name, {
      effect,
      run: async ({ token }) => {
        ran.set(String(token), (ran.get(String(token)) ?? 0) + 1);
        await chance.moment();
        return `${name} did it`;
      },
    });
  let tokens = 0;
  const call = (): Action[] => calls([chance.below(2) === 0 ? 'look' : 'change', { token: `t${(tokens += 1)}` }]);
  const first = await agentOn(
    () => {
      const words: Action[] = [
        { type: 'say', text: ['some ', 'words ', 'of it'] },
        { type: 'wait', ms: chance.below(3) },
      ];
      return [
        ...words,
        ...(chance.below(2) === 0 ? says('Done.') : [...call(), ...(chance.below(2) === 0 ? call() : [])]),
      ];
    },
    {
      tools: [tool('look', 'read'), tool('change', 'change')],
      options: { openFile: disk.open, durability: chance.below(2) === 0 ? 'power' : 'kernel' },
    },
  );
  let made = first;
  const acknowledged: string[] = [];
  const submit = async (text: string) => {
    try {
      await made.submit(text, chance.below(2) === 0 ? 'next-turn' : 'next-step');
      acknowledged.push(text);
      sum.acknowledged += 1;
    } catch {
      sum.refused += 1;
    }
  };

  const badness = 1 + chance.below(4);
  const weather: FaultyDisk['weather'] = (operation, bytes) => {
    // A disk that cannot even cut is rare, else no session would live for long.
    if (chance.below(10) >= badness || (operation !== 'write' && chance.below(5) > 0)) return null;
    sum.failures += 1;
    return {
      code: ['ENOSPC', 'EIO', 'EROFS', 'EDQUOT'][chance.below(4)] ?? 'EIO',
      takes: chance.below(3) === 0 ? 1 + chance.below(bytes * 2) : 0,
    };
  };
  for (let act = 0; act < 8; act += 1) {
    disk.weather = chance.below(3) === 0 ? null : weather;
    const { approvals } = made.session.conversation;
    const open = approvals[0];
    const what = chance.below(6);
    if (what < 3) await submit(`input ${act}`);
    else if (what === 3 && open !== undefined)
      await quietly(
        made.agent.answer({ approvalId: open.approvalId, decision: 'allow', scope: 'once', by: 'me' }, made.ids.mark()),
      );
    else if (what === 4) await quietly(made.agent.abort(made.ids.mark()));
    else await quietly(made.agent.resume(made.ids.mark()));
    await (chance.below(2) === 0 ? chance.moment() : settled(made));
  }

  disk.weather = null;
  if (made.session.closedBecause !== null) sum.closed += 1;
  else await finished(made);
  // Closing the agent writes where it can; what lives then is compared with what is on the disk.
  const closing = made.agent.close();
  await closing;
  const live = made.session.conversation;
  await made.session.close();
  const events = await logOf(made);
  const told = soundFold(sessionIdOf(1), events.slice(0, live.seq));
  expect(told).toStrictEqual(JSON.parse(JSON.stringify(live)));

  made = await made.restart();
  await finished(made);
  await submit('last words');
  const now = await finished(made);
  expect(now.turns.at(-1)?.outcome).toBe('completed');
  expect(acknowledged.at(-1)).toBe('last words');
  const after = await logOf(made);
  soundFold(sessionIdOf(1), after);
  expect(after.slice(0, live.seq)).toStrictEqual(events.slice(0, live.seq));
  const queued = after.flatMap((event) => (event.type === 'input.queued' ? [JSON.stringify(event)] : []));
  for (const text of acknowledged)
    expect({ text, times: queued.filter((event) => event.includes(`"${text}"`)).length }).toEqual({ text, times: 1 });
  expect(openWork(now)).toBeNull();
  for (const [token, times] of ran) expect({ token, times }).toEqual({ token, times: 1 });
  sum.ran += ran.size;
  await made.agent.close();
  await made.session.close();
}

const quietly = (asked: Promise<unknown>) => asked.catch(() => undefined);

async function logOf({ session, place }: MadeAgent): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const read of readEvents(place.log)) {
    if (!('events' in read)) {
      // Only a session that says so may leave a torn tail.
      expect(session.closedBecause).not.toBe('it was closed');
      break;
    }
    events.push(...read.events.map(({ event }) => event));
  }
  return events;
}

/** It waits for a person, rests, or cannot be written any more. */
async function settled(made: MadeAgent): Promise<void> {
  const until = Date.now() + 20_000;
  const rests = () =>
    made.agent.state === 'idle' ||
    made.agent.state === 'paused' ||
    made.session.conversation.approvals.length > 0 ||
    made.session.closedBecause !== null;
  do {
    if (Date.now() > until) throw new Error(`it hangs: ${made.agent.state}`);
    await new Promise(setImmediate);
  } while (!rests());
}

/** With a good disk: everything that waits is denied or taken up, until nothing is left to do. */
async function finished(made: MadeAgent): Promise<Conversation> {
  const until = Date.now() + 20_000;
  for (;;) {
    const { conversation } = made.session;
    const open = conversation.approvals[0];
    if (open !== undefined)
      await quietly(
        made.agent.answer({ approvalId: open.approvalId, decision: 'deny', scope: 'once', by: 'me' }, made.ids.mark()),
      );
    else if (made.agent.state === 'paused') await quietly(made.agent.resume(made.ids.mark()));
    else if (made.agent.state === 'idle' && conversation.active === null) {
      if (conversation.inbox.length === 0) return conversation;
      await made.agent.resume(made.ids.mark());
    }
    if (Date.now() > until)
      throw new Error(`it does not end: ${made.agent.state}, ${JSON.stringify(openWork(conversation))}`);
    await new Promise(setImmediate);
  }
}
