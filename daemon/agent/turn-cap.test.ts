/** US8: a turn stops between two steps when it has used what it may, and a message goes on. */
import { expect, test } from 'vitest';
import type { Draft } from '#protocol/event.ts';
import type { Action } from '../llm/scripted/scripted.ts';
import { agentOn, calls, ended, fakeTool, says, type AgentSetup } from '../testing/agent-on.ts';

const used = (tokens: number, cacheRead = 0): Action => ({
  type: 'usage',
  usage: { input: tokens + cacheRead, output: 0, cacheRead, cacheWrite: 0, reasoning: 0 },
});
const step = (tokens: number, cacheRead = 0): Action[] => [used(tokens, cacheRead), ...calls('look')];
const price = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 };

async function capped(cap: AgentSetup['cap'], replies: Action[][], more: Partial<AgentSetup> = {}) {
  const made = await agentOn(replies, { tools: [fakeTool('look')], cap: cap ?? {}, ...more });
  await made.submit('go');
  await made.until(ended());
  return made;
}

test('US8 one token below the cap goes on; at the cap the turn stops, with everything kept, and a message goes on', async () => {
  const below = await capped({ tokens: 100 }, [step(99), says('done')]);
  expect(below.session.conversation.turns[0]).toMatchObject({ outcome: 'completed' });
  const made = await capped({ tokens: 100 }, [step(60), step(40), says('and on')]);
  const [turn] = made.session.conversation.turns;
  expect(turn).toMatchObject({
    outcome: 'failed',
    failure: { code: 'token_limit' },
    steps: [{}, { calls: [{ outcome: 'completed' }] }],
  });
  expect(turn?.failure?.message).toContain('The turn used 100 tokens; the cap of a turn is 100.');
  await made.submit('go on');
  await made.until(ended(2));
  expect(made.session.conversation.turns[1]).toMatchObject({ outcome: 'completed' });
});

test('US8 what comes from a cache is not counted, and a reply that ends the turn is not stopped by its own price', async () => {
  const cached = await capped({ tokens: 100 }, [step(10, 5000), says('done')]);
  expect(cached.session.conversation.turns[0]?.outcome).toBe('completed');
  const last = await capped({ tokens: 100 }, [[used(5000), ...says('one long answer')]]);
  expect(last.session.conversation.turns[0]?.outcome).toBe('completed');
});

test('US8 a cap in dollars counts what is known, and says how many requests are of unknown price', async () => {
  const known = await capped({ cost: 2 }, [step(1), step(1), says('no')], { facts: { price } });
  expect(known.session.conversation.turns[0]?.failure?.message).toContain(
    'The turn cost $2.00; the cap of a turn is $2.00.',
  );
  const unknown = await capped({ cost: 0.01 }, [step(1), step(1), says('done')]);
  expect(unknown.session.conversation.turns[0]?.outcome).toBe('completed');
});

test('US8 what sub-agents and summaries spent within the turn counts in it', async () => {
  let spent: (() => Promise<unknown>) | null = null;
  const delegating = fakeTool('look', {
    run: async () => {
      await spent?.();
      return 'looked';
    },
  });
  const made = await agentOn([calls('look'), says('no')], { tools: [delegating], cap: { tokens: 100 } });
  const ended1: Draft = {
    type: 'agent.ended',
    agent: 'helper',
    outcome: 'completed',
    usage: { input: 150, output: 0, cacheRead: 50, cacheWrite: 0, reasoning: 0, steps: 1, unknownSteps: 0 },
    cost: 0,
    unknownCost: 0,
  } as never;
  spent = () => made.session.append([ended1]);
  await made.submit('go');
  await made.until(ended());
  expect(made.session.conversation.turns[0]?.failure?.message).toContain('used 100 tokens');
});
