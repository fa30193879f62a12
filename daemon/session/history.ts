/**
 * The reading half of a session: any range of its log, the tail, a page of earlier history, the whole. Works on a log that is being written
 * (up to the writer's end), on one that another process writes, and on a damaged one: what can be read is shown, before and after the damage.
 * What it costs depends on what is asked for, not on the length of the log, as far as the index reaches.
 */
import { atStepBoundary, toBase } from '#protocol/conversation/base.ts';
import { condense } from '#protocol/conversation/condense.ts';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import { RequestError } from '#protocol/errors.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { JsonValue } from '#protocol/values/json.ts';
import { pageBytes } from '../base/limits.ts';
import type { StoredEvent } from '../log/codec.ts';
import { LogIndex } from '../log/index-file.ts';
import { LogError } from '../log/log-error.ts';
import { readEvents, walkHeaders, type Damage, type LogPlace, type ReadLimits } from '../log/reader.ts';

/** A base with its place: `decoded` is the length of the log before it, in characters of JSON Lines. */
export interface Base extends LogPlace {
  readonly conversation: Conversation;
  readonly decoded: number;
}

const start: Base = { offset: 0, seq: 0, decoded: 0, conversation: emptyConversation };

/** Takes a base wherever the log has grown by a page and the conversation stands between two steps. Shared by writing and rebuilding. */
export class BaseTaker {
  #last: Base;
  #decoded: number;

  constructor(from: Base) {
    this.#last = from;
    this.#decoded = from.decoded;
  }

  /** After each frame: a new base where one is due, else null. */
  afterFrame(conversation: Conversation, end: number, characters: number): Base | null {
    this.#decoded += characters;
    if (this.#decoded - this.#last.decoded < pageBytes || !atStepBoundary(conversation)) return null;
    this.#last = { offset: end, seq: conversation.seq, decoded: this.#decoded, conversation: toBase(conversation) };
    return this.#last;
  }
}

export class History {
  readonly #path: string;
  #index: LogIndex;
  /** Of the files that the log was before it was repacked: whoever reads in them just now reads on. */
  readonly #earlier: LogIndex[] = [];
  readonly #ours: boolean;
  /** The byte that may be read up to; undefined: the file's end. */
  readonly #until: () => number | undefined;

  /** `until`: the end of what was written, for the writer itself. */
  constructor(path: string, index: LogIndex, until: (() => number) | null = null) {
    this.#path = path;
    this.#index = index;
    this.#ours = until !== null;
    this.#until = until ?? (() => undefined);
  }

  get #limits(): ReadLimits {
    const until = this.#until();
    return until === undefined ? {} : { until };
  }

  /** For those who only look, at a log that they do not write. */
  static async open(path: string): Promise<History> {
    return new History(path, await LogIndex.openForReading(path));
  }

  /** The log was repacked by its writer, and its index with it. */
  repacked(index: LogIndex): void {
    this.#earlier.push(this.#index);
    this.#index = index;
  }

  /** Resolves once every base that was to be remembered stands in the index. */
  settled(): Promise<void> {
    return this.#index.settled();
  }

  /** A log may be repacked between finding a place in it and opening it: then the place is looked for anew. */
  async #onceMore<T>(work: () => Promise<T>): Promise<T> {
    for (let left = 2; ; left -= 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof LogError) || error.code !== 'changed' || left === 0) throw error;
        if (!this.#ours) this.repacked(await LogIndex.openForReading(this.#path));
      }
    }
  }

  /** The newest base at or before a seq. */
  async baseBefore(seq: number): Promise<Base> {
    const entry = await this.#index.find(seq);
    if (entry === null) return start;
    const { conversation, decoded } = entry.base as unknown as Pick<Base, 'conversation' | 'decoded'>;
    return { offset: entry.offset, seq: entry.seq, conversation, decoded };
  }

  async remember(base: Base): Promise<void> {
    const { conversation, decoded } = base;
    await this.#index.append({
      seq: base.seq,
      offset: base.offset,
      base: { conversation, decoded } as unknown as JsonValue,
    });
  }

  /** Events after `after`, at least one where there is one, until about `maxCharacters` of JSON. */
  read(after: number, maxCharacters: number): Promise<SessionEvent[]> {
    return this.#onceMore(async () => {
      const events: SessionEvent[] = [];
      let characters = 0;
      for await (const { event, line } of this.stored(await this.baseBefore(after), after)) {
        events.push(event);
        characters += line.length;
        if (characters >= maxCharacters) break;
      }
      return events;
    });
  }

  /** Every stored event after `after`, from a place on; damage is passed to `damaged` and reading goes on behind it. */
  async *stored(
    from: LogPlace,
    after: number,
    upTo = Infinity,
    damaged?: (damage: Damage) => void,
  ): AsyncGenerator<StoredEvent> {
    for await (const found of readEvents(this.#path, from, this.#limits)) {
      if (found.kind === 'damage') {
        damaged?.(found);
        continue;
      }
      if (found.firstSeq + found.count - 1 <= after) continue;
      if (found.firstSeq > upTo) return;
      for (const stored of found.events) if (stored.event.seq > after && stored.event.seq <= upTo) yield stored;
    }
  }

  /** A base with at least `tailCharacters` of log behind it, so that a screen opens on something: from its seq on the reader reads. */
  tail(tailCharacters: number): Promise<Conversation> {
    return this.#onceMore(async () => {
      let base = await this.baseBefore(Infinity);
      let behind = await this.#charactersBehind(base, tailCharacters);
      while (behind < tailCharacters && base.seq > 0) {
        const earlier = await this.baseBefore(base.seq - 1);
        behind += base.decoded - earlier.decoded;
        base = earlier;
      }
      return base.conversation;
    });
  }

  /** By the headers alone. A character may be several bytes: there may be a little less behind it than is said. */
  async #charactersBehind(base: Base, enough: number): Promise<number> {
    let characters = 0;
    for await (const found of walkHeaders(this.#path, base, this.#limits)) {
      if (found.kind === 'frame') characters += found.decodedBytes;
      if (characters >= enough) break;
    }
    return characters;
  }

  /** The page of whole steps that ends just before a seq which is a base's (`base.seq + 1`). */
  page(before: number): Promise<{ base: Conversation; events: SessionEvent[] }> {
    return this.#onceMore(async () => {
      const base = await this.baseBefore(before - 2);
      const events: SessionEvent[] = [];
      for await (const { event } of this.stored(base, base.seq, before - 1)) events.push(event);
      return { base: base.conversation, events: condense(events) };
    });
  }

  /** Folds from the newest base. */
  foldTail(damaged?: (damage: Damage) => void): Promise<{ conversation: Conversation; place: LogPlace }> {
    return this.#onceMore(async () => this.fold(await this.baseBefore(Infinity), damaged));
  }

  /** Folds from a base to the end of what can be read. Bases that are due on the way are remembered. Rejects with `changed` where the log is another by now. */
  async fold(
    from: Base,
    damaged?: (damage: Damage) => void,
  ): Promise<{ conversation: Conversation; taker: BaseTaker; place: LogPlace }> {
    const taker = new BaseTaker(from);
    let { conversation } = from;
    let place: LogPlace = { offset: from.offset, seq: from.seq };
    for await (const found of readEvents(this.#path, from, this.#limits)) {
      if (found.kind === 'damage') {
        damaged?.(found);
        continue;
      }
      let characters = 0;
      for (const { event, line } of found.events) {
        conversation = reduce(conversation, event);
        characters += line.length + 1;
      }
      place = { offset: found.end, seq: conversation.seq };
      const due = taker.afterFrame(conversation, found.end, characters);
      if (due !== null) await this.remember(due);
    }
    return { conversation, taker, place };
  }

  /** Where the log ends now, looking on from a place; only headers are read. */
  async end(from: LogPlace): Promise<LogPlace> {
    let place = from;
    for await (const found of walkHeaders(this.#path, from)) {
      if (found.kind === 'frame') place = { offset: found.end, seq: found.firstSeq + found.count - 1 };
    }
    return place;
  }

  /** Folds the whole log from its beginning, telling each event on the way. */
  async foldAll(each: (stored: StoredEvent) => void, damaged: (damage: Damage) => void): Promise<Conversation> {
    let conversation = emptyConversation;
    for await (const stored of this.stored({ offset: 0, seq: 0 }, 0, Infinity, damaged)) {
      conversation = reduce(conversation, stored.event);
      each(stored);
    }
    return conversation;
  }

  /** Everything up to a base, folded from the start: what a conversation that began there leaves out. Rejects with `read_only` where a part of it is damaged. */
  async before(baseSeq: number): Promise<Conversation> {
    let conversation = emptyConversation;
    for await (const { event } of this.whole(baseSeq)) conversation = reduce(conversation, event);
    return conversation;
  }

  /** Every stored event from the first up to a seq. Rejects with `read_only` where one of them cannot be read. */
  async *whole(upTo: number): AsyncGenerator<StoredEvent> {
    let last = 0;
    const damages: Damage[] = [];
    for await (const stored of this.stored(start, 0, upTo, (damage) => void damages.push(damage))) {
      if (stored.event.seq !== last + 1) break;
      last = stored.event.seq;
      yield stored;
    }
    if (last >= upTo) return;
    const [damage] = damages;
    throw damage === undefined
      ? new RequestError('conflict', `This session has no event ${upTo}.`)
      : new RequestError('read_only', unreadable(last, damage));
  }

  async close(): Promise<void> {
    for (const index of [...this.#earlier, this.#index]) await index.close();
  }
}

function unreadable(last: number, { from, to, reason }: Damage): string {
  return `The log of this session cannot be read after event ${last} (bytes ${from} to ${to}: ${reason}). It can be shown and exported, but not continued; a copy up to there can.`;
}
