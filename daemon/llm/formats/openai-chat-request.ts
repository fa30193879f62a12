/**
 * Neutral items -> the body of a Chat Completions request. Pure. Keeps to the part of the format that all vendors speak: plain strings where
 * no picture asks for parts, tool results directly after their calls, pictures of results in a user message after them (the format has no
 * place for a picture in a tool message), and call ids that the strictest vendor accepts.
 */
import type { Item, ItemPart, ModelRequest, ReplyPiece } from '../item.ts';

export interface ChatBody {
  model: string;
  stream: true;
  stream_options: { include_usage: true };
  messages: ChatMessage[];
  tools?: {
    type: 'function';
    function: { name: string; description: string; parameters: Record<string, unknown> };
  }[];
  reasoning_effort?: string;
}

export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ChatPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: ChatCall[]; reasoning_content?: string }
  | { role: 'tool'; tool_call_id: string; content: string };

export type ChatPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'file'; file: { filename: string; file_data: string } };
export type ChatCall = { id: string; type: 'function'; function: { name: string; arguments: string } };

/**
 * The one kind of reasoning that a vendor of this format demands back (DeepSeek, Moonshot): what came as `reasoning_content`, in replies with
 * calls, within the running exchange. Reasoning pieces carry this field's name as their signature; all other reasoning is left out.
 */
export const returnedReasoning = 'reasoning_content';

export function chatBody(request: ModelRequest, provider: string): ChatBody {
  const messages: ChatMessage[] = [];
  // The only place for instructions that every vendor takes: what changes stands at its end, and is read anew with all behind it.
  const system = [request.system, request.hints ?? ''].filter((text) => text !== '').join('\n\n');
  if (system !== '') messages.push({ role: 'system', content: system });
  const lastPerson = request.items.findLastIndex((item) => item.type === 'person');
  const lends = demandsReasoning(request, provider);
  for (const [index, item] of request.items.entries()) {
    switch (item.type) {
      case 'person':
        messages.push({ role: 'user', content: userContent(item.parts) });
        break;
      case 'reply': {
        const running = item.provider === provider && index > lastPerson;
        const message = once(running ? runningReplies : earlierReplies, item, () =>
          assistantMessage(item.pieces, running),
        );
        if (message !== null) messages.push(lends && index > lastPerson ? lent(message, item.pieces) : message);
        break;
      }
      case 'result':
        messages.push(once(results, item, () => resultMessage(item)));
        if (request.items[index + 1]?.type !== 'result') messages.push(...resultPictures(request.items, index));
        break;
    }
  }
  return {
    model: request.model,
    stream: true,
    stream_options: { include_usage: true },
    messages,
    ...(request.tools.length > 0 && { tools: request.tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...(request.effort !== null && { reasoning_effort: request.effort === 'off' ? 'none' : request.effort }),
  };
}

/** Whether this model refuses a reply with calls that has no reasoning: DeepSeek's and Moonshot's, and whoever sent some in that field before. */
function demandsReasoning({ model, items }: ModelRequest, provider: string): boolean {
  if (/deepseek|kimi/i.test(model)) return true;
  return items.some(
    (item) =>
      item.type === 'reply' &&
      item.provider === provider &&
      item.model === model &&
      item.pieces.some((piece) => piece.type === 'reasoning' && piece.signature === returnedReasoning),
  );
}

/** A reply of the running exchange that another model made, or that came without reasoning: in this field any text will do (US6). */
function lent(message: ChatMessage, pieces: ReplyPiece[]): ChatMessage {
  if (message.role !== 'assistant' || message.tool_calls === undefined || message.reasoning_content !== undefined)
    return message;
  const text = pieces.flatMap((piece) => (piece.type === 'reasoning' ? [piece.text] : [])).join('');
  return { ...message, reasoning_content: text === '' ? '(No reasoning was given.)' : text };
}

/** An item never changes, and is sent again with every step that follows: its message is made once, so a step costs no more in a long session. */
const runningReplies = new WeakMap<Item, ChatMessage | null>();
const earlierReplies = new WeakMap<Item, ChatMessage | null>();
const results = new WeakMap<Item, ChatMessage>();

function once<Message>(made: WeakMap<Item, Message>, item: Item, make: () => Message): Message {
  const before = made.get(item);
  if (before !== undefined) return before;
  const message = make();
  made.set(item, message);
  return message;
}

/**
 * Nine letters and digits: Mistral accepts no other call id, and every vendor accepts these. Ids are ours, counted (`cal_12`), so the number
 * alone is unique within a conversation; an id of another shape goes as it is.
 */
export function wireCallId(callId: string): string {
  const count = /^cal_(\d{1,8})$/.exec(callId)?.[1];
  return count === undefined ? callId : `c${count.padStart(8, '0')}`;
}

function userContent(parts: ItemPart[]): string | ChatPart[] {
  if (parts.every((part) => part.type === 'text')) return parts.map((part) => part.text).join('\n');
  return parts.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : picture(part)));
}

function picture(part: Exclude<ItemPart, { type: 'text' }>): ChatPart {
  const url = `data:${part.mediaType};base64,${part.base64}`;
  if (part.type === 'document') return { type: 'file', file: { filename: part.name, file_data: url } };
  return { type: 'image_url', image_url: { url } };
}

/** Null for a reply that left nothing sendable: some vendors refuse an assistant message with neither text nor calls. */
function assistantMessage(pieces: ReplyPiece[], running: boolean): ChatMessage | null {
  const text = pieces.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('');
  const calls = pieces.flatMap((piece): ChatCall[] =>
    piece.type === 'tool-call'
      ? [
          {
            id: wireCallId(piece.callId),
            type: 'function',
            function: { name: piece.tool, arguments: piece.argumentsText },
          },
        ]
      : [],
  );
  if (calls.length === 0) return text === '' ? null : { role: 'assistant', content: text };
  const reasoning = pieces
    .flatMap((piece) => (piece.type === 'reasoning' && piece.signature === returnedReasoning ? [piece.text] : []))
    .join('');
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(running && reasoning !== '' && { reasoning_content: reasoning }),
    tool_calls: calls,
  };
}

function resultMessage(result: Item & { type: 'result' }): ChatMessage {
  return { role: 'tool', tool_call_id: wireCallId(result.callId), content: resultText(result) };
}

/** A failed result is text all the same: the format has no field for failure, and the text says what happened. */
function resultText(result: Item & { type: 'result' }): string {
  const text = result.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  if (text !== '') return text;
  return result.parts.length > 0 ? '(The result is the picture that follows.)' : '(No output.)';
}

/** The pictures of the run of results that ends at `last`, as one message. */
function resultPictures(items: Item[], last: number): ChatMessage[] {
  let first = last;
  while (items[first - 1]?.type === 'result') first -= 1;
  const content = items.slice(first, last + 1).flatMap((item): ChatPart[] => {
    if (item.type !== 'result') return [];
    const pictures = item.parts.filter((part) => part.type !== 'text');
    if (pictures.length === 0) return [];
    const label = `From the result of ${item.tool} (call ${wireCallId(item.callId)}):`;
    return [{ type: 'text', text: label }, ...pictures.map(picture)];
  });
  return content.length === 0 ? [] : [{ role: 'user', content }];
}
