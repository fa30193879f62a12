/**
 * The events of one OpenAI Responses stream -> neutral events. Pure but for its own memory; total. Items are found by their place in the
 * output; those of kinds that Alcove did not offer (custom tools, searches, shells of the vendor) are passed over. Only the response's own end
 * makes a reply complete.
 */
import type { Usage } from '#protocol/values/usage.ts';
import type { StopReason, StreamEvent } from '../item.ts';
import { encryptedReasoning } from './openai-responses-request.ts';
import { ReplyParts, type OpenCall, type Prose, type ReplyReader } from './reply-parts.ts';
import { listOf, recordOf, textOf, tokensOf } from './wire-json.ts';

interface OpenItem {
  prose: Prose | null;
  call: OpenCall | null;
  /** Which paragraph of a summary came last. */
  summary: unknown;
}

export function readResponsesReply(): ReplyReader {
  const parts = new ReplyParts();
  const items = new Map<unknown, OpenItem>();
  let finish: string | null = null;
  let reason = '';
  let error: unknown = null;
  let refused = false;
  let usage: Usage | null = null;

  function take(chunk: unknown): StreamEvent[] {
    const events: StreamEvent[] = [];
    const event = recordOf(chunk);
    const place = event['output_index'];
    switch (event['type']) {
      case 'response.output_item.added':
        began(place, recordOf(event['item']), events);
        break;
      case 'response.output_text.delta':
        say(place, 'text', textOf(event['delta']), events);
        break;
      case 'response.refusal.delta':
        refused = true;
        say(place, 'text', textOf(event['delta']), events);
        break;
      case 'response.reasoning_summary_text.delta': {
        const item = itemAt(place);
        const paragraph = item.prose !== null && item.summary !== event['summary_index'];
        item.summary = event['summary_index'];
        say(place, 'reasoning', `${paragraph ? '\n\n' : ''}${textOf(event['delta'])}`, events);
        break;
      }
      case 'response.reasoning_text.delta':
        say(place, 'reasoning', textOf(event['delta']), events);
        break;
      case 'response.function_call_arguments.delta': {
        const call = items.get(place)?.call ?? null;
        if (call !== null) call.text += textOf(event['delta']);
        break;
      }
      case 'response.function_call_arguments.done': {
        const call = items.get(place)?.call ?? null;
        if (call !== null) call.text = textOf(event['arguments']) || call.text;
        break;
      }
      case 'response.output_item.done':
        ended(place, recordOf(event['item']), events);
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        over(event['type'].slice('response.'.length), recordOf(event['response']), events);
        break;
      // With its words beside the type; an error object within is thrown by the SDK.
      case 'error':
        finish = 'failed';
        error = { code: event['code'], message: event['message'] };
        break;
    }
    return events;
  }

  function itemAt(place: unknown): OpenItem {
    let item = items.get(place);
    if (item === undefined) items.set(place, (item = { prose: null, call: null, summary: null }));
    return item;
  }

  function began(place: unknown, content: Record<string, unknown>, events: StreamEvent[]): OpenItem {
    const item = itemAt(place);
    if (content['type'] !== 'function_call' || item.call !== null) return item;
    item.call = parts.call(textOf(content['call_id']) || textOf(content['id']) || null);
    item.call.tool = textOf(content['name']);
    item.call.text = textOf(content['arguments']);
    parts.announce(item.call, events);
    return item;
  }

  function say(place: unknown, kind: Prose['kind'], text: string, events: StreamEvent[]): void {
    if (text === '') return;
    const item = itemAt(place);
    item.prose ??= parts.begin(kind, events);
    parts.say(item.prose, text, events);
  }

  function ended(place: unknown, content: Record<string, unknown>, events: StreamEvent[]): void {
    const item = began(place, content, events);
    switch (content['type']) {
      case 'function_call':
        if (item.call !== null) item.call.text = textOf(content['arguments']) || item.call.text;
        break;
      case 'message': {
        // Some servers send a text only with its end.
        const text = listOf(content['content'])
          .map((part) => textOf(recordOf(part)['text']))
          .join('');
        if (item.prose === null) say(place, 'text', text, events);
        if (item.prose !== null) parts.end(item.prose, null, events);
        break;
      }
      case 'reasoning': {
        const encrypted = textOf(content['encrypted_content']);
        const kept = { id: content['id'], encrypted_content: encrypted };
        if (encrypted !== '') item.prose ??= parts.begin('reasoning', events);
        const signature = encrypted === '' ? null : encryptedReasoning + JSON.stringify(kept);
        if (item.prose !== null) parts.end(item.prose, signature, events);
        break;
      }
    }
  }

  function over(status: string, response: Record<string, unknown>, events: StreamEvent[]): void {
    // A server that streams nothing but the end says it all there.
    if (items.size === 0 && status !== 'failed') {
      for (const [place, item] of listOf(response['output']).entries()) ended(place, recordOf(item), events);
    }
    finish = status;
    reason = textOf(recordOf(response['incomplete_details'])['reason']);
    error = response['error'] ?? null;
    usage = usageOf(response['usage']) ?? usage;
  }

  return {
    take,
    complete() {
      if (finish === 'failed') return { type: 'refused', error };
      return parts.complete((calls) => stopOf(finish, reason, refused, calls));
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

function stopOf(finish: string | null, reason: string, refused: boolean, calls: boolean): StopReason {
  if (finish === 'incomplete') {
    if (reason === 'max_output_tokens') return 'length';
    return reason === 'content_filter' ? 'refusal' : 'other';
  }
  if (refused) return 'refusal';
  return calls ? 'tool-calls' : 'end';
}

function usageOf(value: unknown): Usage | null {
  const fields = recordOf(value);
  const input = tokensOf(fields['input_tokens']);
  const output = tokensOf(fields['output_tokens']);
  if (input === null && output === null) return null;
  const sent = recordOf(fields['input_tokens_details']);
  return {
    input,
    output,
    cacheRead: tokensOf(sent['cached_tokens']),
    cacheWrite: tokensOf(sent['cache_write_tokens']),
    reasoning: tokensOf(recordOf(fields['output_tokens_details'])['reasoning_tokens']),
  };
}
