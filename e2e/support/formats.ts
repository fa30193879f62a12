/** The wire formats as a script speaks them: one reply in no format's words becomes that of each, and a request is read for what every vendor demands of it. */
import type { MessagesBody } from '../../daemon/llm/formats/anthropic-messages-request.ts';
import type { ResponsesBody } from '../../daemon/llm/formats/openai-responses-request.ts';
import { messagesReply, startAnthropicServer } from '../../daemon/testing/anthropic-server.ts';
import { chatReply, startOpenAiServer, type ChatBody } from '../../daemon/testing/openai-server.ts';
import { responsesReply, startResponsesServer } from '../../daemon/testing/responses-server.ts';
import type { Reply, Script, Strict, WireServer } from '../../daemon/testing/wire-server.ts';

/** One reply in no format's words. Text in pieces goes out as so many deltas. */
export interface Said {
  readonly thought?: string;
  readonly text?: string | string[];
  readonly calls?: readonly { readonly tool: string; readonly arguments: Record<string, unknown> }[];
  /** Tokens of the request, as the vendor counts them; 100 where it is not given. */
  readonly inputTokens?: number;
}

/** What a request says of calls and results, in order: `+id` a call, `-id` its result. */
export type Marks = string[];

export interface Format {
  readonly name: 'openai-chat' | 'anthropic-messages' | 'openai-responses';
  start(script?: Script<unknown>, strict?: Strict): Promise<WireServer<unknown>>;
  reply(said: Said): Reply;
  marks(body: unknown): Marks;
  /** Names of the tools that the request offers. */
  offered(body: unknown): string[];
}

const withTexts = ({ calls = [] }: Said) =>
  calls.map((one) => ({ tool: one.tool, argumentsText: JSON.stringify(one.arguments) }));

export const formats: readonly Format[] = [
  {
    name: 'openai-chat',
    start: (script, strict) => startOpenAiServer(script, strict),
    reply: ({ thought, text, calls, inputTokens = 100 }) =>
      chatReply({
        ...(thought !== undefined && { reasoning: thought }),
        ...(text !== undefined && { text }),
        ...(calls !== undefined && { calls: [...calls] }),
        usage: { prompt_tokens: inputTokens, completion_tokens: 10 },
      }),
    marks: (body) =>
      (body as ChatBody).messages.flatMap((message) =>
        message.role === 'tool'
          ? [`-${message.tool_call_id ?? ''}`]
          : (message.tool_calls ?? []).map(({ id }) => `+${id}`),
      ),
    offered: (body) => ((body as ChatBody).tools ?? []).map((tool) => tool.function.name),
  },
  {
    name: 'anthropic-messages',
    start: (script, strict) => startAnthropicServer(script, strict),
    reply: (said) =>
      messagesReply({
        ...(said.thought !== undefined && { thinking: said.thought, signature: 'signed by the vendor' }),
        ...(said.text !== undefined && { text: said.text }),
        calls: withTexts(said),
        usage: { input_tokens: said.inputTokens ?? 100, output_tokens: 10 },
      }),
    marks: (body) =>
      (body as MessagesBody).messages.flatMap(({ content }) =>
        (typeof content === 'string' ? [] : (content as { type: string; id?: string; tool_use_id?: string }[])).flatMap(
          (block) =>
            block.type === 'tool_use'
              ? [`+${block.id ?? ''}`]
              : block.type === 'tool_result'
                ? [`-${block.tool_use_id ?? ''}`]
                : [],
        ),
      ),
    offered: (body) => ((body as { tools?: { name: string }[] }).tools ?? []).map((tool) => tool.name),
  },
  {
    name: 'openai-responses',
    start: (script, strict) => startResponsesServer(script, strict),
    reply: (said) =>
      responsesReply({
        ...(said.thought !== undefined && { reasoning: said.thought, encrypted: 'sealed by the vendor' }),
        ...(said.text !== undefined && { text: said.text }),
        calls: withTexts(said),
        usage: { input_tokens: said.inputTokens ?? 100, output_tokens: 10 },
      }),
    marks: (body) =>
      ((body as ResponsesBody).input as { type?: string; call_id?: string }[]).flatMap(({ type, call_id }) =>
        type === 'function_call' ? [`+${call_id ?? ''}`] : type === 'function_call_output' ? [`-${call_id ?? ''}`] : [],
      ),
    offered: (body) => ((body as { tools?: { name?: string }[] }).tools ?? []).map((tool) => tool.name ?? ''),
  },
];

/** What every vendor demands: right behind the calls of a reply stand their results, in the same order, and nothing else. Null: all is well. */
export function pairingProblem(marks: Marks): string | null {
  const owed: string[] = [];
  for (const mark of marks) {
    const id = mark.slice(1);
    if (mark.startsWith('+')) owed.push(id);
    else if (owed.shift() !== id) return `the result of ${id} stands where none, or another, is due`;
  }
  return owed.length === 0 ? null : `no result follows the calls ${owed.join(', ')}`;
}
