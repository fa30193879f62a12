/** Replies in the format of Anthropic Messages, for a provider on loopback that is played by script (wire-server.ts). */
import {
  eventReply,
  listOf,
  pieces,
  startWireServer,
  type Reply,
  type Script,
  type Strict,
  type WireServer,
} from './wire-server.ts';
import { messagesDemand } from './strict-requests.ts';
import type { MessagesBody } from '../llm/formats/anthropic-messages-request.ts';

export interface MessagesReply {
  thinking?: string | string[];
  signature?: string;
  redacted?: string;
  text?: string | string[];
  /** Arguments go out as they are, valid or not, in so many deltas. */
  calls?: { id?: string; tool: string; argumentsText: string; pieces?: number }[];
  /** Null leaves out the stop reason and all behind it, as a cut reply does. */
  stop?: string | null;
  /** Of the end; null sends none anywhere. */
  usage?: Record<string, unknown> | null;
  /** Of the start. */
  startUsage?: Record<string, unknown>;
}

export function startAnthropicServer(
  script?: Script<MessagesBody>,
  strict: Strict = {},
): Promise<WireServer<MessagesBody>> {
  return startWireServer<MessagesBody>('', script, { demand: messagesDemand, ...strict });
}

/** A whole reply as the provider streams it. */
export function messagesReply(reply: MessagesReply): Reply {
  return eventReply(messagesEvents(reply));
}

export function messagesEvents(reply: MessagesReply): unknown[] {
  const start = reply.startUsage === undefined ? {} : { usage: reply.startUsage };
  const events: unknown[] = [
    { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], ...start } },
    { type: 'ping' },
  ];
  let index = -1;
  const block = (content: Record<string, unknown>, deltas: Record<string, unknown>[]) => {
    index += 1;
    events.push({ type: 'content_block_start', index, content_block: content });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  };
  if (reply.thinking !== undefined) {
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...listOf(reply.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: reply.signature ?? 'signed' },
    ]);
  }
  if (reply.redacted !== undefined) block({ type: 'redacted_thinking', data: reply.redacted }, []);
  if (reply.text !== undefined) {
    block(
      { type: 'text', text: '' },
      listOf(reply.text).map((text) => ({ type: 'text_delta', text })),
    );
  }
  const calls = reply.calls ?? [];
  for (const [place, call] of calls.entries()) {
    block(
      { type: 'tool_use', id: call.id ?? `toolu_${place + 1}`, name: call.tool, input: {} },
      ['', ...pieces(call.argumentsText, call.pieces ?? 1)].map((json) => ({
        type: 'input_json_delta',
        partial_json: json,
      })),
    );
  }
  if (reply.stop === null) return events.slice(0, -1);
  const usage = reply.usage === null ? {} : { usage: reply.usage ?? { input_tokens: 100, output_tokens: 10 } };
  const stop_reason = reply.stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn');
  events.push({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, ...usage });
  events.push({ type: 'message_stop' });
  return events;
}

export function messagesError(type: string, message: string): unknown {
  return { type: 'error', error: { type, message } };
}
