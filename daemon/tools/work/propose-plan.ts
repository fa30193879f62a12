/** `propose_plan`: how plan mode ends. A person reads the plan and goes on in the mode that they choose, or dismisses it; the call waits for that. */
import type { QuestionOption } from '#protocol/events/question.ts';
import { InvariantError } from '../../base/errors.ts';
import { maxPlanBytes } from '../../base/limits.ts';
import { ArgumentProblem, pick, prepareWith, type Arguments } from '../arguments.ts';
import type { Tool } from '../tool.ts';

/** In the order of the buttons: the careful way on first. */
const choices: readonly QuestionOption[] = [
  { label: 'Accept, ask before changes', plan: 'ask' },
  { label: 'Accept, run by itself', plan: 'auto' },
  { label: 'Dismiss', plan: 'dismiss' },
];

export const proposePlanTool: Tool = {
  name: 'propose_plan',
  description: 'Hands the finished plan to the person, who accepts it, so that you carry it out, or dismisses it.',
  parameters: {
    type: 'object',
    properties: {
      plan: { type: 'string', description: 'Markdown: what will be done, in which files, how it is checked.' },
    },
    required: ['plan'],
  },
  readOnly: true,
  modes: ['plan'],
  forPeople: true,
  prepare: (args) =>
    prepareWith(() => {
      const plan = planIn(args);
      return {
        display: { title: 'Propose a plan', kind: 'other' },
        assess: () =>
          Promise.resolve({
            effect: 'question',
            question: { text: 'Go on with this plan?', options: choices, plan },
          }),
        execute: () => Promise.reject(new InvariantError('a plan is decided, not executed')),
      };
    }),
};

function planIn(args: Arguments): string {
  const plan = pick(args, ['plan', 'text']);
  if (typeof plan !== 'string' || plan.trim() === '')
    throw new ArgumentProblem('"plan" is missing: give it as Markdown.');
  if (Buffer.byteLength(plan) > maxPlanBytes)
    throw new ArgumentProblem(`"plan" is longer than ${maxPlanBytes} bytes (maxPlanBytes): a person has to read it.`);
  return plan.trim();
}
