/**
 * Replies in the format of OpenAI Chat Completions, for a provider on loopback that is played by script (wire-server.ts).
 *
 *   const server = await startOpenAiServer();
 *   server.enqueue(chatReply({ text: ['Hel', 'lo'] }), chatReply({ calls: [{ tool: 'read', arguments: { path: 'a' } }] }));
 */
import {
  bytes,
  bytesReply,
  listOf,
  pieces,
  startWireServer,
  type RecordedRequest,
  type Act,
  type Reply,
  type Script,
  type Strict,
  type WireServer,
} from './wire-server.ts';
import { chatDemand } from './strict-requests.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null | { type: string; text?: string; image_url?: { url: string } }[];
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  reasoning_content?: string;
}

export interface ChatBody {
  model: string;
  messages: ChatMessage[];
  stream: boolean;
  stream_options?: { include_usage: boolean };
  tools?: { type: string; function: { name: string; description: string; parameters: Record<string, unknown> } }[];
  reasoning_effort?: string;
}

export type OpenAiServer = WireServer<ChatBody>;
export type ChatRequest = RecordedRequest<ChatBody>;
export type ChatScript = Script<ChatBody>;

export interface ChatReply {
  reasoning?: string | string[];
  /** The field that carries the reasoning. */
  reasoningField?: 'reasoning_content' | 'reasoning';
  text?: string | string[];
  /** `arguments` given as text go out as they are, valid or not; `pieces` splits them into so many deltas. */
  calls?: { id?: string; tool: string; arguments: Record<string, unknown> | string; pieces?: number }[];
  /** Null leaves the finish reason out, as a cut reply does. */
  finish?: string | null;
  /** Null sends no usage. */
  usage?: Record<string, unknown> | null;
  /** Waits before each delta. */
  delayMs?: number;
}

/** Its URL ends in `/v1`. */
export function startOpenAiServer(script?: ChatScript, strict: Strict = {}): Promise<OpenAiServer> {
  return startWireServer('/v1', script, { demand: chatDemand, ...strict });
}

/** A whole reply as a provider streams it: reasoning, text, calls, finish reason, usage, [DONE]. */
export function chatReply(reply: ChatReply): Reply {
  const chunks: unknown[] = [delta({ role: 'assistant', content: '' })];
  const field = reply.reasoningField ?? 'reasoning_content';
  for (const text of listOf(reply.reasoning)) chunks.push(delta({ [field]: text }));
  for (const text of listOf(reply.text)) chunks.push(delta({ content: text }));
  const calls = reply.calls ?? [];
  for (const [index, call] of calls.entries()) {
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    const id = call.id ?? `call_${index + 1}`;
    chunks.push(callDelta({ index, id, type: 'function', function: { name: call.tool, arguments: '' } }));
    for (const piece of pieces(text, call.pieces ?? 1))
      chunks.push(callDelta({ index, function: { arguments: piece } }));
  }
  if (reply.finish !== null) chunks.push(finish(reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')));
  if (reply.usage !== null) chunks.push(usageChunk(reply.usage ?? { prompt_tokens: 100, completion_tokens: 10 }));
  return chunkReply(chunks, reply.delayMs === undefined ? {} : { delayMs: reply.delayMs });
}

/** A reply of raw chunks, each one `data:` line; `[DONE]` follows unless it is told not to. */
export function chunkReply(chunks: unknown[], options: { done?: boolean; delayMs?: number } = {}): Reply {
  const lines = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  if (options.done ?? true) lines.push('data: [DONE]\n\n');
  const wait: Act[] = options.delayMs === undefined ? [] : [{ act: 'wait', ms: options.delayMs }];
  return bytesReply(lines.flatMap((line) => [...wait, bytes(line)]));
}

/** One chunk with a delta of the first choice. */
export function delta(content: Record<string, unknown>): unknown {
  return { ...envelope, choices: [{ index: 0, delta: content, finish_reason: null }] };
}

/** One chunk with one piece of a tool call, in the wire's own words. */
export function callDelta(piece: Record<string, unknown>): unknown {
  return delta({ tool_calls: [piece] });
}

export function finish(reason: string): unknown {
  return { ...envelope, choices: [{ index: 0, delta: {}, finish_reason: reason }] };
}

export function usageChunk(usage: Record<string, unknown>): unknown {
  return { ...envelope, choices: [], usage };
}

const envelope = {
  id: 'chatcmpl-scripted',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'scripted',
};
