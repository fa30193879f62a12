import { expect, it } from 'vitest';
import type { QuestionId } from '#protocol/values/ids.ts';
import { agentOn, allCalls, calls, ended, fakeTool, says, textOfCall } from '../testing/agent-on.ts';
import { askUserTool } from '../tools/work/ask-user.ts';
import { proposePlanTool } from '../tools/work/propose-plan.ts';
import { todoTool } from '../tools/work/todo.ts';
import type { Action } from '../llm/scripted/scripted.ts';

const asks: Action[] = [
  {
    type: 'call',
    tool: 'ask_user',
    arguments: { question: 'Which bed?', options: [{ label: 'North', description: 'shady' }, { label: 'South' }] },
  },
];
const proposes: Action[] = [{ type: 'call', tool: 'propose_plan', arguments: { plan: '1. Plant moss.' } }];
const first = 'qst_1' as QuestionId;
const asked = (c: { questions: readonly unknown[] }) => c.questions.length === 1;

it('TL21: a question waits with its options, and an answer goes on with the turn', async () => {
  const made = await agentOn([asks, says('South it is.')], { tools: [askUserTool] });
  await made.submit('plant');
  const { questions } = await made.until(asked);
  expect(questions).toEqual([
    {
      questionId: 'qst_1',
      callId: 'cal_1',
      at: expect.any(Number) as number,
      text: 'Which bed?',
      options: [{ label: 'North', description: 'shady' }, { label: 'South' }],
    },
  ]);
  await made.agent.reply({ questionId: first, option: 1, text: 'by the wall', by: 'Pixel' }, made.ids.mark());
  const after = await made.until(ended());
  expect(after.questions).toEqual([]);
  expect(textOfCall(allCalls(after)[0])).toBe('The person answers: South: by the wall');
});

it('TL21 RT25: a question survives a restart with its age; the answer goes on from the fold', async () => {
  const made = await agentOn([asks, says('Fine.')], { tools: [askUserTool] });
  await made.submit('plant');
  const before = await made.until(asked);
  const again = await made.restart();
  expect(again.agent.state).toBe('paused');
  expect(again.agent.conversation.questions).toEqual(before.questions);
  await again.agent.reply({ questionId: first, text: 'Neither.', by: 'Pixel' }, made.ids.mark());
  const after = await again.until(ended());
  expect(after.lastOutcome).toBe('completed');
  expect(textOfCall(allCalls(after)[0])).toBe('The person answers: Neither.');
});

it('TL21: it is answered once; a second answer is told that it is stale, and a repeat of the first gets its answer', async () => {
  const made = await agentOn([asks, says('Fine.')], { tools: [askUserTool] });
  await made.submit('plant');
  await made.until(asked);
  const answer = { questionId: first, option: 0, by: 'Pixel' };
  await expect(made.agent.reply({ ...answer, option: 2 }, made.ids.mark())).rejects.toMatchObject({
    code: 'invalid_params',
  });
  await expect(made.agent.reply({ questionId: first, text: ' ', by: 'x' }, made.ids.mark())).rejects.toMatchObject({
    code: 'invalid_params',
  });
  const mark = made.ids.mark();
  const seq = await made.agent.reply(answer, mark);
  expect(await made.agent.reply(answer, mark)).toBe(seq);
  await expect(made.agent.reply(answer, made.ids.mark())).rejects.toMatchObject({ code: 'stale' });
  await made.until(ended());
});

it('TL21: an abort withdraws the question and ends its call', async () => {
  const made = await agentOn([asks], { tools: [askUserTool] });
  await made.submit('plant');
  await made.until(asked);
  await made.agent.abort(made.ids.mark());
  const after = await made.until(ended());
  expect(after.questions).toEqual([]);
  expect(allCalls(after).map((call) => call.outcome)).toEqual(['skipped']);
});

it('TL21: where nobody can answer the agent is told to decide itself', async () => {
  const made = await agentOn([asks, says('North.')], { tools: [askUserTool], noAnswer: () => 'Decide yourself.' });
  await made.submit('plant');
  const after = await made.until(ended());
  expect(textOfCall(allCalls(after)[0])).toBe('Decide yourself.');
  expect(after.counts.questions).toBe(0);
});

it('PM9: an accepted plan is carried out in the same turn, in the mode that was chosen', async () => {
  const ran: string[] = [];
  const change = fakeTool('change', { effect: 'change', run: () => Promise.resolve(String(ran.push('change'))) });
  const made = await agentOn([proposes, calls('change'), says('Done.')], { tools: [proposePlanTool, change] });
  await made.agent.configure({ mode: 'plan' }, made.ids.mark());
  await made.submit('plant');
  const open = await made.until(asked);
  expect(open.plan).toEqual({ text: '1. Plant moss.', decision: null });
  expect(made.model.requests[0]?.tools.map((tool) => tool.name)).toEqual(['propose_plan']);
  const again = await made.restart();
  await again.agent.reply({ questionId: first, option: 1, by: 'Pixel' }, made.ids.mark());
  const after = await again.until(ended());
  expect(after.plan).toEqual({ text: '1. Plant moss.', decision: 'accepted' });
  expect(after.settings.mode).toBe('auto');
  expect(made.model.requests[1]?.tools.map((tool) => tool.name)).toEqual(['change']);
  expect(ran).toEqual(['change']);
});

it('PM9: a dismissed plan changes no mode, and the note reaches the agent; words alone ask for another plan', async () => {
  const made = await agentOn([proposes, proposes, says('As you wish.')], { tools: [proposePlanTool] });
  await made.agent.configure({ mode: 'plan' }, made.ids.mark());
  await made.submit('plant');
  await made.until(asked);
  await made.agent.reply({ questionId: first, text: 'No moss.', by: 'Pixel' }, made.ids.mark());
  await made.until((c) => c.questions[0]?.questionId === 'qst_2');
  await made.agent.reply({ questionId: 'qst_2' as QuestionId, option: 2, by: 'Pixel' }, made.ids.mark());
  const after = await made.until(ended());
  expect(after.plan?.decision).toBe('dismissed');
  expect(after.settings.mode).toBe('plan');
  expect(allCalls(after).map((call) => textOfCall(call))).toEqual([
    'The person dismissed the plan. They say: No moss. Change the plan accordingly and propose it again.',
    'The person dismissed the plan. Stop here and say shortly that it was dismissed.',
  ]);
});

it('PM9: a plan that its turn took along is withdrawn, not open for ever', async () => {
  const made = await agentOn([proposes], { tools: [proposePlanTool] });
  await made.agent.configure({ mode: 'plan' }, made.ids.mark());
  await made.submit('plant');
  await made.until(asked);
  await made.agent.abort(made.ids.mark());
  expect((await made.until(ended())).plan).toEqual({ text: '1. Plant moss.', decision: 'withdrawn' });
});

it('TL22: the list survives a restart', async () => {
  const list: Action[] = [{ type: 'call', tool: 'todo', arguments: { todos: [{ text: 'Dig', state: 'doing' }] } }];
  const made = await agentOn([list, says('Digging.')], { tools: [todoTool] });
  await made.submit('dig');
  await made.until(ended());
  const again = await made.restart();
  expect(again.agent.conversation.todos).toEqual([{ text: 'Dig', state: 'doing' }]);
});
