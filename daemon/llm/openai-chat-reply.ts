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
import type { ModelCall, StopReason, StreamEvent } from './item.ts';
import { returnedReasoning } from './openai-chat-request.ts';

export interface ReplyReader {
  take(chunk: unknown): StreamEvent[];
  /** Why the model stopped; null until it has. */
  readonly finish: string | null;
  /** Whether any part was announced: from then on a repeat would say things twice. */
  readonly produced: boolean;
  readonly usage: Usage | null;
  /** Ends the open parts and hands out the calls. For a reply that has its finish reason. */
  complete(): Completion;
}

export type Completion =
  | { type: 'complete'; events: StreamEvent[]; stop: StopReason; calls: ModelCall[] }
  | { type: 'malformed'; reason: string };

interface Prose {
  key: string;
  kind: 'text' | 'reasoning';
  signature: string | null;
  /** The first half of a character whose second half has not come. */
  held: string;
}

interface OpenCall {
  key: string;
  id: string | null;
  index: number | null;
  tool: string;
  text: string;
  announced: boolean;
}

export function readReply(): ReplyReader {
  let prose: Prose | null = null;
  let count = 0;
  let produced = false;
  let finish: string | null = null;
  let refused = false;
  let usage: Usage | null = null;
  const calls: OpenCall[] = [];

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
    if (prose !== null && (prose.kind !== kind || prose.signature !== signature)) endProse(events);
    if (prose === null) {
      prose = { key: `${kind}-${++count}`, kind, signature, held: '' };
      produced = true;
      events.push({ type: 'part-started', key: prose.key, kind });
    }
    const whole = prose.held + text;
    const half = /[\uD800-\uDBFF]$/.test(whole) ? 1 : 0;
    prose.held = whole.slice(whole.length - half);
    const ready = whole.slice(0, whole.length - half);
    if (ready !== '') events.push({ type: 'part-delta', key: prose.key, text: ready });
  }

  function endProse(events: StreamEvent[]): void {
    if (prose === null) return;
    if (prose.held !== '') events.push({ type: 'part-delta', key: prose.key, text: '\uFFFD' });
    events.push({
      type: 'part-ended',
      key: prose.key,
      ...(prose.signature !== null && { signature: prose.signature }),
    });
    prose = null;
  }

  function takeCall(piece: Record<string, unknown>, events: StreamEvent[]): void {
    const content = recordOf(piece['function']);
    const name = textOf(content['name']);
    const text = argumentsOf(content['arguments']);
    const call = find(textOf(piece['id']) || null, numberOf(piece['index']), name);
    if (call.tool === '') call.tool = name;
    call.text += text;
    if (!call.announced && call.tool !== '') {
      endProse(events);
      call.announced = true;
      produced = true;
      events.push({ type: 'part-started', key: call.key, kind: 'tool-call', tool: call.tool });
    }
  }

  function find(id: string | null, index: number | null, name: string): OpenCall {
    const at = index === null ? calls.at(-1) : calls.findLast((call) => call.index === index);
    if (id !== null) {
      const known = calls.find((call) => call.id === id);
      if (known !== undefined) return known;
      if (at !== undefined && at.id === null && (name === '' || at.tool === '')) {
        at.id = id;
        return at;
      }
      return open(id, index);
    }
    if (at === undefined) return open(null, index);
    if (name !== '' && at.tool !== '' && isWhole(at.text)) return open(null, index);
    return at;
  }

  function open(id: string | null, index: number | null): OpenCall {
    const call: OpenCall = { key: `call-${++count}`, id, index, tool: '', text: '', announced: false };
    calls.push(call);
    return call;
  }

  function complete(): Completion {
    const unnamed = calls.find((call) => call.tool === '');
    if (unnamed !== undefined) return { type: 'malformed', reason: 'a tool call came without the name of a tool' };
    const events: StreamEvent[] = [];
    endProse(events);
    for (const call of calls) events.push({ type: 'part-ended', key: call.key });
    const stop = stopOf(finish, refused, calls.length > 0);
    return { type: 'complete', events, stop, calls: calls.map((call, index) => finished(call, index, stop)) };
  }

  function finished(call: OpenCall, index: number, stop: StopReason): ModelCall {
    const read = readArguments(call.text);
    // Arguments that the limit cut off before their first letter look like none at all.
    const cut = index === calls.length - 1 && stop === 'length' && call.text.trim() === '';
    const problem = cut
      ? 'The reply reached its length limit before the arguments came. Nothing was run.'
      : read.problem;
    return {
      key: call.key,
      providerCallId: call.id,
      tool: call.tool,
      argumentsText: call.text,
      arguments: read.arguments,
      problem,
    };
  }

  return {
    take,
    complete,
    get finish() {
      return finish;
    },
    get produced() {
      return produced;
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

function tokensOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
