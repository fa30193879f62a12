/**
 * One request to a provider and its answer, whatever the wire format: how far it came, why it was stopped, and the timers that may stop it.
 * It judges nothing; wire-client.ts does.
 */
import type { Failure } from '#protocol/values/outcome.ts';
import { afterFinishMs, maxReplyBytes } from '../../base/limits.ts';

export class Exchange {
  readonly idleMs: number;
  phase: 'preparing' | 'asking' | 'answered' = 'preparing';
  /** Of the answer; empty until there is one. */
  headers = new Headers();
  refusal: { status: number; text: string } | null = null;
  /** Why there was no token to ask with. */
  denied: Failure | null = null;
  /** Why we ended it ourselves; null while we have not. */
  stopped: 'aborted' | 'silent' | 'too-large' | 'finish' | 'over' | null = null;
  readonly #connection = new AbortController();
  #idle: NodeJS.Timeout | null = null;
  #finish: NodeJS.Timeout | null = null;
  #bytes = 0;

  constructor(idleMs: number) {
    this.idleMs = idleMs;
  }

  get signal(): AbortSignal {
    return this.#connection.signal;
  }

  waitBegins(): void {
    if (this.stopped !== null) return;
    if (this.#idle === null) this.#idle = setTimeout(() => this.stop('silent'), this.idleMs);
    else this.#idle.refresh();
  }

  waitEnds(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
  }

  /** Any byte is a sign of life: some providers send comments while they think. */
  received(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > maxReplyBytes) this.stop('too-large');
    this.#idle?.refresh();
  }

  finishSoon(): void {
    this.#finish ??= setTimeout(() => this.stop('finish'), afterFinishMs);
  }

  /** The answer came whole: its connection may serve the next request. */
  bodyEnded(): void {
    this.stopped ??= 'over';
  }

  /** Ends the connection; the first reason stays. */
  stop(reason: NonNullable<Exchange['stopped']>): void {
    const over = this.stopped === 'over';
    this.stopped ??= reason;
    this.waitEnds();
    if (this.#finish !== null) clearTimeout(this.#finish);
    this.#finish = null;
    if (!over) this.#connection.abort();
  }
}
