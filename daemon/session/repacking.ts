/**
 * When a session's log is repacked: at the end of a turn, where small frames have come to a good part of it, and when it is closed. The copying
 * goes on beside the session's own writing and waits for nobody; only the change of files stands between two writes. Where it fails the log
 * stays as it is.
 */
import {
  maxRepackBytesAtClose,
  readWindowBytes,
  repackBytes,
  repackBytesAtClose,
  repackShare,
  smallFrameBytes,
} from '../base/limits.ts';
import type { LogIndex } from '../log/index-file.ts';
import type { OpenLogFile } from '../log/log-file.ts';
import { logStart, walkHeaders, type LogPlace } from '../log/reader.ts';
import { Repack } from '../log/repack.ts';
import type { LogWriter } from '../log/writer.ts';

export interface RepackingPorts {
  readonly path: string;
  readonly openFile: OpenLogFile | undefined;
  writer(): LogWriter;
  /** Runs with no write in flight, neither of the log nor of its index. */
  betweenWrites(change: () => Promise<void>): Promise<void>;
  /** From here on these are the log's. */
  replaced(writer: LogWriter, index: LogIndex): void;
  fault(error: unknown): void;
}

/** Whether it is worth it: from the bytes that stand in small frames, and those of the log. */
type Due = (loose: number, bytes: number) => boolean;

const atTurnEnd: Due = (loose, bytes) => loose >= Math.max(repackBytes, repackShare * bytes);
const atClose: Due = (loose, bytes) => loose >= repackBytesAtClose && bytes <= maxRepackBytesAtClose;

export class Repacking {
  readonly #ports: RepackingPorts;
  /** What was there when the log was opened: its newest base, and its end. Null once it was repacked. */
  #found: { base: LogPlace; end: number } | null;
  /** Bytes of it in small frames; looked for once, when they first matter. */
  #foundLoose: Promise<number> | null = null;
  #writtenLoose = 0;
  #running: { done: Promise<void>; stop: AbortController } | null = null;

  /** `found`: what there was when the log was opened; null for a new one. */
  constructor(ports: RepackingPorts, found: { base: LogPlace; end: number } | null) {
    this.#ports = ports;
    this.#found = found;
  }

  /** After each write: its bytes, and the characters of its events. */
  written(bytes: number, characters: number): void {
    if (characters < smallFrameBytes) this.#writtenLoose += bytes;
  }

  turnEnded(): void {
    void this.#run(atTurnEnd);
  }

  /** One that is under way is given up; a log that is small enough is repacked now. */
  async close(): Promise<void> {
    this.#running?.stop.abort();
    await this.#running?.done;
    await this.#run(atClose);
  }

  /** Never rejects. */
  #run(due: Due): Promise<void> {
    if (this.#running !== null) return this.#running.done;
    const { closedBecause, form } = this.#ports.writer();
    if (closedBecause !== null || form !== 'framed') return Promise.resolve();
    const stop = new AbortController();
    const done = this.#repackWhere(due, stop.signal)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) this.#ports.fault(error);
      })
      .finally(() => (this.#running = null));
    this.#running = { done, stop };
    return done;
  }

  async #repackWhere(due: Due, signal: AbortSignal): Promise<void> {
    const { path, openFile } = this.#ports;
    const before = this.#ports.writer().tail;
    this.#foundLoose ??= this.#looseFound();
    if (!due(this.#writtenLoose + (await this.#foundLoose), before.end)) return;
    const repack = await Repack.begin(path, before, signal, openFile);
    await this.#ports.betweenWrites(async () => {
      const old = this.#ports.writer();
      const { writer, index } = await repack.finish(old.tail);
      this.#ports.replaced(writer, index);
      this.#found = null;
      this.#foundLoose = null;
      this.#writtenLoose = 0;
      await old.close();
    });
  }

  /** Told by a few frames, at the beginning and behind the newest base: a log is loose all over, or at its end only. */
  async #looseFound(): Promise<number> {
    if (this.#found === null) return 0;
    const { base, end } = this.#found;
    if (base.offset > 0 && (await this.#looseFrom(logStart, readWindowBytes)) >= readWindowBytes / 2) return end;
    const atEnd = await this.#looseFrom(base, end);
    // More than one closing leaves: its writer was killed, and nobody knows how much of what stands before is like that.
    return atEnd > 2 * repackBytesAtClose ? end : atEnd;
  }

  async #looseFrom(place: LogPlace, until: number): Promise<number> {
    let loose = 0;
    for await (const found of walkHeaders(this.#ports.path, place, { until })) {
      if (found.kind === 'damage') break;
      if (found.decodedBytes < smallFrameBytes) loose += found.end - found.offset;
    }
    return loose;
  }
}
