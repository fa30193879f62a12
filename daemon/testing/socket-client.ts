/** A client of the socket as a page is one: shakes hands, asks, keeps what comes. Checks nothing that the test does not ask for. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { helloTranscript } from '#protocol/commands/handshake.ts';
import type { SessionEvent } from '#protocol/event.ts';
import { subprotocol } from '#protocol/limits.ts';

/** Whatever came, with the fields that tests look at. Only those of the message that it is are there. */
export interface Came {
  readonly id: string | number | null;
  readonly method: string;
  readonly error: { code: number; message: string; data: { code: string } };
  readonly result: {
    bearer: string;
    nonce: string;
    signature: string;
    machineId: string;
    bootId: string;
    subscription: string;
    events: SessionEvent[];
    devices: { deviceId: string; connected: boolean }[];
    link: string;
    ssh: string;
    typed: string;
  };
  readonly params: {
    subscription: string;
    events: SessionEvent[];
    topic: string;
    session: { state: string };
  };
}

export interface Credentials {
  readonly deviceId: string;
  readonly token: string;
}

export class SocketClient {
  readonly socket: WebSocket;
  readonly received: Came[] = [];
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  readonly opened: Promise<void>;
  /** What authenticating gave. */
  bearer = '';
  #lastId = 0;
  #isClosed = false;
  readonly #events = new Map<string, SessionEvent[]>();
  readonly #lookers = new Set<() => void>();

  constructor(port: number, options: { protocols?: string[]; headers?: Record<string, string> } = {}) {
    this.socket = new WebSocket(`ws://localhost:${port}/ws`, options.protocols ?? [subprotocol], {
      headers: options.headers,
    });
    this.opened = new Promise((resolve, reject) => {
      this.socket.on('open', resolve);
      this.socket.on('error', reject);
    });
    this.opened.catch(() => undefined);
    this.closed = new Promise((resolve) => this.socket.on('close', resolve));
    void this.closed.then(() => {
      this.#isClosed = true;
      this.#look();
    });
    this.socket.on('message', (data) => {
      const message = JSON.parse((data as Buffer).toString()) as Came;
      this.received.push(message);
      if (message.method === 'session.events') this.#keep(message.params);
      this.#look();
    });
    onTestFinished(() => this.socket.terminate());
  }

  /** Connects and authenticates. */
  static async connect(port: number, credentials: Credentials): Promise<SocketClient> {
    const client = new SocketClient(port);
    await client.opened;
    const answer = await client.authenticate(credentials);
    if (!isResult(answer)) throw new Error(answer.error.message);
    return client;
  }

  async hello(nonce = randomBytes(16).toString('base64url')): Promise<{ answer: Came; transcript: string }> {
    const answer = await this.call('hello', { nonce, protocol: { major: 1, minor: 0 } });
    const { machineId, bootId, nonce: daemonNonce } = answer.result;
    return { answer, transcript: helloTranscript({ machineId, bootId, clientNonce: nonce, daemonNonce }) };
  }

  async authenticate({ deviceId, token }: Credentials): Promise<Came> {
    const { transcript } = await this.hello();
    const answer = await this.call('authenticate', { deviceId, proof: proofOf(token, transcript) });
    if (isResult(answer)) this.bearer = answer.result.bearer;
    return answer;
  }

  /** The first notice that fits. */
  notice(fits: (notice: Came['params']) => boolean): Promise<Came> {
    return this.until((message) => message.method === 'notice' && fits(message.params));
  }

  /** The whole answer, error or result. */
  call(method: string, params: object = {}): Promise<Came> {
    const id = ++this.#lastId;
    this.send({ jsonrpc: '2.0', id, method, params });
    return this.until((message) => message.id === id);
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The first message that fits, also of those that have come. Rejects when the socket closes before. */
  until(fits: (message: Came) => boolean): Promise<Came> {
    return this.when(() => this.received.find(fits));
  }

  /** Waits until `read` returns something else than undefined. */
  when<T>(read: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const value = read();
        if (value === undefined && !this.#isClosed) return;
        this.#lookers.delete(look);
        if (value === undefined) reject(new Error('The socket closed before that came'));
        else resolve(value);
      };
      this.#lookers.add(look);
      look();
    });
  }

  events(subscription: string): SessionEvent[] {
    return this.#events.get(subscription) ?? [];
  }

  /** Waits until the subscription has sent the event with this seq. */
  async reached(subscription: string, seq: number): Promise<SessionEvent[]> {
    return this.when(() => {
      const events = this.events(subscription);
      return (events.at(-1)?.seq ?? 0) >= seq ? events : undefined;
    });
  }

  notices(): Came['params'][] {
    return this.received.filter((one) => one.method === 'notice').map((one) => one.params);
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }

  #keep({ subscription, events }: { subscription: string; events: SessionEvent[] }): void {
    const kept = this.#events.get(subscription);
    if (kept === undefined) this.#events.set(subscription, events);
    else kept.push(...events);
  }

  #look(): void {
    for (const look of [...this.#lookers]) look();
  }
}

function isResult(answer: Came): boolean {
  return 'result' in answer;
}

export function proofOf(token: string, transcript: string): string {
  const key = createHash('sha256').update(token).digest();
  return createHmac('sha256', key).update(transcript).digest('base64url');
}
