/**
 * What goes down one socket, and when there is room for more. A ping follows every few batches, and its answer says how far the client has
 * received: bytes in the kernel's or a tunnel's buffers count as unread. Promises:
 *   O1  what is pulled is composed only when it can be sent: a slow client holds a bounded part of our memory, and loses nothing
 *   O2  pulls are served one after the other, in the order in which they were asked for
 *   O3  answers are never held back; a client that asks on and on without reading is cut off
 */
import type { WebSocket } from 'ws';
import { maxUnsentBytes } from '#protocol/limits.ts';
import { SerialQueue } from '../base/serial.ts';
import { maxUnreadBytes, pingEveryBytes } from './limits.ts';

/** Where a reader of events sends what it reads: a socket, or a streamed answer. */
export interface Outlet {
  /** Waits for room, then sends what `compose` returns; null sends nothing. Rejects with what it throws. Returns early once aborted. */
  pull(signal: AbortSignal, compose: () => Promise<string | null> | string | null): Promise<void>;
}

export class Outbox implements Outlet {
  readonly #socket: WebSocket;
  readonly #pulls = new SerialQueue();
  #sent = 0;
  #received = 0;
  #pinged = 0;
  #closed = false;
  #wake: (() => void) | null = null;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Bytes that the client is not known to have received. */
  get unread(): number {
    return this.#sent - this.#received;
  }

  /** Resolves when the bytes are with the kernel, or the socket is gone. */
  send(text: string): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#sent += Buffer.byteLength(text);
    const flushed = new Promise<void>((resolve) => this.#socket.send(text, () => resolve()));
    if (this.#sent - this.#pinged >= pingEveryBytes) this.ping();
    if (this.unread > maxUnreadBytes) this.#socket.terminate();
    return flushed;
  }

  ping(): void {
    if (this.#closed) return;
    this.#pinged = this.#sent;
    this.#socket.ping(String(this.#sent));
  }

  /** Takes the answer to a ping. */
  pong(data: string): void {
    const received = /^[0-9]{1,16}$/.test(data) ? Number(data) : 0;
    if (received > this.#sent || received <= this.#received) return;
    this.#received = received;
    this.#wake?.();
  }

  pull(signal: AbortSignal, compose: () => Promise<string | null> | string | null): Promise<void> {
    return this.#pulls.run(async () => {
      while (!this.#mayPull(signal)) await new Promise<void>((resolve) => (this.#wake = resolve));
      if (this.#closed || signal.aborted) return;
      const text = await compose();
      if (text !== null) this.#sendUnlessAborted(text, signal);
    });
  }

  /** The socket is gone: who waits for room goes on and finds its signal aborted. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** Aborted while composing: what was read is not lost, the reader's cursor dies with it. */
  #sendUnlessAborted(text: string, signal: AbortSignal): void {
    if (!signal.aborted) void this.send(text);
  }

  /** True where there is room, or nothing is to be waited for any more. */
  #mayPull(signal: AbortSignal): boolean {
    return this.#closed || signal.aborted || this.unread < maxUnsentBytes;
  }
}
