/**
 * The daemon's end of the socket for tests of the client: a machine with a key of its own that signs hellos and checks proofs as the real
 * one does, and otherwise says what the test tells it to.
 */
import { createHash, createHmac } from 'node:crypto';
import nacl from 'tweetnacl';
import { helloTranscript } from '#protocol/commands/handshake.ts';
import type { DeviceId, MachineId } from '#protocol/values/ids.ts';
import type { Request } from '#protocol/up.ts';
import type { Credentials } from '../connection/pairing.ts';
import type { OpenSocket, SocketHandlers } from '../connection/socket.ts';

const token = 'a-device-token';

export class FakeDaemon {
  readonly keys = nacl.sign.keyPair();
  readonly machineId: MachineId;
  readonly sockets: FakeSocket[] = [];
  #waiting: { count: number; arrived: () => void }[] = [];

  constructor(number = 1) {
    this.machineId = `mac_0192f000-0000-7000-8000-${String(number).padStart(12, '0')}` as MachineId;
  }

  readonly openSocket: OpenSocket = (handlers) => {
    const socket = new FakeSocket(handlers);
    this.sockets.push(socket);
    const due = this.#waiting.filter((one) => one.count <= this.sockets.length);
    this.#waiting = this.#waiting.filter((one) => !due.includes(one));
    for (const one of due) one.arrived();
    return socket;
  };

  /** Resolves when so many sockets were opened in all. */
  opened(count: number): Promise<void> {
    if (this.sockets.length >= count) return Promise.resolve();
    return new Promise((arrived) => this.#waiting.push({ count, arrived }));
  }

  /** What pairing with this machine left in the browser. */
  get credentials(): Credentials {
    return {
      deviceId: 'dev_0192f000-0000-7000-8000-000000000001' as DeviceId,
      token,
      machineId: this.machineId,
      publicKey: Buffer.from(this.keys.publicKey).toString('base64url'),
      name: 'laptop',
    };
  }

  /** The socket that was opened last. */
  get socket(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error('no socket was opened yet');
    return socket;
  }

  /** Answers the hello of the newest socket; `change` makes the answer a wrong one. */
  async sayHello(change: Record<string, unknown> = {}): Promise<string> {
    const { socket } = this;
    socket.open();
    const hello = await socket.next('hello');
    const { nonce: clientNonce } = hello.params as { nonce: string };
    const nonce = Buffer.alloc(16, this.sockets.length).toString('base64url');
    const transcript = helloTranscript({
      machineId: this.machineId,
      bootId: 'boot-1',
      clientNonce,
      daemonNonce: nonce,
    });
    const signature = nacl.sign.detached(Buffer.from(transcript), this.keys.secretKey);
    socket.answer(hello, {
      machineId: this.machineId,
      bootId: 'boot-1',
      nonce,
      signature: Buffer.from(signature).toString('base64url'),
      publicKey: this.credentials.publicKey,
      protocol: { major: 1, minor: 0 },
      version: '0.1.0',
      name: 'laptop',
      ...change,
    });
    return transcript;
  }

  /** The whole handshake on the newest socket. */
  async admit(): Promise<FakeSocket> {
    const { socket } = this;
    const transcript = await this.sayHello();
    const proof = await socket.next('authenticate');
    const key = createHash('sha256').update(token).digest();
    const wanted = createHmac('sha256', key).update(transcript).digest('base64url');
    if ((proof.params as { proof: string }).proof !== wanted) throw new Error('the proof of the device is wrong');
    socket.answer(proof, { bearer: 'bearer-1', features: [] });
    return socket;
  }
}

export class FakeSocket {
  readonly #handlers: SocketHandlers;
  readonly sent: Request[] = [];
  readonly #unread: Request[] = [];
  #waiting: { method: string; take: (request: Request) => void }[] = [];
  closed = false;

  constructor(handlers: SocketHandlers) {
    this.#handlers = handlers;
  }

  // The client's side

  send(text: string): void {
    const request = JSON.parse(text) as Request;
    this.sent.push(request);
    const waiting = this.#waiting.find((one) => one.method === request.method);
    if (waiting === undefined) {
      this.#unread.push(request);
      return;
    }
    this.#waiting = this.#waiting.filter((one) => one !== waiting);
    waiting.take(request);
  }

  close(): void {
    this.closed = true;
  }

  // The daemon's side

  open(): void {
    this.#handlers.opened();
  }

  /** The next request for `method`, once it has come. */
  next(method: string): Promise<Request> {
    const place = this.#unread.findIndex((request) => request.method === method);
    const [request] = place < 0 ? [] : this.#unread.splice(place, 1);
    if (request !== undefined) return Promise.resolve(request);
    return new Promise((take) => this.#waiting.push({ method, take }));
  }

  sentMethods(): string[] {
    return this.sent.map((request) => request.method);
  }

  answer(request: Request, result: unknown): void {
    this.say({ jsonrpc: '2.0', id: request.id, result });
  }

  refuse(request: Request, code: string, message: string): void {
    this.say({ jsonrpc: '2.0', id: request.id, error: { code: -32000, message, data: { code } } });
  }

  notify(method: string, params: unknown): void {
    this.say({ jsonrpc: '2.0', method, params });
  }

  say(message: unknown): void {
    this.#handlers.received(JSON.stringify(message));
  }

  drop(code = 1006): void {
    this.closed = true;
    this.#handlers.closed(code, '');
  }
}
