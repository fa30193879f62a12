/** A person who does one thing after another, by chance: writes, steers, changes what waits, answers, pauses, stops, opens sessions. */
import type { CommandName, Params } from '#protocol/command.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { newCommandId } from '../support/daemon.ts';
import { LawBroken, type World } from './world.ts';

const mostSessions = 5;
/** Between two acts: so that a session gets somewhere between being stopped and being steered. */
const longestThoughtMs = 120;

/** Acts until the daemon is gone. `acted` is told after each answer. */
export async function act(world: World, signal: AbortSignal, acted: () => void): Promise<void> {
  const { chance } = world;
  while (!signal.aborted) {
    try {
      await one(world);
      acted();
    } catch (error) {
      if (error instanceof LawBroken) throw error;
      // A refusal is as good as an answer (a turn that ended meanwhile cannot be paused); a broken connection ends this life.
      if (error instanceof TypeError) return;
    }
    await new Promise((resolve) => setTimeout(resolve, chance.below(longestThoughtMs)));
  }
}

async function one(world: World): Promise<void> {
  const { chance, models } = world;
  const sessionId = world.sessions[chance.below(world.sessions.length)];
  if (sessionId === undefined || (world.sessions.length < mostSessions && chance.below(6) === 0)) return open(world);
  const say = () => [{ type: 'text' as const, text: `${world.nextInput()} and so on.` }];
  const send = <Name extends CommandName>(method: Name, params: Omit<Params<Name>, 'commandId' | 'sessionId'>) =>
    world.send(method, { sessionId, ...params } as unknown as Omit<Params<Name>, 'commandId'>);
  const waiting = () => {
    const mine = world.ledger.filter((sent) => sent.method === 'session.submit' && sent.params.sessionId === sessionId);
    return mine.at(-1 - chance.below(3))?.params.commandId;
  };
  const lot = chance.below(100);
  if (lot < 22) await send('session.submit', { target: 'next-turn', parts: say() });
  else if (lot < 42) await send('session.submit', { target: 'next-step', parts: say() });
  else if (lot < 70) await answer(world);
  else if (lot < 72) await send('session.pause', {});
  else if (lot < 77) await send('session.resume', {});
  else if (lot < 79) await send('session.abort', {});
  else if (lot < 82) await send('session.configure', { model: models.names[chance.below(models.names.length)] ?? '' });
  else if (lot < 85) await send('session.configure', { mode: chance.below(2) === 0 ? 'ask' : 'auto' });
  else if (lot < 86) await send('session.compact', {});
  else if (lot < 87) await send('session.rename', { title: `Title ${chance.below(1000)}` });
  else if (lot < 91) {
    const inputId = waiting();
    if (inputId !== undefined) await send('session.edit-input', { inputId, parts: say() });
  } else if (lot < 94) {
    const inputId = waiting();
    if (inputId !== undefined) await send('session.withdraw-input', { inputId });
  } else if (lot < 97) {
    const inputId = waiting();
    if (inputId !== undefined) await send('session.move-input', { inputId, target: 'next-step' });
  } else await world.daemon.call('session.list', {});
}

async function open(world: World): Promise<void> {
  const { chance, models } = world;
  const sessionId = `ses_${newCommandId()}` as SessionId;
  const projectId = await world.project();
  world.sessions.push(sessionId);
  await world.send('session.create', {
    sessionId,
    projectId,
    model: models.names[chance.below(models.names.length)] ?? '',
    mode: chance.below(2) === 0 ? 'ask' : 'auto',
    ...(chance.below(2) === 0 ? { input: [{ type: 'text', text: `${world.nextInput()} to begin with.` }] } : {}),
  });
}

/** Answers one of all open requests and questions, as a list shows them: a sub-agent's in its own session. */
export async function answer(world: World): Promise<boolean> {
  const { chance } = world;
  const { sessions } = await world.daemon.call('session.list', {});
  const open = sessions.flatMap(({ sessionId, requests, questions }) =>
    [...requests, ...(questions ?? [])].map((request) => ({ sessionId: request.sessionId ?? sessionId, request })),
  );
  const one = open[chance.below(open.length)];
  if (one === undefined) return false;
  const { sessionId, request } = one;
  if ('questionId' in request)
    await world.send('question.answer', { sessionId, questionId: request.questionId, text: 'As you like.' });
  else
    await world.send('approval.answer', {
      sessionId,
      approvalId: request.approvalId,
      decision: chance.below(10) < 7 ? 'allow' : 'deny',
      scope: chance.below(10) < 8 || request.caution ? 'once' : 'session',
    });
  return true;
}
