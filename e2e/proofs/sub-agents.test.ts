/** Sub-agents under a real daemon that is killed, and in `alcove run`: what is closed, what rests, and that nothing is done twice. */
import { expect, it } from 'vitest';
import type { SessionId } from '#protocol/values/ids.ts';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { newCommandId } from '../support/daemon.ts';
import { callsOf, House, soundFold, spoken } from './house.ts';

const task = (name: string) => ({ tool: 'task', arguments: { description: name, prompt: `Do ${name}.` } });
const bash = (command: string) => ({ tool: 'bash', arguments: { command } });

async function childOf(house: House, sessionId: SessionId): Promise<SessionId> {
  const follower = await house.follow(sessionId);
  const started = (await follower.kind('agent.started')) as unknown as { sessionId: SessionId };
  return started.sessionId;
}

it(
  'RT4 RT24 OR8: killed while a sub-agent works, both are closed, and no request is made again',
  { timeout: 60_000 },
  async () => {
    const house = await House.open();
    await house.daemon.start();
    house.provider.enqueue(
      chatReply({ calls: [task('digging')] }),
      chatReply({ calls: [bash('echo one >> runs.txt; sleep 60')] }),
    );
    const sessionId = await house.session('auto', 'Dig.');
    const child = await house.follow(await childOf(house, sessionId));
    await child.kind('tool-call.started');
    await expect.poll(() => house.read('runs.txt')).toBe('one\n');
    await house.daemon.kill();
    await house.daemon.start();

    const parent = soundFold(await house.events(sessionId));
    expect(callsOf(parent).map((call) => [call.outcome, call.state])).toEqual([['interrupted', 'ended']]);
    expect(parent.lastOutcome).toBe('interrupted');
    expect(parent.delegated.usage.steps).toBe(1);
    const childId = callsOf(parent)[0]?.child?.sessionId as SessionId;
    const own = soundFold(await house.events(childId));
    expect(callsOf(own).map((call) => call.outcome)).toEqual(['interrupted']);
    expect(house.read('runs.txt')).toBe('one\n');
    expect(house.provider.requests).toHaveLength(2);

    house.provider.enqueue(chatReply({ text: 'Let me look.' }));
    await house.submit(sessionId, 'Go on.');
    expect(spoken(await house.provider.request(3))[2]).toMatch(/^tool c00000001: Interrupted/);
  },
);

it(
  'RT25 US2 OR8: killed while a sub-agent waits for a person, both rest, and the answer goes on with both',
  { timeout: 60_000 },
  async () => {
    const house = await House.open();
    await house.daemon.start();
    house.provider.enqueue(
      chatReply({ calls: [task('digging')] }),
      chatReply({ calls: [bash('echo one >> runs.txt')] }),
    );
    const sessionId = await house.session('ask', 'Dig.');
    const childId = await childOf(house, sessionId);
    await (await house.follow(childId)).kind('approval.requested');
    await house.daemon.kill();
    await house.daemon.start();

    const row = await house.row(sessionId);
    expect(row).toMatchObject({
      state: 'waiting',
      requests: [{ sessionId: childId, agent: 'digging', approvalId: 'apr_1' }],
    });
    house.provider.enqueue(chatReply({ text: 'Dug.' }), chatReply({ text: 'It was dug.' }));
    await house.daemon.call('approval.answer', {
      commandId: newCommandId(),
      sessionId: childId,
      approvalId: row.requests[0]!.approvalId,
      decision: 'allow',
      scope: 'once',
    });
    const follower = await house.follow(sessionId);
    expect(await follower.turnEnded()).toBe('completed');
    expect(house.read('runs.txt')).toBe('one\n');
    const parent = soundFold(await house.events(sessionId));
    expect(callsOf(parent).map((call) => [call.outcome, call.content])).toEqual([
      ['completed', [{ type: 'text', text: 'Dug.' }]],
    ]);
  },
);

it(
  'OR8 AP1: a run in a script has sub-agents too, and what they are denied does not stop it',
  { timeout: 60_000 },
  async () => {
    const house = await House.open();
    house.provider.enqueue(
      chatReply({ calls: [task('digging')] }),
      chatReply({ calls: [bash('echo one >> runs.txt')] }),
      chatReply({ text: 'I could not dig.' }),
      chatReply({ text: 'Nobody dug.' }),
    );
    const run = await house.alcove(['run', 'Dig.']).ended();
    expect(run).toMatchObject({ code: 0, stdout: 'Nobody dug.\n' });
    expect(house.read('runs.txt')).toBe('');
    expect(spoken(await house.provider.request(4)).at(-1)).toBe('tool c00000001: I could not dig.');
  },
);
