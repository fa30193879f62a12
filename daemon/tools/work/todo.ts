/** `todo`: the agent's list of what it is at, always given whole, so that no edit of a list can go wrong. It changes nothing but that list. */
import type { Todo } from '#protocol/events/work.ts';
import { maxTodoBytes, maxTodos } from '../../base/limits.ts';
import { ArgumentProblem, pick, prepareWith, type Arguments } from '../arguments.ts';
import type { PreparedCall, Tool } from '../tool.ts';

export const todoTool: Tool = {
  name: 'todo',
  description: 'Replaces your task list, which the person sees. Use it for work of several steps; give the whole list.',
  parameters: {
    type: 'object',
    properties: {
      todos: {
        type: 'array',
        items: {
          type: 'object',
          properties: { text: { type: 'string' }, state: { enum: ['open', 'doing', 'done'] } },
          required: ['text', 'state'],
        },
      },
    },
    required: ['todos'],
  },
  readOnly: true,
  prepare: (args) => prepareWith(() => preparedTodo(todosIn(args))),
};

function preparedTodo(todos: readonly Todo[]): PreparedCall {
  const done = todos.filter((one) => one.state === 'done').length;
  const doing = todos.find((one) => one.state === 'doing');
  return {
    display: {
      title: 'Task list',
      kind: 'other',
      summary: todos.length === 0 ? 'empty' : `${done} of ${todos.length} done`,
      ...(doing === undefined ? {} : { target: doing.text }),
    },
    assess: () => Promise.resolve({ effect: 'read', caution: null, rulePattern: '*' }),
    execute: () => Promise.resolve({ outcome: 'completed', content: [{ type: 'text', text: listOf(todos) }], todos }),
  };
}

function listOf(todos: readonly Todo[]): string {
  if (todos.length === 0) return 'The task list is empty.';
  const marks = { open: '[ ]', doing: '[>]', done: '[x]' };
  return todos.map((one) => `${marks[one.state]} ${one.text}`).join('\n');
}

function todosIn(args: Arguments): Todo[] {
  const list = pick(args, ['todos', 'items', 'tasks', 'list']);
  if (!Array.isArray(list))
    throw new ArgumentProblem('"todos" is missing: give the whole list, an array of {text, state}.');
  if (list.length > maxTodos)
    throw new ArgumentProblem(
      `A task list has ${maxTodos} entries at most (maxTodos), not ${list.length}: put some together.`,
    );
  return list.map((one: unknown, place) => todoOf(one, place + 1));
}

function todoOf(value: unknown, place: number): Todo {
  const entry: Arguments = typeof value === 'string' ? { text: value } : ((value ?? {}) as Arguments);
  const text = pick(entry, ['text', 'content', 'title', 'task']);
  if (typeof text !== 'string' || text.trim() === '')
    throw new ArgumentProblem(`Entry ${place} of "todos" has no text.`);
  if (Buffer.byteLength(text) > maxTodoBytes)
    throw new ArgumentProblem(
      `Entry ${place} of "todos" is longer than ${maxTodoBytes} bytes (maxTodoBytes): say it shorter.`,
    );
  return { text: text.trim(), state: stateOf(pick(entry, ['state', 'status']), place) };
}

function stateOf(value: unknown, place: number): Todo['state'] {
  switch (typeof value === 'string' ? value.toLowerCase().replaceAll(/[\s-]/g, '_') : value) {
    case undefined:
    case 'open':
    case 'todo':
    case 'pending':
      return 'open';
    case 'doing':
    case 'in_progress':
    case 'active':
      return 'doing';
    case 'done':
    case 'completed':
      return 'done';
    default:
      throw new ArgumentProblem(
        `The state of entry ${place} of "todos" is ${JSON.stringify(value)}; it can be open, doing or done.`,
      );
  }
}
