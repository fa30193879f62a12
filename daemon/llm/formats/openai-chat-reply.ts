/**
 * The chunks of one Chat Completions stream -> neutral events. Pure but for its own memory; total: a field it does not know or understand is
 * left out, never thrown at. Lenient where vendors differ (where reasoning stands, how calls are continued, where usage comes), strict in one
 * thing: only a finish reason makes a reply complete.
 *
 * How a piece of a tool call finds its call:
 * 1. a known id continues the call with that id, whatever its index says;
 * 2. a new id opens a call, even at an index that is taken (a call that has no id yet takes the id instead);
 * 3. without id, the index finds the latest call opened at it;
 * 4. without either, the piece belongs to the latest call;
 * 5. but a piece with a name opens a call where 3 and 4 find none, or one whose arguments are already whole.
 */
import type { Usage } from '#protocol/values/usage.ts';
import { readArguments } from './call-arguments.ts';
import type { StopReason, StreamEvent } from '../item.ts';
import { returnedReasoning } from './openai-chat-request.ts';
import { ReplyParts, type Completion, type OpenCall, type Prose, type ReplyReader } from './reply-parts.ts';
import { listOf, numberOf, recordOf, textOf, tokensOf } from './wire-json.ts';

export function readChatReply(): ReplyReader {
  const parts = new ReplyParts();
  /** The one part of text or reasoning that is open: this format does not interleave them. */
  let open: { prose: Prose; signature: string | null } | null = null;
  let finish: string | null = null;
  let refused = false;
  let usage: Usage | null = null;
  const calls: { call: OpenCall; index: number | null }[] = [];

  function take(chunk: unknown): StreamEvent[] {
    const events: StreamEvent[] = [];
    const envelope = recordOf(chunk);
    const choice = listOf(envelope['choices'])
      .map(recordOf)
      .find((one) => (one['index'] ?? 0) === 0);
    usage = usageOf(envelope['usage']) ?? usageOf(choice?.['usage']) ?? usage;
    if (choice === undefined) return events;

    const content = recordOf(choice['delta'] ?? choice['message']);
    const thought = textOf(content['reasoning_content']);
    if (thought !== '') say('reasoning', thought, returnedReasoning, events);
    else say('reasoning', textOf(content['reasoning']), null, events);
    for (const part of contentParts(content['content'])) say(part.kind, part.text, null, events);
    const refusal = textOf(content['refusal']);
    if (refusal !== '') {
      refused = true;
      say('text', refusal, null, events);
    }
    for (const piece of listOf(content['tool_calls'])) takeCall(recordOf(piece), events);
    finish = textOf(choice['finish_reason']) || finish;
    return events;
  }

  function say(kind: Prose['kind'], text: string, signature: string | null, events: StreamEvent[]): void {
    if (text === '') return;
    if (open !== null && (open.prose.kind !== kind || open.signature !== signature)) endProse(events);
    open ??= { prose: parts.begin(kind, events), signature };
    parts.say(open.prose, text, events);
  }

  function endProse(events: StreamEvent[]): void {
    if (open !== null) parts.end(open.prose, open.signature, events);
    open = null;
  }

  function takeCall(piece: Record<string, unknown>, events: StreamEvent[]): void {
    const content = recordOf(piece['function']);
    const name = textOf(content['name']);
    const text = argumentsOf(content['arguments']);
    const call = find(textOf(piece['id']) || null, numberOf(piece['index']), name);
    if (call.tool === '') call.tool = name;
    call.text += text;
    if (!call.announced && call.tool !== '') endProse(events);
    parts.announce(call, events);
  }

  function find(id: string | null, index: number | null, name: string): OpenCall {
    const at = (index === null ? calls.at(-1) : calls.findLast((one) => one.index === index))?.call;
    if (id !== null) {
      const known = calls.find((one) => one.call.id === id)?.call;
      if (known !== undefined) return known;
      if (at !== undefined && at.id === null && (name === '' || at.tool === '')) {
        at.id = id;
        return at;
      }
      return begin(id, index);
    }
    if (at === undefined) return begin(null, index);
    if (name !== '' && at.tool !== '' && isWhole(at.text)) return begin(null, index);
    return at;
  }

  function begin(id: string | null, index: number | null): OpenCall {
    const call = parts.call(id);
    calls.push({ call, index });
    return call;
  }

  function complete(): Completion {
    if (finish === 'error') return { type: 'refused', error: null };
    const events: StreamEvent[] = [];
    endProse(events);
    const whole = parts.complete((some) => stopOf(finish, refused, some));
    return whole.type === 'complete' ? { ...whole, events: [...events, ...whole.events] } : whole;
  }

  return {
    take,
    complete,
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

function stopOf(finish: string | null, refused: boolean, calls: boolean): StopReason {
  if (finish === 'length') return 'length';
  if (finish === 'content_filter' || refused) return 'refusal';
  // Some vendors say `stop` after calls; what came decides.
  if (calls) return 'tool-calls';
  return finish === 'stop' || finish === 'tool_calls' ? 'end' : 'other';
}

/** Content as text, or as Mistral's parts: {type:'text',text} and {type:'thinking',thinking:[{type:'text',text}]}. */
function contentParts(content: unknown): { kind: 'text' | 'reasoning'; text: string }[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return listOf(content)
    .map(recordOf)
    .flatMap((part): { kind: 'text' | 'reasoning'; text: string }[] => {
      if (part['type'] === 'thinking') {
        const thinking = part['thinking'];
        const texts =
          typeof thinking === 'string' ? [thinking] : listOf(thinking).map((one) => textOf(recordOf(one)['text']));
        return [{ kind: 'reasoning', text: texts.join('') }];
      }
      return [{ kind: 'text', text: textOf(part['text']) }];
    });
}

/** The wire counts cached tokens within the prompt's, as ours do. Reasoning tokens too, except with vendors whose total tells otherwise. */
function usageOf(value: unknown): Usage | null {
  if (typeof value !== 'object' || value === null) return null;
  const fields = recordOf(value);
  const sent = recordOf(fields['prompt_tokens_details']);
  const came = recordOf(fields['completion_tokens_details']);
  const input = tokensOf(fields['prompt_tokens']);
  const total = tokensOf(fields['total_tokens']);
  const reasoning = tokensOf(came['reasoning_tokens']);
  const completion = tokensOf(fields['completion_tokens']);
  const beside =
    input !== null && total !== null && reasoning !== null && completion !== null && reasoning > 0
      ? total === input + completion + reasoning
      : false;
  return {
    input,
    output: beside ? (completion ?? 0) + (reasoning ?? 0) : completion,
    cacheRead: tokensOf(sent['cached_tokens']) ?? tokensOf(fields['prompt_cache_hit_tokens']),
    cacheWrite: tokensOf(sent['cache_write_tokens']),
    reasoning,
  };
}

function isWhole(text: string): boolean {
  return text.trim() !== '' && readArguments(text).problem === null;
}

/** Arguments are JSON in a string; some servers send the object itself. */
function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : '';
}
