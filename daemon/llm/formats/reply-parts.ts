/**
 * The parts of one reply while they come, whatever the wire format: opens and ends them, numbers their keys, keeps deltas from ending inside
 * a character, and holds tool calls back until the reply is complete. Which piece belongs to which part is the format's to know.
 */
import type { Usage } from '#protocol/values/usage.ts';
import { readArguments } from './call-arguments.ts';
import type { ModelCall, StopReason, StreamEvent } from '../item.ts';

export interface ReplyReader {
  /** Total: what it does not know or understand is left out, never thrown at. */
  take(chunk: unknown): StreamEvent[];
  /** Why the model stopped; null until it has. Only this makes a reply complete. */
  readonly finish: string | null;
  /** Whether any part was announced: from then on a repeat would say things twice. */
  readonly produced: boolean;
  readonly usage: Usage | null;
  /** Ends the open parts and hands out the calls. For a reply that has its finish reason. */
  complete(): Completion;
}

export type Completion =
  | { type: 'complete'; events: StreamEvent[]; stop: StopReason; calls: ModelCall[] }
  | { type: 'malformed'; reason: string }
  /** The provider ended the reply with an error, in its own words. */
  | { type: 'refused'; error: unknown };

export interface Prose {
  readonly key: string;
  readonly kind: 'text' | 'reasoning';
  /** The first half of a character whose second half has not come. */
  held: string;
}

export interface OpenCall {
  readonly key: string;
  id: string | null;
  tool: string;
  text: string;
  announced: boolean;
}

export class ReplyParts {
  #count = 0;
  #produced = false;
  readonly #prose = new Set<Prose>();
  readonly #calls: OpenCall[] = [];

  get produced(): boolean {
    return this.#produced;
  }

  /** Opens a text or a reasoning; it is ended by end(), or with the reply. */
  begin(kind: Prose['kind'], events: StreamEvent[]): Prose {
    const prose: Prose = { key: `${kind}-${++this.#count}`, kind, held: '' };
    this.#prose.add(prose);
    this.#produced = true;
    events.push({ type: 'part-started', key: prose.key, kind });
    return prose;
  }

  say(prose: Prose, text: string, events: StreamEvent[]): void {
    const whole = prose.held + text;
    const half = /[\uD800-\uDBFF]$/.test(whole) ? 1 : 0;
    prose.held = whole.slice(whole.length - half);
    const ready = whole.slice(0, whole.length - half);
    if (ready !== '') events.push({ type: 'part-delta', key: prose.key, text: ready });
  }

  /** Does nothing where the part has ended already. */
  end(prose: Prose, signature: string | null, events: StreamEvent[]): void {
    if (!this.#prose.delete(prose)) return;
    if (prose.held !== '') events.push({ type: 'part-delta', key: prose.key, text: '\uFFFD' });
    events.push({ type: 'part-ended', key: prose.key, ...(signature !== null && { signature }) });
  }

  call(id: string | null): OpenCall {
    const call: OpenCall = { key: `call-${++this.#count}`, id, tool: '', text: '', announced: false };
    this.#calls.push(call);
    return call;
  }

  /** Shows a coming call, once its tool is known. */
  announce(call: OpenCall, events: StreamEvent[]): void {
    if (call.announced || call.tool === '') return;
    call.announced = true;
    this.#produced = true;
    events.push({ type: 'part-started', key: call.key, kind: 'tool-call', tool: call.tool });
  }

  /** `stopOf` says why the reply ended, told whether it has calls. */
  complete(stopOf: (calls: boolean) => StopReason): Completion {
    if (this.#calls.some((call) => call.tool === '')) {
      return { type: 'malformed', reason: 'a tool call came without the name of a tool' };
    }
    const events: StreamEvent[] = [];
    for (const prose of this.#prose) this.end(prose, null, events);
    for (const call of this.#calls) events.push({ type: 'part-ended', key: call.key });
    const stop = stopOf(this.#calls.length > 0);
    const last = this.#calls.at(-1);
    const calls = this.#calls.map((call) => finished(call, call === last && stop === 'length'));
    return { type: 'complete', events, stop, calls };
  }
}

function finished(call: OpenCall, atLimit: boolean): ModelCall {
  const read = readArguments(call.text);
  // Arguments that the limit cut off before their first letter look like none at all.
  const cut = atLimit && call.text.trim() === '';
  return {
    key: call.key,
    providerCallId: call.id,
    tool: call.tool,
    argumentsText: call.text,
    arguments: read.arguments,
    problem: cut ? 'The reply reached its length limit before the arguments came. Nothing was run.' : read.problem,
  };
}
