/**
 * A session's log as a living thing, and the only writer of it. `transact(decide)` is the one way to write: a pure, synchronous decision over
 * the conversation returns events; they are written as one frame, folded, published, and the promise resolves once the bytes are with the
 * kernel. Invariants:
 *   S1  one write is in flight; what arrives meanwhile is decided in order when it has ended, and shares the next frame
 *   S2  nobody sees an event before its frame is written: not a subscriber, not the model, not the caller
 *   S3  where a write fails, its callers get the error, nobody sees the events, and the conversation is as before
 *   S4  what would not fold is not written: it is our fault, and an InvariantError
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isWhole, prepend } from '#protocol/conversation/base.ts';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import { RequestError } from '#protocol/errors.ts';
import type { Draft, KnownEvent, SessionEvent } from '#protocol/event.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import type { Clock } from '../base/clock.ts';
import { InvariantError, messageOf } from '../base/errors.ts';
import { ownerOnlyFileMode, ownerOnlyFolderMode } from '../base/files.ts';
import { frameTargetBytes, recentEventCharacters } from '../base/limits.ts';
import { acquireLock, type Lock } from '../base/lock.ts';
import { encodeEvent } from '../log/codec.ts';
import { LogIndex } from '../log/index-file.ts';
import { LogError } from '../log/log-error.ts';
import type { OpenLogFile } from '../log/log-file.ts';
import type { LogPlace } from '../log/reader.ts';
import { examine, cutTornTail } from '../log/repair.ts';
import { LogWriter } from '../log/writer.ts';
import { Blobs } from './blobs.ts';
import { BaseTaker, History, type Base } from './history.ts';
import type { SessionPlace } from './place.ts';
import { Repacking } from './repacking.ts';

/** Who writes a log, in words for whoever finds it locked. */
export interface Owner {
  pid: number;
  what: 'the daemon' | 'a terminal';
  since: number;
}

export interface SessionOptions {
  clock: Clock;
  owner: Owner['what'];
  /** `power`: synced to the disk too, before an input is acknowledged and before a tool starts. */
  durability: 'kernel' | 'power';
  /** Told of each group of events once they are durable. Must not throw. */
  published?: (session: Session, events: readonly SessionEvent[]) => void;
  /** A failure that no caller waits for, such as a sync after publishing. */
  fault?: (error: unknown) => void;
  /** How the log's file is opened for writing; tests let a disk fail with it. */
  openFile?: OpenLogFile;
}

interface Decided<T> {
  events: readonly Draft[];
  result: T;
}
interface Job {
  decide(conversation: Conversation): Decided<unknown>;
  resolve(value: { result: unknown; seq: number }): void;
  reject(error: unknown): void;
}

export class Session {
  readonly place: SessionPlace;
  readonly #options: SessionOptions;
  readonly #lock: Lock;
  /** Another one after each repack. */
  readonly #log: { writer: LogWriter };
  readonly #history: History;
  readonly #blobs: Blobs;
  #taker: BaseTaker;
  #conversation: Conversation;
  #jobs: Job[] = [];
  #draining: Promise<void> | null = null;
  #waiters = new Set<() => void>();
  #recent: { event: SessionEvent; characters: number }[] = [];
  #recentCharacters = 0;
  /** Up to here the conversation was a base when the log was opened; its history is read when it is asked for. */
  readonly #openedAt: number;
  #hydrating: Promise<void> | null = null;
  /** What changes the conversation without an event; done between two writes, so that no group that is being written misses it. */
  #between: (() => void | Promise<void>)[] = [];
  readonly #repacking: Repacking;
  #closed: Promise<void> | null = null;
  /** What repair did when the log was opened; null where the tail was whole. */
  readonly repaired: { keptAt: string; reason: string } | null;

  private constructor(
    place: SessionPlace,
    options: SessionOptions,
    parts: {
      lock: Lock;
      log: { writer: LogWriter };
      found: { base: LogPlace; end: number } | null;
      history: History;
      taker: BaseTaker;
      conversation: Conversation;
      openedAt: number;
      repaired: Session['repaired'];
    },
  ) {
    this.place = place;
    this.#options = options;
    this.#lock = parts.lock;
    this.#log = parts.log;
    this.#repacking = new Repacking(
      {
        path: place.log,
        openFile: options.openFile,
        writer: () => this.#log.writer,
        betweenWrites: (change) => this.#betweenWrites(change),
        replaced: (writer, index) => {
          this.#log.writer = writer;
          this.#history.repacked(index);
        },
        fault: (error) => options.fault?.(error),
      },
      parts.found,
    );
    this.#history = parts.history;
    this.#blobs = new Blobs(place.blobs);
    this.#taker = parts.taker;
    this.#conversation = parts.conversation;
    this.#openedAt = parts.openedAt;
    this.repaired = parts.repaired;
  }

  /** Makes a new, empty log. Rejects with `busy` where somebody holds its lock. */
  static async create(place: SessionPlace, options: SessionOptions): Promise<Session> {
    const lock = await takeLock(place, options);
    try {
      const log = { writer: await LogWriter.create(place.log, options.openFile) };
      const index = await LogIndex.openForWriting(place.log);
      const history = new History(place.log, index, () => log.writer.tail.end);
      const from: Base = { offset: 0, seq: 0, decoded: 0, conversation: emptyConversation };
      return new Session(place, options, {
        lock,
        log,
        found: null,
        history,
        taker: new BaseTaker(from),
        conversation: emptyConversation,
        openedAt: 0,
        repaired: null,
      });
    } catch (error) {
      await releaseLock(lock, place);
      throw error;
    }
  }

  /** Opens a log for writing: a torn tail is cut and kept aside. Rejects with `busy` (locked) or `read_only` (damaged), and opens nothing. */
  static async open(place: SessionPlace, options: SessionOptions): Promise<Session> {
    const lock = await takeLock(place, options);
    let index: LogIndex | null = null;
    try {
      index = await LogIndex.openForWriting(place.log);
      const looking = new History(place.log, index);
      const from = await looking.baseBefore(Infinity);
      let found = await examine(place.log, from);
      let repaired: Session['repaired'] = null;
      if (found.state === 'torn') {
        // The cut trims the index too: it is opened anew.
        await index.close();
        const keptAt = await cutTornTail(place.log, found.goodEnd);
        index = await LogIndex.openForWriting(place.log);
        repaired = { keptAt: keptAt ?? '', reason: found.reason };
        found = await examine(place.log, from);
      }
      if (found.state !== 'whole') {
        const range = found.state === 'damaged' ? `bytes ${found.from} to ${found.to}` : 'its end';
        throw new RequestError(
          'read_only',
          `The log of this session is damaged (${range}: ${found.reason}). It can be read and exported, but not continued.`,
        );
      }
      const tail = { end: found.end, lastSeq: found.lastSeq };
      const log = { writer: await LogWriter.open(place.log, tail, options.openFile) };
      const history = new History(place.log, index, () => log.writer.tail.end);
      const folded = await history.fold(from);
      return new Session(place, options, {
        lock,
        log,
        found: { base: from, end: tail.end },
        history,
        taker: folded.taker,
        conversation: folded.conversation,
        openedAt: from.seq,
        repaired,
      });
    } catch (error) {
      await index?.close();
      await releaseLock(lock, place);
      throw error;
    }
  }

  /** Durable state; what is being written is not in it. */
  get conversation(): Conversation {
    return this.#conversation;
  }

  get seq(): number {
    return this.#conversation.seq;
  }

  /** Why the log can no longer be written, or null. */
  get closedBecause(): string | null {
    return this.#log.writer.closedBecause;
  }

  /**
   * Resolves with the decision's result and the seq of its last event (of the conversation, where it made none) once everything it was based
   * on and all it made is durable. Rejects with what `decide` threw, or with `storage_failed`.
   */
  transact<T>(decide: (conversation: Conversation) => Decided<T>): Promise<{ result: T; seq: number }> {
    if (this.#closed !== null)
      return Promise.reject(new RequestError('unavailable', 'This session is being closed. Nothing was changed.'));
    return new Promise((resolve, reject) => {
      this.#jobs.push({ decide, resolve: resolve as Job['resolve'], reject });
      this.#draining ??= this.#drain();
    });
  }

  async append(events: readonly Draft[]): Promise<number> {
    const { seq } = await this.transact(() => ({ events, result: undefined }));
    return seq;
  }

  /** Events after `after`: from memory where it holds them, else from the log. */
  async read(after: number, maxCharacters: number): Promise<SessionEvent[]> {
    const first = this.#recent[0];
    if (first === undefined || first.event.seq > after + 1)
      return after >= this.seq ? [] : this.#history.read(after, maxCharacters);
    const events: SessionEvent[] = [];
    let characters = 0;
    for (
      let place = after + 1 - first.event.seq;
      place < this.#recent.length && characters < maxCharacters;
      place += 1
    ) {
      const recent = this.#recent[place];
      if (recent === undefined) break;
      events.push(recent.event);
      characters += recent.characters;
    }
    return events;
  }

  /** Resolves when the session has events after `after`; rejects with the signal's reason. */
  changed(after: number, signal: AbortSignal): Promise<void> {
    if (this.seq > after) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(wake);
        signal.removeEventListener('abort', abort);
      };
      const wake = () => {
        leave();
        resolve();
      };
      const abort = () => {
        leave();
        reject(signal.reason as Error);
      };
      if (signal.aborted) return abort();
      this.#waiters.add(wake);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  tail(tailCharacters: number): Promise<Conversation> {
    return this.#history.tail(tailCharacters);
  }

  page(before: number): Promise<{ base: Conversation; events: SessionEvent[] }> {
    return this.#history.page(before);
  }

  /** Makes the conversation's history whole, as far as no summary stands for it. Costs a read of the log, once. Rejects with `read_only` where the history is damaged: a hole is passed to nobody. */
  hydrate(): Promise<void> {
    const { compaction } = this.#conversation;
    if (isWhole(this.#conversation) || (compaction !== null && this.#openedAt < compaction.firstKeptSeq))
      return Promise.resolve();
    this.#hydrating ??= this.#readEarlier().catch((error: unknown) => {
      this.#hydrating = null;
      throw error;
    });
    return this.#hydrating;
  }

  storeBlob(bytes: Uint8Array): Promise<BlobRef> {
    return this.#blobs.put(bytes);
  }

  readBlob(blob: Pick<BlobRef, 'sha256'>): Promise<Uint8Array | null> {
    return this.#blobs.read(blob);
  }

  async spillFile(name: string): Promise<string> {
    await mkdir(this.place.spills, { recursive: true, mode: ownerOnlyFolderMode });
    return join(this.place.spills, name);
  }

  /** Waits for what was asked for, syncs, and frees the lock. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      await this.#draining;
      for (const wake of this.#waiters) wake();
      await this.#repacking.close();
      if (this.#log.writer.closedBecause === null)
        await this.#log.writer.sync().catch((error: unknown) => this.#options.fault?.(error));
      await this.#log.writer.close();
      await this.#history.close();
      await releaseLock(this.#lock, this.place);
    })();
    return this.#closed;
  }

  #betweenWrites(change: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#between.push(() => this.#history.settled().then(change).then(resolve, reject));
      this.#draining ??= this.#drain();
    });
  }

  async #readEarlier(): Promise<void> {
    const earlier = await this.#history.before(this.#openedAt);
    await new Promise<void>((resolve) => {
      this.#between.push(() => {
        this.#conversation = prepend(earlier, this.#conversation);
        resolve();
      });
      this.#draining ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    // Lets what is asked for in the same tick share the first frame.
    await Promise.resolve();
    while (this.#jobs.length > 0 || this.#between.length > 0) {
      for (const change of this.#between.splice(0)) await change();
      const jobs = this.#jobs;
      this.#jobs = [];
      await this.#writeGroup(jobs);
    }
    this.#draining = null;
  }

  async #writeGroup(jobs: readonly Job[]): Promise<void> {
    let scratch = this.#conversation;
    const events: KnownEvent[] = [];
    const lines: string[] = [];
    const accepted: { job: Job; result: unknown; seq: number }[] = [];
    let characters = 0;
    const at = Math.max(this.#options.clock.now(), this.#conversation.at);
    for (const [place, job] of jobs.entries()) {
      // A frame is filled with whole decisions: one that is small is never cut in two by what came before it.
      if (characters >= frameTargetBytes / 2) {
        this.#jobs = [...jobs.slice(place), ...this.#jobs];
        break;
      }
      try {
        const { events: drafts, result } = job.decide(scratch);
        const folded = foldStrictly(scratch, drafts, at);
        scratch = folded.conversation;
        // Not spread as arguments: a decision may make very many events.
        for (const event of folded.events) events.push(event);
        for (const line of folded.lines) {
          lines.push(line);
          characters += line.length;
        }
        accepted.push({ job, result, seq: scratch.seq });
      } catch (error) {
        job.reject(error);
      }
    }
    if (lines.length > 0) {
      let end: number;
      try {
        end = await this.#write(lines, events);
      } catch (error) {
        const refusal = storageRefusal(error);
        for (const { job } of accepted) job.reject(refusal);
        return;
      }
      this.#publish(scratch, events, lines, end);
    }
    for (const { job, result, seq } of accepted) job.resolve({ result, seq });
  }

  async #write(lines: readonly string[], events: readonly KnownEvent[]): Promise<number> {
    const { offset, end } = await this.#log.writer.append(lines, this.seq + 1);
    this.#repacking.written(
      end - offset,
      lines.reduce((sum, line) => sum + line.length, 0),
    );
    const matters = (event: KnownEvent) => event.type === 'input.queued' || event.type === 'tool-call.started';
    if (this.#options.durability === 'power' && events.some(matters)) await this.#log.writer.sync();
    return end;
  }

  #publish(conversation: Conversation, events: readonly KnownEvent[], lines: readonly string[], end: number): void {
    this.#conversation = conversation;
    let characters = 0;
    for (const [place, event] of events.entries()) {
      const length = (lines[place]?.length ?? 0) + 1;
      characters += length;
      this.#recent.push({ event, characters: length });
    }
    this.#recentCharacters += characters;
    if (this.#recentCharacters > 2 * recentEventCharacters) this.#forgetOldest();
    const due = this.#taker.afterFrame(conversation, end, characters);
    if (due !== null) void this.#history.remember(due);
    const waiters = [...this.#waiters];
    for (const wake of waiters) wake();
    try {
      this.#options.published?.(this, events);
    } catch (error) {
      // It is written all the same, and its callers are told so.
      this.#options.fault?.(error);
    }
    const turnEnded = events.some((event) => event.type === 'turn.ended');
    if (turnEnded || events.some((event) => event.type === 'session.created'))
      this.#log.writer.sync().catch((error: unknown) => this.#options.fault?.(error));
    if (turnEnded) this.#repacking.turnEnded();
  }

  #forgetOldest(): void {
    let place = 0;
    while (this.#recentCharacters > recentEventCharacters && place < this.#recent.length) {
      this.#recentCharacters -= this.#recent[place]?.characters ?? 0;
      place += 1;
    }
    this.#recent = this.#recent.slice(place);
  }
}

function foldStrictly(
  from: Conversation,
  drafts: readonly Draft[],
  at: number,
): { conversation: Conversation; events: KnownEvent[]; lines: string[] } {
  let conversation = from;
  const events: KnownEvent[] = [];
  const lines: string[] = [];
  for (const draft of drafts) {
    const event = { seq: conversation.seq + 1, at, ...draft } as KnownEvent;
    const next = reduce(conversation, event);
    if (next.anomalies !== conversation.anomalies) {
      throw new InvariantError(
        `event ${event.seq} (${event.type}) does not fit: ${next.anomalies.at(-1)?.problem ?? 'unknown'}`,
      );
    }
    lines.push(encodeEvent(event));
    events.push(event);
    conversation = next;
  }
  return { conversation, events, lines };
}

function storageRefusal(error: unknown): RequestError {
  const next =
    error instanceof LogError && error.code === 'closed_for_writing'
      ? 'Start Alcove again to repair it.'
      : 'Make space and try again.';
  return new RequestError('storage_failed', `The session could not be written: ${messageOf(error)} ${next}`, {
    cause: error,
  });
}

async function takeLock(place: SessionPlace, options: SessionOptions): Promise<Lock> {
  const lock = acquireLock(place.lock);
  if (lock === null) throw new RequestError('busy', `This session is being written by ${await ownerOf(place)}.`);
  const owner: Owner = { pid: process.pid, what: options.owner, since: options.clock.now() };
  // Only words for others; without them the refusal is less clear, and nothing else is lost.
  await writeFile(place.owner, JSON.stringify(owner), { mode: ownerOnlyFileMode }).catch(() => undefined);
  return lock;
}

async function releaseLock(lock: Lock, place: SessionPlace): Promise<void> {
  await rm(place.owner, { force: true }).catch(() => undefined);
  lock.release();
}

/** Who holds the lock, as far as they left word. */
export async function ownerOf(place: SessionPlace): Promise<string> {
  try {
    const owner = JSON.parse(await readFile(place.owner, 'utf8')) as Owner;
    return `${owner.what} (process ${owner.pid})`;
  } catch {
    return 'another process';
  }
}
