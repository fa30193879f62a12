/**
 * The events of one Anthropic Messages stream -> neutral events. Pure but for its own memory; total. Blocks are found by their index; those of
 * tools that the vendor runs itself, and kinds that nobody knew when this was written, are passed over. Only a stop reason makes a reply
 * complete.
 */
import type { Usage } from '#protocol/values/usage.ts';
import { redactedThinking, signedThinking } from './anthropic-messages-request.ts';
import type { StopReason, StreamEvent } from '../item.ts';
import { ReplyParts, type OpenCall, type Prose, type ReplyReader } from './reply-parts.ts';
import { recordOf, textOf, tokensOf } from './wire-json.ts';

type Block =
  | { type: 'text'; prose: Prose }
  | { type: 'thinking'; prose: Prose; signature: string }
  | { type: 'tool_use'; call: OpenCall; input: Record<string, unknown> }
  | { type: 'foreign' };

export function readMessagesReply(): ReplyReader {
  const parts = new ReplyParts();
  const blocks = new Map<unknown, Block>();
  let finish: string | null = null;
  let usage: Usage | null = null;

  function take(chunk: unknown): StreamEvent[] {
    const events: StreamEvent[] = [];
    const event = recordOf(chunk);
    const index = event['index'];
    switch (event['type']) {
      // May come twice; it opens nothing.
      case 'message_start':
        // Its count of output is of the first token only.
        usage = counted(usage, { ...recordOf(recordOf(event['message'])['usage']), output_tokens: null });
        break;
      case 'content_block_start':
        close(blocks.get(index), events);
        blocks.set(index, open(recordOf(event['content_block']), events));
        break;
      case 'content_block_delta':
        more(blocks.get(index), recordOf(event['delta']), events);
        break;
      case 'content_block_stop':
        close(blocks.get(index), events);
        blocks.delete(index);
        break;
      case 'message_delta':
        usage = counted(usage, recordOf(event['usage']));
        finish = textOf(recordOf(event['delta'])['stop_reason']) || finish;
        break;
      case 'message_stop':
        finish ??= 'message_stop';
        break;
    }
    return events;
  }

  function open(content: Record<string, unknown>, events: StreamEvent[]): Block {
    switch (content['type']) {
      case 'text': {
        const prose = parts.begin('text', events);
        parts.say(prose, textOf(content['text']), events);
        return { type: 'text', prose };
      }
      case 'thinking': {
        const prose = parts.begin('reasoning', events);
        parts.say(prose, textOf(content['thinking']), events);
        return { type: 'thinking', prose, signature: textOf(content['signature']) };
      }
      case 'redacted_thinking': {
        const prose = parts.begin('reasoning', events);
        parts.end(prose, redactedThinking + textOf(content['data']), events);
        return { type: 'foreign' };
      }
      case 'tool_use': {
        const call = parts.call(textOf(content['id']) || null);
        call.tool = textOf(content['name']);
        parts.announce(call, events);
        return { type: 'tool_use', call, input: recordOf(content['input']) };
      }
      default:
        return { type: 'foreign' };
    }
  }

  function more(block: Block | undefined, delta: Record<string, unknown>, events: StreamEvent[]): void {
    switch (delta['type']) {
      case 'text_delta':
        if (block?.type === 'text') parts.say(block.prose, textOf(delta['text']), events);
        break;
      case 'thinking_delta':
        if (block?.type === 'thinking') parts.say(block.prose, textOf(delta['thinking']), events);
        break;
      case 'signature_delta':
        if (block?.type === 'thinking') block.signature += textOf(delta['signature']);
        break;
      case 'input_json_delta':
        if (block?.type === 'tool_use') block.call.text += textOf(delta['partial_json']);
        break;
    }
  }

  function close(block: Block | undefined, events: StreamEvent[]): void {
    switch (block?.type) {
      case 'text':
        parts.end(block.prose, null, events);
        break;
      case 'thinking':
        parts.end(block.prose, signedThinking + block.signature, events);
        break;
      case 'tool_use':
        // Some servers send the arguments at once, as the block begins.
        if (block.call.text === '' && Object.keys(block.input).length > 0)
          block.call.text = JSON.stringify(block.input);
        break;
      case 'foreign':
      case undefined:
        break;
    }
  }

  return {
    take,
    complete() {
      const events: StreamEvent[] = [];
      for (const block of blocks.values()) close(block, events);
      blocks.clear();
      const whole = parts.complete((calls) => stopOf(finish, calls));
      return whole.type === 'complete' ? { ...whole, events: [...events, ...whole.events] } : whole;
    },
    get finish() {
      return finish;
    },
    get produced() {
      return parts.produced;
    },
    get usage() {
      return usage;
    },
  };
}

function stopOf(finish: string | null, calls: boolean): StopReason {
  if (finish === 'max_tokens' || finish === 'model_context_window_exceeded') return 'length';
  if (finish === 'refusal') return 'refusal';
  if (calls) return 'tool-calls';
  return finish === 'end_turn' || finish === 'stop_sequence' || finish === 'tool_use' ? 'end' : 'other';
}

/**
 * Counts grow while a reply runs, and some servers send zeros where they do not know yet: the larger one stands. The wire counts cached tokens
 * beside the input; ours is everything that was sent.
 */
function counted(before: Usage | null, fields: Record<string, unknown>): Usage | null {
  const larger = (one: number | null | undefined, other: number | null) =>
    one === null || one === undefined ? other : Math.max(one, other ?? 0);
  const cacheRead = larger(before?.cacheRead, tokensOf(fields['cache_read_input_tokens']));
  const cacheWrite = larger(before?.cacheWrite, tokensOf(fields['cache_creation_input_tokens']));
  const plainBefore =
    before === null || before.input === null ? null : before.input - (before.cacheRead ?? 0) - (before.cacheWrite ?? 0);
  const plain = larger(plainBefore, tokensOf(fields['input_tokens']));
  const output = larger(before?.output, tokensOf(fields['output_tokens']));
  const details = recordOf(fields['output_tokens_details']);
  const reasoning = larger(before?.reasoning, tokensOf(details['thinking_tokens']));
  if (plain === null && output === null && cacheRead === null && cacheWrite === null) return before;
  const input = plain === null ? null : plain + (cacheRead ?? 0) + (cacheWrite ?? 0);
  return { input, output, cacheRead, cacheWrite, reasoning };
}
