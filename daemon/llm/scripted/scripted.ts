/**
 * A model that follows a script instead of thinking: for tests, and the engine of the demo. It keeps the contract of every adapter, so what
 * works with it works with a provider. It answers from its script only: a request the script did not foresee is refused, not improvised.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '#protocol/values/json.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import type { Usage } from '#protocol/values/usage.ts';
import { readArguments } from '../formats/call-arguments.ts';
import type { ModelCall, ModelRequest, StopReason, StreamEvent } from '../item.ts';
import type { ModelClient } from '../model-stream.ts';

export type Action =
  /** Text in deltas: the strings of a list as they are, one string word by word. `paceMs` passes before each delta. */
  | { type: 'say'; text: string | string[]; paceMs?: number }
  | { type: 'reason'; text: string | string[]; paceMs?: number; signature?: string }
  /** Arguments given as text stand as the model wrote them, valid or not. */
  | { type: 'call'; tool: string; arguments: JsonObject | string }
  | { type: 'wait'; ms: number }
  /** Says nothing more until it is aborted. */
  | { type: 'hang' }
  | { type: 'usage'; usage: Usage }
  /** Ends the reply with this reason; without it, `tool-calls` after calls and `end` else. */
  | { type: 'stop'; stop: StopReason }
  /** Ends the reply as failed: none of its calls runs. Retryable, unless told otherwise, as long as nothing was said. */
  | { type: 'fail'; failure: Failure; retryable?: boolean; retryAfterMs?: number };

export type Reply = Action[];
/** Replies in order, one a request; or what to reply to a request. */
export type Script = Reply[] | ((request: ModelRequest) => Reply);

export interface ScriptedModel extends ModelClient {
  /** What was asked, in order. */
  readonly requests: readonly ModelRequest[];
  /** More replies at the end of a list. */
  enqueue(...replies: Reply[]): void;
}

export function scriptedModel(script: Script): ScriptedModel {
  const queue = Array.isArray(script) ? [...script] : [];
  const choose = Array.isArray(script) ? () => queue.shift() ?? unforeseen : script;
  const requests: ModelRequest[] = [];
  const closing = new AbortController();
  return {
    requests,
    enqueue(...replies) {
      queue.push(...replies);
    },
    stream(request, signal) {
      requests.push(request);
      return playReply(() => choose(request), AbortSignal.any([signal, closing.signal]));
    },
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
}

const unforeseen: Reply = [
  {
    type: 'fail',
    failure: { code: 'provider_refused', message: 'The script holds no reply to this request.' },
    retryable: false,
  },
];

/** Streams one reply. `choose` is asked once, at the start; what it throws ends the stream as a fault. */
export async function* playReply(choose: () => Reply, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const calls: ModelCall[] = [];
  let usage: Usage | null = null;
  let stop: StopReason | null = null;
  let parts = 0;
  try {
    signal.throwIfAborted();
    for (const action of choose()) {
      switch (action.type) {
        case 'say':
        case 'reason': {
          const kind = action.type === 'say' ? 'text' : 'reasoning';
          const key = `${kind}-${++parts}`;
          yield { type: 'part-started', key, kind };
          for (const text of typeof action.text === 'string' ? words(action.text) : action.text) {
            await pause(action.paceMs ?? 0, signal);
            yield { type: 'part-delta', key, text };
          }
          const signature = action.type === 'reason' ? action.signature : undefined;
          yield { type: 'part-ended', key, ...(signature !== undefined && { signature }) };
          break;
        }
        case 'call': {
          const key = `call-${++parts}`;
          const argumentsText =
            typeof action.arguments === 'string' ? action.arguments : JSON.stringify(action.arguments);
          yield { type: 'part-started', key, kind: 'tool-call', tool: action.tool };
          yield { type: 'part-ended', key };
          calls.push({ key, providerCallId: null, tool: action.tool, argumentsText, ...readArguments(argumentsText) });
          break;
        }
        case 'wait':
          await pause(action.ms, signal);
          break;
        case 'hang':
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          break;
        case 'usage':
          usage = action.usage;
          break;
        case 'stop':
          stop = action.stop;
          break;
        case 'fail':
          yield {
            type: 'failed',
            failure: action.failure,
            usage,
            retryable: (action.retryable ?? true) && parts === 0,
            retryAfterMs: action.retryAfterMs ?? null,
          };
          return;
      }
      signal.throwIfAborted();
    }
  } catch (error) {
    if (signal.aborted) {
      yield { type: 'aborted', usage };
      return;
    }
    // A script that throws is a fault of ours, and a stream must not throw.
    const message = `The script failed: ${error instanceof Error ? error.message : String(error)}`;
    yield { type: 'failed', failure: { code: 'fault', message }, usage, retryable: false, retryAfterMs: null };
    return;
  }
  yield { type: 'done', stop: stop ?? (calls.length > 0 ? 'tool-calls' : 'end'), calls, usage };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms > 0) await delay(ms, undefined, { signal });
}

/** Words with the space that follows them: joined they are the text. */
function words(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text]);
}
