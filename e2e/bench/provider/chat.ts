/** The provider's side of OpenAI Chat Completions. */
import { event, isSystem, list, record, textOf, type Dialect } from './dialect.ts';
import type { Said } from './script.ts';

export const chat: Dialect = {
  format: 'chat',
  path: /\/chat\/completions$/,

  read(body) {
    const messages = list(body['messages']).map(record);
    return {
      model: String(body['model']),
      stream: body['stream'] === true,
      system: messages.filter(({ role }) => isSystem(role)).map(({ content }) => content),
      tools: list(body['tools']).map((tool) => {
        const { name, parameters } = record(record(tool)['function']);
        return { name: String(name), kind: 'function', namespace: null, schema: parameters };
      }),
      said: messages.flatMap(({ role, content }): Said[] =>
        role === 'user' || role === 'tool' ? [{ by: role, text: textOf(content) }] : [],
      ),
    };
  },

  speak({ id, model, inputTokens }) {
    const head = { id, object: 'chat.completion.chunk', created: Math.floor(Date.now() / 1000), model };
    const usage = { prompt_tokens: inputTokens, completion_tokens: 10, total_tokens: inputTokens + 10 };
    const calls: unknown[] = [];
    let said = '';
    const chunk = (delta: object, finish: string | null = null) =>
      event({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
    const finish = () => (calls.length > 0 ? 'tool_calls' : 'stop');
    return {
      begin: () => chunk({ role: 'assistant', content: '' }),
      call(call) {
        const { name } = call.tool;
        const whole = {
          index: calls.length,
          id: call.id,
          type: 'function',
          function: { name, arguments: JSON.stringify(call.arguments) },
        };
        calls.push(whole);
        return chunk({ tool_calls: [whole] });
      },
      textBegins: () => '',
      text(delta) {
        said += delta;
        return chunk({ content: delta });
      },
      textEnds: () => '',
      end: () => `${chunk({}, finish())}${event({ ...head, choices: [], usage })}data: [DONE]\n\n`,
      whole: () => ({
        ...head,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: said, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
            finish_reason: finish(),
          },
        ],
        usage,
      }),
    };
  },
};
