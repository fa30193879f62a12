/** The provider's side of Anthropic Messages. */
import { event, list, record, textOf, type Dialect } from './dialect.ts';
import type { Said } from './script.ts';

export const messages: Dialect = {
  format: 'messages',
  path: /\/messages$/,

  read(body) {
    return {
      model: String(body['model']),
      stream: body['stream'] === true,
      system: body['system'] ?? [],
      tools: list(body['tools']).map((tool) => {
        const { name, input_schema } = record(tool);
        return { name: String(name), kind: 'function', namespace: null, schema: input_schema };
      }),
      said: list(body['messages']).flatMap((message) => {
        const { role, content } = record(message);
        if (role !== 'user') return [];
        const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content).map(record);
        const results = parts.filter(({ type }) => type === 'tool_result');
        const text = textOf(parts.filter(({ type }) => type === 'text'));
        // Results stand before what the person says with them.
        const said: Said[] = results.map((result) => ({ by: 'tool', text: textOf(result['content']) }));
        if (text !== '') said.push({ by: 'user', text });
        return said;
      }),
    };
  },

  speak({ id, model, inputTokens }) {
    const usage = {
      input_tokens: inputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 10,
    };
    const head = { id, type: 'message', role: 'assistant', model };
    const content: Record<string, unknown>[] = [];
    let said = '';
    const tell = (data: { type: string }) => event(data, data.type);
    const index = () => content.length;
    const stop_reason = () => (content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn');
    return {
      begin: () =>
        tell({
          type: 'message_start',
          message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage },
        } as { type: string }),
      call(call) {
        const block = { type: 'tool_use', id: call.id, name: call.tool.name };
        const partial_json = JSON.stringify(call.arguments);
        const text = [
          { type: 'content_block_start', index: index(), content_block: { ...block, input: {} } },
          { type: 'content_block_delta', index: index(), delta: { type: 'input_json_delta', partial_json } },
          { type: 'content_block_stop', index: index() },
        ].map(tell);
        content.push({ ...block, input: call.arguments });
        return text.join('');
      },
      textBegins: () =>
        event(
          { type: 'content_block_start', index: index(), content_block: { type: 'text', text: '' } },
          'content_block_start',
        ),
      text(delta) {
        said += delta;
        return event(
          { type: 'content_block_delta', index: index(), delta: { type: 'text_delta', text: delta } },
          'content_block_delta',
        );
      },
      textEnds() {
        const end = event({ type: 'content_block_stop', index: index() }, 'content_block_stop');
        content.push({ type: 'text', text: said });
        return end;
      },
      end: () =>
        event(
          {
            type: 'message_delta',
            delta: { stop_reason: stop_reason(), stop_sequence: null },
            usage: { output_tokens: 10 },
          },
          'message_delta',
        ) + event({ type: 'message_stop' }, 'message_stop'),
      whole: () => ({ ...head, content, stop_reason: stop_reason(), stop_sequence: null, usage }),
    };
  },
};
