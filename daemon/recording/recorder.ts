/**
 * Writes down what one run is told: by models, which it wraps, by tools, which it wraps, and by its person, of whom the events tell. What is
 * wrapped does the same as before. Folders, ids and keys are left out of everything (plain-words.ts).
 */
import { createHash } from 'node:crypto';
import type { KnownEvent, SessionEvent } from '#protocol/event.ts';
import { isKnown } from '#protocol/event.ts';
import type { InputPart } from '#protocol/values/content.ts';
import type { CallId } from '#protocol/values/ids.ts';
import { canonicalJson } from '../base/digest.ts';
import type { ModelRequest, StreamEvent } from '../llm/item.ts';
import type { ModelClient } from '../llm/model-stream.ts';
import type { ResolveModel } from '../llm/resolved-model.ts';
import type { Tool } from '../tools/tool.ts';
import { RECORDING_VERSION, type EntryOf, type RecordingHeader } from './format.ts';
import type { PlainWords, StreamedText } from './plain-words.ts';
import { RecordedCalls } from './recorded-calls.ts';
import { type RecordingFile } from './recording-file.ts';

export class Recorder {
  readonly #file: RecordingFile;
  readonly #words: PlainWords;
  readonly #calls: RecordedCalls;
  /** Values that stand in the file, by what they are. */
  readonly #values = new Map<string, number>();
  readonly #models = new Map<string, string>();
  /** The place of each agent in the tree, by its session. */
  readonly #places = new Map<string, string>();
  #exchanges = 0;

  constructor(file: RecordingFile, words: PlainWords) {
    this.#file = file;
    this.#words = words;
    this.#calls = new RecordedCalls(file, words);
  }

  get problem(): string | null {
    return this.#file.problem;
  }

  begin(header: Omit<RecordingHeader, 'type' | 'version'>): void {
    this.#file.write({ type: 'recording', version: RECORDING_VERSION, ...header });
  }

  models(resolve: ResolveModel): ResolveModel {
    return async (name) => {
      const found = await resolve(name);
      const { client, ...facts } = 'failure' in found ? { client: null, ...found } : found;
      const told = this.#words.value(facts) as EntryOf<'model'>['found'];
      const text = canonicalJson(told);
      if (this.#models.get(name) !== text) this.#file.write({ type: 'model', name, found: told });
      this.#models.set(name, text);
      return client === null || 'failure' in found ? found : { ...found, client: this.#client(client) };
    };
  }

  tools(tools: readonly Tool[]): readonly Tool[] {
    return tools.map((tool) => this.#calls.wrap(tool));
  }

  /** The person says this to the run's own agent: told before it is, with all of its text. */
  submitted(parts: readonly InputPart[]): void {
    this.#file.write({ type: 'submitted', parts: this.#words.value([...parts]) });
  }

  /** Events of a session, of the run's own or of a sub-agent, once they are durable. */
  heard(sessionId: string, events: readonly SessionEvent[]): void {
    for (const event of events) if (isKnown(event)) this.#event(sessionId, event);
  }

  /** The run has come to its end. */
  finish(): void {
    this.#file.write({ type: 'end' });
    this.close();
  }

  /** Without an end: what stands there is a prefix. */
  close(): void {
    this.#file.close();
  }

  #client(client: ModelClient): ModelClient {
    return {
      stream: (request, signal) => this.#stream(client, request, signal),
      close: () => client.close(),
    };
  }

  async *#stream(client: ModelClient, request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const exchange = this.#request(request);
    const texts = new Map<string, StreamedText>();
    const write = (event: EntryOf<'stream'>['event']) => this.#file.write({ type: 'stream', exchange, event });
    const flush = (key: string) => {
      const text = texts.get(key)?.end() ?? '';
      if (text !== '') write({ type: 'part-delta', key, text });
    };
    for await (const event of client.stream(request, signal)) {
      if (event.type === 'part-delta') {
        const streamed = texts.get(event.key) ?? this.#words.streamed();
        texts.set(event.key, streamed);
        const text = streamed.push(event.text);
        if (text !== '') write({ type: 'part-delta', key: event.key, text });
      } else {
        if (event.type === 'part-ended') flush(event.key);
        else if (event.type !== 'part-started') for (const key of texts.keys()) flush(key);
        write(this.#words.value(event));
      }
      yield event;
    }
  }

  #request({ model, effort, system, hints, session, items, tools }: ModelRequest): number {
    const exchange = (this.#exchanges += 1);
    // The values come first: a reader goes from top to bottom.
    const numbers = items.map((item) => this.#value(item));
    const entry: EntryOf<'request'> = {
      type: 'request',
      exchange,
      model,
      effort,
      system: this.#value(system),
      hints: hints === undefined ? null : this.#value(hints),
      session: session === undefined ? null : this.#words.text(session),
      items: numbers,
      tools: this.#value(tools),
    };
    this.#file.write(entry);
    return exchange;
  }

  #value(value: unknown): number {
    const plain = this.#words.value(value);
    const name = createHash('sha256').update(canonicalJson(plain)).digest('base64');
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const number = this.#values.size + 1;
    this.#values.set(name, number);
    this.#file.write({ type: 'value', value: number, is: plain });
    return number;
  }

  #event(sessionId: string, event: KnownEvent): void {
    const agent = this.#places.get(sessionId) ?? '';
    const write = (entry: Parameters<RecordingFile['write']>[0]) => this.#file.write(this.#words.value(entry));
    if (event.type === 'session.created') {
      const above = event.spawned === undefined ? null : (this.#places.get(event.spawned.sessionId) ?? '');
      this.#places.set(sessionId, placeBelow(above, event.spawned?.callId));
    } else if (event.type === 'session.configured') {
      // What a plan sets when it is accepted has no command: the answer does it again.
      if (agent === '' && event.command !== undefined)
        write({
          type: 'configured',
          ...(event.mode === undefined ? {} : { mode: event.mode }),
          ...(event.model === undefined ? {} : { model: event.model }),
          ...(event.effort === undefined ? {} : { effort: event.effort }),
        });
    } else if (event.type === 'approval.resolved') {
      write({
        type: 'answered',
        agent,
        approvalId: event.approvalId,
        decision: event.decision,
        scope: event.scope,
        ...(event.note === undefined ? {} : { note: event.note }),
        ...(event.arguments === undefined ? {} : { arguments: event.arguments }),
      });
    } else if (event.type === 'question.resolved') {
      write({
        type: 'replied',
        agent,
        questionId: event.questionId,
        answer: event.answer,
        ...(event.option === undefined ? {} : { option: event.option }),
      });
    } else if (event.type === 'tool-call.ended')
      write({ type: 'call-ended', agent, callId: event.callId, outcome: event.outcome });
    else if (event.type === 'turn.ended') write({ type: 'turn-ended', agent, outcome: event.outcome });
  }
}

/** The run's own agent stands at ''. */
export function placeBelow(above: string | null, callId: CallId | undefined): string {
  return above === null || callId === undefined ? '' : `${above}${callId}/`;
}
