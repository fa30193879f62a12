/** The provider's side of OpenAI Responses. */
import { event, isSystem, list, record, textOf, type Call, type Dialect } from './dialect.ts';
import type { Said } from './script.ts';
import type { OfferedTool } from './shell-tool.ts';

export const responses: Dialect = {
  format: 'responses',
  path: /\/responses$/,

  read(body) {
    const { input } = body;
    const items = (typeof input === 'string' ? [{ role: 'user', content: input }] : list(input)).map(record);
    return {
      model: String(body['model']),
      stream: body['stream'] === true,
      system: [body['instructions'] ?? '', ...items.filter(({ role }) => isSystem(role)).map(({ content }) => content)],
      tools: list(body['tools']).flatMap((tool) => toolsIn(record(tool), null)),
      said: items.flatMap(({ role, type, content, output }): Said[] => {
        if (role === 'user') return [{ by: 'user', text: textOf(content) }];
        if (typeof type === 'string' && type.endsWith('_call_output')) return [{ by: 'tool', text: textOf(output) }];
        return [];
      }),
    };
  },

  speak({ id, model, inputTokens }) {
    const usage = {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + 10,
    };
    const head = { id: `resp_${id}`, object: 'response', created_at: Math.floor(Date.now() / 1000), model };
    const output: unknown[] = [];
    const message = `msg_${id}`;
    let number = 0;
    let said = '';
    const place = () => output.length;
    const tell = (type: string, data: object) => event({ type, sequence_number: number++, ...data }, type);
    const opened = () => ({ response: { ...head, status: 'in_progress', output: [], usage: null } });
    const done = () => ({ ...head, status: 'completed', output, usage });
    const spoken = () => ({ type: 'output_text', text: said, annotations: [] });
    const inText = () => ({ item_id: message, output_index: place(), content_index: 0 });
    return {
      begin: () => tell('response.created', opened()) + tell('response.in_progress', opened()),
      call(call) {
        const item = itemOf(call);
        const at = { output_index: place() };
        const isFunction = item['type'] === 'function_call';
        const begun = { ...item, status: 'in_progress', ...(isFunction ? { arguments: '' } : {}) };
        const words = { item_id: item['id'], ...at };
        const text = [
          tell('response.output_item.added', { ...at, item: begun }),
          ...(isFunction
            ? [
                tell('response.function_call_arguments.delta', { ...words, delta: item['arguments'] }),
                tell('response.function_call_arguments.done', { ...words, arguments: item['arguments'] }),
              ]
            : []),
          tell('response.output_item.done', { ...at, item }),
        ];
        output.push(item);
        return text.join('');
      },
      textBegins: () =>
        tell('response.output_item.added', {
          output_index: place(),
          item: { id: message, type: 'message', role: 'assistant', status: 'in_progress', content: [] },
        }) + tell('response.content_part.added', { ...inText(), part: { ...spoken(), text: '' } }),
      text(delta) {
        said += delta;
        return tell('response.output_text.delta', { ...inText(), delta });
      },
      textEnds() {
        const item = { id: message, type: 'message', role: 'assistant', status: 'completed', content: [spoken()] };
        const text =
          tell('response.output_text.done', { ...inText(), text: said }) +
          tell('response.content_part.done', { ...inText(), part: spoken() }) +
          tell('response.output_item.done', { output_index: place(), item });
        output.push(item);
        return text;
      },
      end: () => tell('response.completed', { response: done() }),
      whole: done,
    };
  },
};

/** Tools may stand in groups with a name of their own. */
function toolsIn(tool: Record<string, unknown>, namespace: string | null): OfferedTool[] {
  const { type, name, parameters } = tool;
  if (type === 'namespace') return list(tool['tools']).flatMap((one) => toolsIn(record(one), String(name)));
  const kind = type === 'local_shell' || type === 'custom' ? type : 'function';
  return [{ name: String(name ?? type), kind, namespace, schema: parameters }];
}

function itemOf({ id, tool, command, arguments: given }: Call): Record<string, unknown> {
  const common = { status: 'completed', call_id: id };
  switch (tool.kind) {
    case 'local_shell': {
      const action = { type: 'exec', command: ['bash', '-lc', command], env: {} };
      return { id: `ls_${id}`, type: 'local_shell_call', ...common, action };
    }
    case 'custom':
      return { id: `ct_${id}`, type: 'custom_tool_call', ...common, name: tool.name, input: command };
    case 'function': {
      const namespace = tool.namespace === null ? {} : { namespace: tool.namespace };
      const text = JSON.stringify(given);
      return { id: `fc_${id}`, type: 'function_call', ...common, name: tool.name, ...namespace, arguments: text };
    }
  }
}
