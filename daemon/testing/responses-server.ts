/** Replies in the format of OpenAI Responses, for a provider on loopback that is played by script (wire-server.ts). */
import type { ResponsesBody } from '../llm/formats/openai-responses-request.ts';
import {
  eventReply,
  listOf,
  startWireServer,
  type Reply,
  type Script,
  type Strict,
  type WireServer,
} from './wire-server.ts';
import { responsesDemand } from './strict-requests.ts';

export interface ResponsesReply {
  reasoning?: string | string[];
  /** Encrypted content that comes with the reasoning. */
  encrypted?: string;
  text?: string | string[];
  calls?: { id?: string; tool: string; argumentsText: string }[];
  /** Null leaves out the end of the response, as a cut reply does. */
  end?: Record<string, unknown> | null;
  usage?: Record<string, unknown> | null;
}

/** Its URL ends in `/v1`. */
export function startResponsesServer(
  script?: Script<ResponsesBody>,
  strict: Strict = {},
): Promise<WireServer<ResponsesBody>> {
  return startWireServer<ResponsesBody>('/v1', script, { demand: responsesDemand, ...strict });
}

export function responsesReply(reply: ResponsesReply): Reply {
  return eventReply(responsesEvents(reply));
}

export function responsesEvents(reply: ResponsesReply): unknown[] {
  const events: unknown[] = [{ type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } }];
  let output_index = -1;
  const item = (content: Record<string, unknown>, deltas: unknown[], whole: Record<string, unknown>) => {
    output_index += 1;
    events.push({ type: 'response.output_item.added', output_index, item: content });
    for (const delta of deltas) events.push({ output_index, ...(delta as object) });
    events.push({ type: 'response.output_item.done', output_index, item: { ...content, ...whole } });
  };
  if (reply.reasoning !== undefined) {
    const deltas = listOf(reply.reasoning).map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      summary_index: 0,
      delta,
    }));
    const encrypted = reply.encrypted === undefined ? {} : { encrypted_content: reply.encrypted };
    item({ type: 'reasoning', id: 'rs_1', summary: [] }, deltas, encrypted);
  }
  if (reply.text !== undefined) {
    const deltas = listOf(reply.text).map((delta) => ({ type: 'response.output_text.delta', content_index: 0, delta }));
    item({ type: 'message', id: 'msg_1', role: 'assistant', content: [] }, deltas, {});
  }
  for (const [place, call] of (reply.calls ?? []).entries()) {
    const content = { type: 'function_call', call_id: call.id ?? `call_${place + 1}`, name: call.tool, arguments: '' };
    const delta = { type: 'response.function_call_arguments.delta', delta: call.argumentsText };
    item(content, [delta], { arguments: call.argumentsText });
  }
  if (reply.end === null) return events;
  const usage = reply.usage === undefined ? { input_tokens: 100, output_tokens: 10 } : reply.usage;
  const end = { type: 'response.completed', ...reply.end };
  const { type, ...more } = end;
  events.push({ type, response: { id: 'resp_1', usage, ...more } });
  return events;
}
