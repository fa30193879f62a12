/** `task`: gives a job to a sub-agent, which works in a session of its own and answers with its last reply. The agent's runtime carries it out. */
import { InvariantError } from '../../base/errors.ts';
import { maxTaskBytes, subAgentTokens } from '../../base/limits.ts';
import { ArgumentProblem, pick, prepareWith, type Arguments } from '../arguments.ts';
import type { Assignment, Tool } from '../tool.ts';

export const taskTool: Tool = {
  name: 'task',
  description: `Gives a job to a sub-agent: fresh context, your tools, ${subAgentTokens / 1000}k tokens. Its last reply is the result. Several calls in one reply run at once.`,
  parameters: {
    type: 'object',
    properties: {
      description: { type: 'string', description: 'Three to five words' },
      prompt: { type: 'string', description: 'All it needs to know, and what to report' },
      model: { type: 'string', description: 'provider/model; leave out' },
    },
    required: ['description', 'prompt'],
  },
  readOnly: true,
  startsAgents: true,
  prepare: (args) =>
    prepareWith(() => {
      const assignment = assignmentIn(args);
      return {
        display: { title: 'Task', kind: 'other', target: assignment.agent },
        assess: () => Promise.resolve({ effect: 'agent', assignment }),
        execute: () => Promise.reject(new InvariantError('a task is carried out by a sub-agent, not executed')),
      };
    }),
};

function assignmentIn(args: Arguments): Assignment {
  const prompt = pick(args, ['prompt', 'task', 'instructions']);
  if (typeof prompt !== 'string' || prompt.trim() === '')
    throw new ArgumentProblem('"prompt" is missing: say as a string what the sub-agent is to do.');
  if (Buffer.byteLength(prompt) > maxTaskBytes)
    throw new ArgumentProblem(
      `"prompt" is longer than ${maxTaskBytes} bytes (maxTaskBytes): name files instead of copying them.`,
    );
  const name = pick(args, ['description', 'title', 'name']);
  const words = typeof name === 'string' ? name.trim().replaceAll(/\s+/g, ' ') : '';
  const model = pick(args, ['model']);
  return {
    agent: (words === '' ? (prompt.trim().split('\n', 1)[0] ?? '') : words).slice(0, 80),
    prompt,
    model: typeof model === 'string' && /^[^/\s]+\/\S+$/.test(model) ? model : null,
  };
}
