/**
 * The socket of an Alcove daemon as a page uses it, with a clock: when each message came, how many bytes it had. What comes is stamped before it
 * is parsed, so the client's own work is not counted as the daemon's.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { CommandName, HandshakeResult, Params, Result } from '#protocol/command.ts';
import { helloTranscript } from '#protocol/commands/handshake.ts';
import type { SessionEvent } from '#protocol/event.ts';
import { subprotocol } from '#protocol/limits.ts';
import { now } from '../measure.ts';

export interface Device {
  readonly deviceId: string;
  readonly token: string;
}

export interface Batch {
  readonly events: readonly SessionEvent[];
  readonly at: number;
  readonly bytes: number;
}

interface Answer<T> {
  readonly result: T;
  /** When it came, in µs. */
  readonly at: number;
  readonly bytes: number;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
  readonly params?: { readonly subscription: string; readonly events: SessionEvent[] };
}

export class AlcoveSocket {
  readonly #socket: WebSocket;
  readonly #asked = new Map<number, { resolve(answer: Answer<unknown>): void; reject(error: Error): void }>();
  readonly #readers = new Map<string, (batch: Batch) => void>();
  /** Batches of subscriptions whose answer has not been handed on yet. */
  readonly #early = new Map<string, Batch[]>();
  #lastId = 0;
  /** Resolves once nothing more will come. */
  readonly closed: Promise<void>;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = once(socket, 'close').then(() => {
      for (const { reject } of this.#asked.values()) reject(new Error('the socket closed before the answer came'));
      this.#asked.clear();
    });
    socket.on('message', (data) => {
      const at = now();
      const bytes = data as Buffer;
      this.#take(JSON.parse(bytes.toString()) as Message, at, bytes.length);
    });
  }

  /** Connects, shakes hands and authenticates. */
  static async connect(port: number, device: Device): Promise<AlcoveSocket> {
    const socket = new WebSocket(`ws://localhost:${port}/ws`, [subprotocol]);
    await once(socket, 'open');
    socket.on('error', () => undefined); // A killed daemon; whoever waits for an answer is told by the close.
    const client = new AlcoveSocket(socket);
    const nonce = randomBytes(16).toString('base64url');
    const { result: hello } = await client.#ask<HandshakeResult<'hello'>>('hello', {
      nonce,
      protocol: { major: 1, minor: 0 },
    });
    const transcript = helloTranscript({ ...hello, clientNonce: nonce, daemonNonce: hello.nonce });
    const key = createHash('sha256').update(device.token).digest();
    const proof = createHmac('sha256', key).update(transcript).digest('base64url');
    await client.#ask('authenticate', { deviceId: device.deviceId, proof });
    return client;
  }

  call<Name extends CommandName>(method: Name, params: Params<Name>): Promise<Answer<Result<Name>>> {
    return this.#ask(method, params);
  }

  /** Subscribes; every batch from the first on goes to `read`. */
  async subscribe(
    params: Params<'session.subscribe'>,
    read: (batch: Batch) => void,
  ): Promise<Answer<Result<'session.subscribe'>>> {
    const answer = await this.call('session.subscribe', params);
    const { subscription } = answer.result;
    this.#readers.set(subscription, read);
    for (const batch of this.#early.get(subscription) ?? []) read(batch);
    this.#early.delete(subscription);
    return answer;
  }

  async close(): Promise<void> {
    this.#socket.close();
    await this.closed;
  }

  #ask<T>(method: string, params: object): Promise<Answer<T>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve: resolve as (answer: Answer<unknown>) => void, reject });
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  #take(message: Message, at: number, bytes: number): void {
    if (message.method === 'session.events' && message.params !== undefined) {
      const { subscription, events } = message.params;
      const batch = { events, at, bytes };
      const read = this.#readers.get(subscription);
      if (read !== undefined) read(batch);
      else this.#early.set(subscription, [...(this.#early.get(subscription) ?? []), batch]);
    }
    const asked = message.id === undefined ? undefined : this.#asked.get(message.id);
    if (message.id === undefined || asked === undefined) return;
    this.#asked.delete(message.id);
    if (message.error !== undefined) asked.reject(new Error(message.error.message));
    else asked.resolve({ result: message.result, at, bytes });
  }
}
