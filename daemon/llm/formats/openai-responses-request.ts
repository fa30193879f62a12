/**
 * Neutral items -> the body of an OpenAI Responses request. Pure. Nothing is stored at the vendor's: the whole conversation goes each time,
 * calls and their results matched by call_id, and encrypted reasoning goes back to the model family that made it.
 */
import type { Item, ItemPart, ModelRequest, ReplyPiece } from '../item.ts';
import { madeBy } from './provenance.ts';
import { recordOf, textOf } from './wire-json.ts';

export interface ResponsesBody {
  model: string;
  stream: true;
  store: false;
  instructions?: string;
  input: InputItem[];
  tools?: {
    type: 'function';
    name: string;
    description: string;
    parameters: Record<string, unknown>;
    strict: false;
  }[];
  include?: string[];
  reasoning?: { effort: string; summary?: 'auto' };
  max_output_tokens?: number;
  /** Requests of one session are brought to where its beginning is kept. */
  prompt_cache_key?: string;
}

type Content =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string };
export type InputItem =
  | { role: 'user'; content: string | Content[] }
  | { role: 'assistant' | 'developer'; content: string }
  | { type: 'reasoning'; id: string; summary: { type: 'summary_text'; text: string }[]; encrypted_content: string }
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string | Content[] };

/** How reasoning of this format is told from that of others: its id and encrypted content follow, as JSON. */
export const encryptedReasoning = 'responses:';

export function responsesBody(request: ModelRequest, provider: string, maxOutputTokens: number | null): ResponsesBody {
  const { effort } = request;
  const reasons = !/^(gpt-3|gpt-4|chatgpt-)/.test(request.model);
  return {
    model: request.model,
    stream: true,
    store: false,
    ...(request.system !== '' && { instructions: request.system }),
    input: [
      ...request.items.flatMap((item) => inputOf(item, provider, request.model)),
      // Last, so that it changes nothing of what was read before.
      ...((request.hints ?? '') === '' ? [] : [{ role: 'developer' as const, content: request.hints ?? '' }]),
    ],
    ...(request.session !== undefined && { prompt_cache_key: request.session.slice(0, 64) }),
    ...(request.tools.length > 0 && {
      tools: request.tools.map((tool) => ({ type: 'function', ...tool, strict: false })),
    }),
    // Models that do not reason refuse both.
    ...(reasons && { include: ['reasoning.encrypted_content'] }),
    ...(reasons &&
      effort !== null && { reasoning: effort === 'off' ? { effort: 'none' } : { effort, summary: 'auto' } }),
    ...(maxOutputTokens !== null && { max_output_tokens: maxOutputTokens }),
  };
}

function inputOf(item: Item, provider: string, model: string): InputItem[] {
  switch (item.type) {
    case 'person':
      return [{ role: 'user', content: contentOf(item.parts) }];
    case 'reply':
      return replyItems(item.pieces, madeBy(item, provider, model));
    case 'result':
      return [
        {
          type: 'function_call_output',
          call_id: item.callId,
          output: item.parts.length === 0 ? '(No output.)' : contentOf(item.parts),
        },
      ];
  }
}

function contentOf(parts: ItemPart[]): string | Content[] {
  if (parts.every((part) => part.type === 'text')) return parts.map((part) => part.text).join('\n');
  return parts.map((part) => {
    if (part.type === 'text') return { type: 'input_text', text: part.text };
    const url = `data:${part.mediaType};base64,${part.base64}`;
    return part.type === 'image'
      ? { type: 'input_image', image_url: url, detail: 'auto' }
      : { type: 'input_file', filename: part.name, file_data: url };
  });
}

function replyItems(pieces: ReplyPiece[], own: boolean): InputItem[] {
  const items = pieces.flatMap((piece): InputItem[] => {
    switch (piece.type) {
      case 'text':
        return piece.text === '' ? [] : [{ role: 'assistant', content: piece.text }];
      case 'reasoning':
        return own ? reasoningItem(piece.text, piece.signature ?? '') : [];
      case 'tool-call':
        return [{ type: 'function_call', call_id: piece.callId, name: piece.tool, arguments: piece.argumentsText }];
    }
  });
  // Reasoning without the item that followed it is refused.
  return items.slice(0, items.findLastIndex((item) => !('type' in item) || item.type !== 'reasoning') + 1);
}

function reasoningItem(text: string, signature: string): InputItem[] {
  if (!signature.startsWith(encryptedReasoning)) return [];
  const kept = recordOf(JSON.parse(signature.slice(encryptedReasoning.length)));
  return [
    {
      type: 'reasoning',
      id: textOf(kept['id']),
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
      encrypted_content: textOf(kept['encrypted_content']),
    },
  ];
}
