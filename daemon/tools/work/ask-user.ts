/** `ask_user`: a question to the person, with options and room for words of their own. The call waits for the answer as a fact of the log. */
import type { QuestionOption } from '#protocol/events/question.ts';
import { InvariantError } from '../../base/errors.ts';
import { maxQuestionBytes, maxQuestionOptions } from '../../base/limits.ts';
import { ArgumentProblem, pick, prepareWith, type Arguments } from '../arguments.ts';
import type { PreparedCall, Tool } from '../tool.ts';

export const askUserTool: Tool = {
  name: 'ask_user',
  description:
    'Asks the person and waits. Only for what you cannot find out or decide yourself. They pick an option or answer in words.',
  parameters: {
    type: 'object',
    properties: {
      question: { type: 'string' },
      options: {
        type: 'array',
        items: {
          type: 'object',
          properties: { label: { type: 'string' }, description: { type: 'string' } },
          required: ['label'],
        },
      },
    },
    required: ['question'],
  },
  readOnly: true,
  prepare: (args) => prepareWith(() => preparedQuestion(textIn(args), optionsIn(args))),
};

function preparedQuestion(text: string, options: QuestionOption[]): PreparedCall {
  return {
    display: { title: 'Ask you', kind: 'other', target: text },
    assess: () => Promise.resolve({ effect: 'question', question: { text, options, plan: null } }),
    execute: () => Promise.reject(new InvariantError('a question is answered, not executed')),
  };
}

function textIn(args: Arguments): string {
  const text = pick(args, ['question', 'text', 'prompt']);
  if (typeof text !== 'string' || text.trim() === '')
    throw new ArgumentProblem('"question" is missing: give it as a string.');
  return bounded(text.trim(), '"question"');
}

function optionsIn(args: Arguments): QuestionOption[] {
  const list = pick(args, ['options', 'choices']) ?? [];
  if (!Array.isArray(list)) throw new ArgumentProblem('"options" must be an array of {label, description}.');
  if (list.length > maxQuestionOptions)
    throw new ArgumentProblem(
      `A question has ${maxQuestionOptions} options at most (maxQuestionOptions), not ${list.length}.`,
    );
  return list.map((one: unknown, place) => {
    const entry: Arguments = typeof one === 'string' ? { label: one } : ((one ?? {}) as Arguments);
    const { label, description } = entry;
    if (typeof label !== 'string' || label.trim() === '')
      throw new ArgumentProblem(`Option ${place + 1} of "options" has no label.`);
    return {
      label: bounded(label.trim(), `The label of option ${place + 1}`),
      ...(typeof description === 'string' && description.trim() !== ''
        ? { description: bounded(description.trim(), `The description of option ${place + 1}`) }
        : {}),
    };
  });
}

function bounded(text: string, what: string): string {
  if (Buffer.byteLength(text) <= maxQuestionBytes) return text;
  throw new ArgumentProblem(`${what} is longer than ${maxQuestionBytes} bytes (maxQuestionBytes): say it shorter.`);
}
