/**
 * The next request of a session of 1,000 steps. Its limit is JSON.stringify of the request that it makes: the text must be made and sent whole
 * at every step, so no projection can cost less than that in the end; what we add to it should be small beside it. `project-step` is what
 * counts at work: the projection has made the request before, one step has come, and only that step is new to it.
 */
import { bench, describe } from 'vitest';
import { fold } from '#protocol/testing/log-builder.ts';
import { workingSession } from '#protocol/testing/working-session.ts';
import { chatBody } from '../../llm/formats/openai-chat-request.ts';
import type { Item } from '../../llm/item.ts';
import { Context } from './context.ts';

const short = { time: 500, warmupTime: 150 };
const noBlob = () => Promise.resolve(null);
const { conversation, events } = workingSession(1000);
const tools = [{ name: 'bash', description: 'Runs a command.', parameters: { type: 'object' } }];
const bodyOf = (items: Item[]) =>
  chatBody({ model: 'demo', effort: null, system: 'You are a coding agent.', items, tools }, 'scripted');
const body = bodyOf(await new Context(noBlob).items(conversation));

describe('micro.project: the first request after a start', () => {
  bench('limit: JSON.stringify of it', () => void JSON.stringify(body), short);
  bench('ours', async () => void bodyOf(await new Context(noBlob).items(conversation)), short);
});

describe('micro.project-step: the request after one step more', async () => {
  const lastStep = events.findLastIndex((event) => event.type === 'step.started');
  const before = fold(events.slice(0, lastStep));
  const tail = events.slice(lastStep);
  const context = new Context(noBlob);
  bodyOf(await context.items(before));
  bench('limit: JSON.stringify of it', () => void JSON.stringify(body), short);
  // Folded anew each time, so that the last step is one that the projection has not seen.
  bench('ours', async () => void bodyOf(await context.items(fold(tail, before))), short);
});
