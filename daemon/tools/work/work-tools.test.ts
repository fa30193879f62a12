import { expect, it } from 'vitest';
import { maxPlanBytes, maxQuestionBytes, maxQuestionOptions, maxTodoBytes, maxTodos } from '../../base/limits.ts';
import { builtInTools, toolsFor } from '../registry.ts';
import { FileQueue } from '../file-queue.ts';
import { askUserTool } from './ask-user.ts';
import { proposePlanTool } from './propose-plan.ts';
import { todoTool } from './todo.ts';

const problemOf = (prepared: ReturnType<typeof todoTool.prepare>): string | null =>
  'problem' in prepared ? prepared.problem : null;

it('TL22: the list is taken whole, also in the words that other tools use', async () => {
  const prepared = todoTool.prepare({
    todos: [{ content: 'Look', status: 'completed' }, { text: 'Write', state: 'in-progress' }, 'Check'],
  });
  if ('problem' in prepared) throw new Error(prepared.problem);
  expect(prepared.display).toEqual({ title: 'Task list', kind: 'other', summary: '1 of 3 done', target: 'Write' });
  const result = await prepared.execute(undefined as never, new AbortController().signal);
  expect(result).toEqual({
    outcome: 'completed',
    content: [{ type: 'text', text: '[x] Look\n[>] Write\n[ ] Check' }],
    todos: [
      { text: 'Look', state: 'done' },
      { text: 'Write', state: 'doing' },
      { text: 'Check', state: 'open' },
    ],
  });
});

it('a list that is too long, an entry that is, and a state that is none are refused with the way to do better', () => {
  const entries = (count: number, text = 'one') => ({
    todos: Array.from({ length: count }, () => ({ text, state: 'open' })),
  });
  expect(problemOf(todoTool.prepare(entries(maxTodos)))).toBeNull();
  expect(problemOf(todoTool.prepare(entries(maxTodos + 1)))).toContain('maxTodos');
  expect(problemOf(todoTool.prepare(entries(1, 'x'.repeat(maxTodoBytes))))).toBeNull();
  expect(problemOf(todoTool.prepare(entries(1, 'x'.repeat(maxTodoBytes + 1))))).toContain('maxTodoBytes');
  expect(problemOf(todoTool.prepare({ todos: [{ text: 'a', state: 'perhaps' }] }))).toContain('open, doing or done');
  expect(problemOf(todoTool.prepare({}))).toContain('"todos" is missing');
});

it('a question, its options and a plan have limits with names', () => {
  const options = (count: number) => ({
    question: 'Which?',
    options: Array.from({ length: count }, (_, n) => `No. ${n}`),
  });
  expect(problemOf(askUserTool.prepare(options(maxQuestionOptions)))).toBeNull();
  expect(problemOf(askUserTool.prepare(options(maxQuestionOptions + 1)))).toContain('maxQuestionOptions');
  expect(problemOf(askUserTool.prepare({ question: 'x'.repeat(maxQuestionBytes) }))).toBeNull();
  expect(problemOf(askUserTool.prepare({ question: 'x'.repeat(maxQuestionBytes + 1) }))).toContain('maxQuestionBytes');
  expect(problemOf(proposePlanTool.prepare({ plan: 'x'.repeat(maxPlanBytes) }))).toBeNull();
  expect(problemOf(proposePlanTool.prepare({ plan: 'x'.repeat(maxPlanBytes + 1) }))).toContain('maxPlanBytes');
});

it('PM9: only plan mode can propose a plan', () => {
  const names = (mode: 'ask' | 'plan' | 'auto') =>
    toolsFor(mode, builtInTools(new FileQueue())).map((tool) => tool.name);
  expect(names('plan')).toContain('propose_plan');
  expect(names('plan')).toContain('ask_user');
  expect(names('ask')).not.toContain('propose_plan');
  expect(names('auto')).not.toContain('propose_plan');
});
