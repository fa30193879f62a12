/**
 * Neutral items -> the body of an Anthropic Messages request. Pure. All results of one reply stand in the one user message right behind it,
 * pictures in them included; reasoning goes back, with its signature, to the model family that made it. The same conversation gives the same
 * bytes, and cache marks stand where the next request begins to differ.
 */
import type { Effort } from '#protocol/values/model.ts';
import { claudeVersion } from '../catalogue/claude-version.ts';
import type { Item, ItemPart, ModelRequest, ReplyPiece } from '../item.ts';
import { madeBy } from './provenance.ts';
import { recordOf } from './wire-json.ts';

export interface MessagesBody {
  model: string;
  max_tokens: number;
  stream: true;
  system?: TextBlock[];
  tools?: { name: string; description: string; input_schema: Record<string, unknown>; cache_control?: CacheMark }[];
  messages: Message[];
  thinking?:
    { type: 'enabled'; budget_tokens: number } | { type: 'adaptive'; display: 'summarized' } | { type: 'disabled' };
  output_config?: { effort: string };
}

export type Message = { role: 'user'; content: UserBlock[] } | { role: 'assistant'; content: AssistantBlock[] };

interface CacheMark {
  type: 'ephemeral';
  ttl?: '1h';
}
interface TextBlock {
  type: 'text';
  text: string;
  cache_control?: CacheMark;
}
interface ImageBlock {
  type: 'image';
  source: { type: 'base64'; media_type: string; data: string };
  cache_control?: CacheMark;
}
interface ResultBlock {
  type: 'tool_result';
  tool_use_id: string;
  content: (TextBlock | ImageBlock | DocumentBlock)[];
  is_error?: true;
  cache_control?: CacheMark;
}
interface DocumentBlock {
  type: 'document';
  source: { type: 'base64'; media_type: 'application/pdf'; data: string };
  title: string;
  cache_control?: CacheMark;
}
export type UserBlock = TextBlock | ImageBlock | DocumentBlock | ResultBlock;
export type AssistantBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> };

/** How the signatures of this format are told from those of others, and readable from redacted reasoning: the vendor's own text follows. */
export const signedThinking = 'anthropic:';
export const redactedThinking = 'anthropic-redacted:';

export function messagesBody(
  request: ModelRequest,
  provider: string,
  maxOutputTokens: number | null,
  kept: '5m' | '1h' = '5m',
): MessagesBody {
  const mark: CacheMark = kept === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: kept };
  const messages = messagesOf(request, provider);
  const maxTokens = maxOutputTokens ?? defaultMaxTokens(request.model);
  const thinking = thinkingOf(request.model, request.effort, maxTokens, messages);
  markLastUsers(messages, mark);
  if ((request.hints ?? '').trim() !== '') hint(messages, request.hints ?? '');
  return {
    model: request.model,
    max_tokens: maxTokens,
    stream: true,
    ...(request.system.trim() !== '' && { system: [{ type: 'text', text: request.system, cache_control: mark }] }),
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, parameters }, index) => ({
        name,
        description,
        input_schema: parameters,
        ...(index === request.tools.length - 1 && { cache_control: mark }),
      })),
    }),
    messages,
    ...thinking,
  };
}

/**
 * The last user message is where the next request goes on; the one before is where this one went on, for a cache looks back twenty blocks
 * only, and the results of one reply may be more. With system and tools these are the four marks that a request may have.
 */
function markLastUsers(messages: Message[], mark: CacheMark): void {
  const users = messages.flatMap((message) => (message.role === 'user' ? [message.content] : []));
  for (const content of users.slice(-2)) {
    const last = content.at(-1);
    if (last !== undefined) last.cache_control = mark;
  }
}

/** Behind the last mark, and gone from there in the next request: what is kept ends before it (PR16). */
function hint(messages: Message[], text: string): void {
  const last = messages.at(-1);
  if (last?.role === 'user') last.content.push({ type: 'text', text });
}

function messagesOf(request: ModelRequest, provider: string): Message[] {
  const messages: Message[] = [];
  const user = (blocks: UserBlock[]) => {
    const last = messages.at(-1);
    if (blocks.length === 0) return;
    // One user message behind each reply: results first, then what a person said meanwhile.
    if (last?.role === 'user') last.content.push(...blocks);
    else messages.push({ role: 'user', content: blocks });
  };
  for (const item of request.items) {
    switch (item.type) {
      case 'person':
        user(item.parts.flatMap(blockOf));
        break;
      case 'reply': {
        const content = assistantBlocks(item.pieces, madeBy(item, provider, request.model));
        const last = messages.at(-1);
        if (content.length === 0) break;
        if (last?.role === 'assistant') last.content.push(...content);
        else messages.push({ role: 'assistant', content });
        break;
      }
      case 'result':
        user([resultBlock(item)]);
        break;
    }
  }
  return messages;
}

function assistantBlocks(pieces: ReplyPiece[], own: boolean): AssistantBlock[] {
  const blocks = pieces.flatMap((piece): AssistantBlock[] => {
    switch (piece.type) {
      case 'text':
        return piece.text.trim() === '' ? [] : [{ type: 'text', text: piece.text }];
      case 'reasoning':
        return own ? thinkingBlock(piece.text, piece.signature ?? '') : [];
      case 'tool-call':
        return [{ type: 'tool_use', id: wireId(piece.callId), name: piece.tool, input: objectOf(piece.argumentsText) }];
    }
  });
  // Reasoning that nothing follows is refused as the end of a reply.
  return blocks.slice(0, blocks.findLastIndex((block) => block.type === 'text' || block.type === 'tool_use') + 1);
}

function thinkingBlock(text: string, signature: string): AssistantBlock[] {
  if (signature.startsWith(signedThinking)) {
    return [{ type: 'thinking', thinking: text, signature: signature.slice(signedThinking.length) }];
  }
  if (signature.startsWith(redactedThinking)) {
    return [{ type: 'redacted_thinking', data: signature.slice(redactedThinking.length) }];
  }
  return [];
}

function resultBlock(result: Item & { type: 'result' }): ResultBlock {
  const content = result.parts.flatMap(blockOf);
  return {
    type: 'tool_result',
    tool_use_id: wireId(result.callId),
    content: content.length > 0 ? content : [{ type: 'text', text: '(No output.)' }],
    ...(result.failed && { is_error: true }),
  };
}

/** Nothing for a text of spaces alone, which the vendor refuses. */
function blockOf(part: ItemPart): (TextBlock | ImageBlock | DocumentBlock)[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
  if (part.type === 'document') {
    const source = { type: 'base64' as const, media_type: part.mediaType, data: part.base64 };
    return [{ type: 'document', source, title: part.name }];
  }
  if (!pictures.has(part.mediaType)) {
    return [
      { type: 'text', text: `[A picture of the type ${part.mediaType} stood here, which this model cannot read.]` },
    ];
  }
  return [{ type: 'image', source: { type: 'base64', media_type: part.mediaType, data: part.base64 } }];
}

const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Ids may hold letters, digits, _ and -; ours (`cal_12`) do. */
function wireId(callId: string): string {
  return callId.replace(/[^A-Za-z0-9_-]/g, '_');
}

function objectOf(argumentsText: string): Record<string, unknown> {
  return recordOf(JSON.parse(argumentsText));
}

/** The format demands a limit: what each model can say in one reply at most, or less where that is more than anybody waits for. */
function defaultMaxTokens(model: string): number {
  const version = claudeVersion(model);
  if (version === null) return 16_384;
  if (version < 3.05) return 4096;
  if (version < 3.07) return 8192;
  if (/opus/i.test(model) && version < 4.05) return 32_000;
  return 64_000;
}

const budgets = { low: 2048, medium: 8192, high: 16_384, xhigh: 32_000 };

/** From 4.6 on a Claude takes an effort and decides itself how much to think; those before, and other vendors' models, take a budget. */
function thinkingOf(
  model: string,
  effort: Effort | null,
  maxTokens: number,
  messages: Message[],
): Pick<MessagesBody, 'thinking' | 'output_config'> {
  if (effort === null) return {};
  const version = claudeVersion(model);
  if (version !== null && version < 3.07) return {};
  if (effort === 'off') return { thinking: { type: 'disabled' } };
  if (version !== null && version >= 4.06) {
    const known = effort === 'xhigh' && version < 4.07 ? 'high' : effort;
    return { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: known } };
  }
  // With a budget, each reply with calls in the running exchange must begin with its thinking, or the request is refused (US6).
  if (!everyRunningReplyThinks(messages)) return {};
  const budget = Math.min(budgets[effort], Math.floor(maxTokens / 2));
  return budget < 1024 ? {} : { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** The running exchange: the replies since a person said something that is not a result. */
function everyRunningReplyThinks(messages: Message[]): boolean {
  const begin = messages.findLastIndex(
    (message) => message.role === 'user' && message.content.every((block) => block.type !== 'tool_result'),
  );
  return messages
    .slice(begin + 1)
    .every((message) => message.role === 'user' || /thinking/.test(message.content[0]?.type ?? ''));
}
