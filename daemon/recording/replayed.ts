/**
 * What a replay puts in the place of models and tools: they say what the recording says, and nothing else. Whatever is asked otherwise than it
 * was, or was not recorded, is a `difference`: the first one is kept and told at once, and nothing is improvised after it. Where the person
 * stopped the run in the middle of something, `stopped` is told instead, at the same place.
 */
import { canonicalJson } from '../base/digest.ts';
import { longestRetryMs } from '../base/limits.ts';
import type { ModelRequest, StreamEvent } from '../llm/item.ts';
import type { ModelClient } from '../llm/model-stream.ts';
import type { ResolveModel } from '../llm/resolved-model.ts';
import type { Assessment, PreparedCall, Tool, ToolEnvironment, ToolResult } from '../tools/tool.ts';
import { differenceOf } from './difference.ts';
import type { RecordedOffer } from './format.ts';
import type { PlainWords } from './plain-words.ts';
import { keyOf } from './recorded-calls.ts';
import type { Exchange, RecordedCall, Recording } from './recording.ts';

/** The prompt of a replay's requests, in whose place the recorded one stands. */
export const recordedPrompt = '<the recorded prompt>';

export interface ReplayEnds {
  readonly difference: (what: string) => void;
  /** The person stopped the run here; false where the recording knows nothing of that. */
  readonly stopped: () => boolean;
}

export class Replayed {
  readonly #recording: Recording;
  readonly #words: PlainWords;
  readonly #ends: ReplayEnds;
  readonly #asked = new Set<Exchange>();
  readonly #calls = new Map<string, { recorded: RecordedCall; made: number }>();

  constructor(recording: Recording, words: PlainWords, ends: ReplayEnds) {
    this.#recording = recording;
    this.#words = words;
    this.#ends = ends;
    for (const recorded of recording.calls)
      this.#calls.set(keyOf(recorded.call.tool, recorded.call.arguments), { recorded, made: 0 });
  }

  get resolve(): ResolveModel {
    return (name) => {
      const found = this.#recording.models.get(name);
      if (found === undefined) {
        const message = `The model ${name} is asked for, which it was not in the recording.`;
        this.#ends.difference(message);
        return Promise.resolve({ failure: { code: 'model_unknown' as const, message } });
      }
      if ('failure' in found) return Promise.resolve(found);
      const { model, contextWindow, efforts, price, pictures = null, documents = null } = found;
      return Promise.resolve({ client: this.#client, model, contextWindow, efforts, price, pictures, documents });
    };
  }

  get tools(): readonly Tool[] {
    return this.#recording.tools.map((offer) => this.#tool(offer));
  }

  /** What of the recording did not come, a sentence each. */
  left(): string[] {
    const exchanges = this.#recording.exchanges.filter((one) => !this.#asked.has(one));
    const calls = [...this.#calls.values()].filter(({ recorded, made }) => made < resultsOf(recorded));
    return [
      ...exchanges.map(({ request }) => `Request ${request.exchange} of the recording was not made.`),
      ...calls.map(
        ({ recorded: { call } }) => `A result of ${call.tool} ${canonicalJson(call.arguments)} was not asked for.`,
      ),
    ];
  }

  get exchanges(): number {
    return this.#asked.size;
  }

  get results(): number {
    return [...this.#calls.values()].reduce((sum, { made }) => sum + made, 0);
  }

  get #client(): ModelClient {
    return { stream: (request, signal) => this.#stream(request, signal), close: () => Promise.resolve() };
  }

  async *#stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const exchange = this.#exchangeOf(request);
    for (const event of exchange?.events ?? []) {
      if (signal.aborted) break;
      if (event.type === 'aborted') break;
      yield playable(event);
      if (event.type === 'done' || event.type === 'failed') return;
    }
    if (!signal.aborted && exchange !== null && !this.#ends.stopped())
      this.#ends.difference(`The recording ends within the reply to request ${exchange.request.exchange}.`);
    await untilAborted(signal);
    yield { type: 'aborted', usage: null };
  }

  /** The first that was not made yet and is the same; null where there is none. */
  #exchangeOf(request: ModelRequest): Exchange | null {
    const left = this.#recording.exchanges.filter((one) => !this.#asked.has(one));
    const now = this.#plain(request);
    let difference: string | null = null;
    for (const exchange of left) {
      const found = differenceOf(this.#recorded(exchange, now.system === recordedPrompt), now);
      if (found === null) {
        this.#asked.add(exchange);
        return exchange;
      }
      difference ??= `Request ${exchange.request.exchange} is another one than in the recording, at ${found}.`;
    }
    // One more request than there were: right after the person had stopped the run, it was never made.
    if (difference === null && this.#ends.stopped()) return null;
    this.#ends.difference(
      difference ??
        `A request was made that the recording does not have: it holds ${this.#recording.exchanges.length}.`,
    );
    return null;
  }

  #plain({ model, effort, system, hints, session, items, tools }: ModelRequest) {
    const whole = { model, effort, system, hints: hints ?? null, session: session ?? null, items, tools };
    const plain = this.#words.value(whole);
    return system === recordedPrompt ? { ...plain, hints: null } : plain;
  }

  #recorded({ request }: Exchange, withPrompt: boolean): Record<string, unknown> {
    const value = (number: number | null) => (number === null ? null : this.#recording.values.get(number));
    const { model, effort, session } = request;
    return {
      model,
      effort,
      system: withPrompt ? recordedPrompt : value(request.system),
      hints: withPrompt ? null : value(request.hints),
      session,
      items: request.items.map(value),
      tools: value(request.tools),
    };
  }

  #tool(offer: RecordedOffer): Tool {
    const { name, description, parameters, readOnly, offeredInPlan, modes, forPeople, startsAgents, sometimes } = offer;
    return {
      name,
      description,
      parameters,
      readOnly,
      ...(offeredInPlan === undefined ? {} : { offeredInPlan }),
      ...(modes === undefined ? {} : { modes }),
      ...(forPeople === undefined ? {} : { forPeople }),
      ...(startsAgents === undefined ? {} : { startsAgents }),
      ...(sometimes === undefined ? {} : { relevant: () => this.#offersNext(name) }),
      prepare: (args) => this.#prepare(name, args),
    };
  }

  /** Whether the request that comes next offered it. */
  #offersNext(tool: string): boolean {
    const next = this.#recording.exchanges.find((one) => !this.#asked.has(one));
    const tools = next === undefined ? [] : this.#recording.values.get(next.request.tools);
    return Array.isArray(tools) && tools.some((one: unknown) => (one as { name?: unknown }).name === tool);
  }

  #prepare(tool: string, args: Record<string, unknown>): PreparedCall | { problem: string } {
    const plain = this.#words.value(args);
    const row = this.#calls.get(keyOf(tool, plain));
    if (row === undefined) {
      const what = `${tool} ${canonicalJson(plain)} was not called in the recording.`;
      this.#ends.difference(what);
      return { problem: what };
    }
    const { display, problem } = row.recorded.call;
    if (display === null) return { problem: problem ?? '' };
    return {
      display,
      assess: () => Promise.resolve(this.#assess(row)),
      execute: (environment, signal) => this.#execute(row, environment, signal),
    };
  }

  /** The last word before the result that comes next: a call may be judged more than once, as the world moves. */
  #assess({ recorded, made }: { recorded: RecordedCall; made: number }): Assessment {
    const times = recorded.times.slice(0, made + 1).flatMap(({ assessments }) => assessments);
    const last = times.at(-1);
    if (last !== undefined) return last as Assessment;
    const reason = `${recorded.call.tool} was not judged in the recording.`;
    this.#ends.difference(reason);
    return { effect: 'refused', reason };
  }

  async #execute(
    row: { recorded: RecordedCall; made: number },
    environment: ToolEnvironment,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const result = row.recorded.times[row.made]?.result;
    if (result == null) {
      if (!this.#ends.stopped())
        this.#ends.difference(
          `${row.recorded.call.tool} ${canonicalJson(row.recorded.call.arguments)} was not carried out once more in the recording.`,
        );
      await untilAborted(signal);
      return { outcome: 'failed', content: [] };
    }
    row.made += 1;
    for (const part of result.content) {
      const bytes = part.type === 'text' ? undefined : this.#recording.blobs.get(part.blob.sha256);
      if (bytes !== undefined) await environment.storeBlob(bytes);
    }
    return result as ToolResult;
  }
}

function resultsOf({ times }: RecordedCall): number {
  return times.filter(({ result }) => result !== null).length;
}

/** Waiting to try again is not replayed; whether it was tried again is. */
function playable(event: Exchange['events'][number]): StreamEvent {
  if (event.type !== 'failed' || (event.retryAfterMs !== null && event.retryAfterMs > longestRetryMs))
    return event as StreamEvent;
  return { ...event, retryAfterMs: 0 };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
