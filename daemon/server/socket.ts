/**
 * One WebSocket connection: says hello, has the client prove its device, then answers commands, and ends. Invariants:
 *   S1  before the proof nothing is answered but the handshake, in its order and in time; all else closes the socket with 4401
 *   S2  the bearer, the subscriptions and the news of a socket end with it
 *   S3  a client that gave no sign of life from one heartbeat to the next is gone, and so is its socket
 *   S4  requests that are not answered yet are counted; an answer counts until it has left
 */
import { randomBytes } from 'node:crypto';
import type { RawData, WebSocket } from 'ws';
import { handshake, type HandshakeName, type HandshakeParams } from '#protocol/command.ts';
import { helloTranscript } from '#protocol/commands/handshake.ts';
import { RequestError } from '#protocol/errors.ts';
import { authenticateMs, closeCodes, heartbeatMs, maxInFlight } from '#protocol/limits.ts';
import { parse, type Schema } from '#protocol/schema.ts';
import { request as requestSchema, type Request } from '#protocol/up.ts';
import { PROTOCOL_VERSION } from '#protocol/version.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { Scope } from '../base/scope.ts';
import type { Bearers } from './bearers.ts';
import type { Caller } from './caller.ts';
import { idOf, readParams, type Dispatcher } from './commands.ts';
import type { Devices } from './devices.ts';
import { closingMs } from './limits.ts';
import type { Machine } from './machine.ts';
import { sendNotices, type NoticeSource } from './notices.ts';
import { Outbox } from './outbox.ts';
import type { SessionSources } from './session-source.ts';
import { Subscriptions } from './subscriptions.ts';

/** What this daemon says of itself. */
export interface About {
  /** The machine's, as a person would call it. */
  readonly name: string;
  readonly version: string;
  /** Another one in each process. */
  readonly bootId: string;
  /** Optional parts of the interface that this daemon has. */
  readonly features: readonly string[];
}

export interface SocketNeeds {
  readonly about: About;
  readonly machine: Machine;
  readonly devices: Devices;
  readonly bearers: Bearers;
  readonly dispatcher: Dispatcher;
  readonly sessions: SessionSources;
  readonly notices: NoticeSource;
  readonly diagnostics: Diagnostics;
  readonly timing: SocketTiming;
}

export interface SocketTiming {
  readonly authenticateMs: number;
  readonly heartbeatMs: number;
}
export const usualTiming: SocketTiming = { authenticateMs, heartbeatMs };

type Stage =
  | { readonly type: 'greeting' }
  | { readonly type: 'proving'; readonly transcript: string }
  | { readonly type: 'open'; readonly caller: Caller }
  | { readonly type: 'closing' };

export class SocketConnection {
  readonly #socket: WebSocket;
  readonly #needs: SocketNeeds;
  readonly #outbox: Outbox;
  readonly #scope = new Scope();
  readonly #subscriptions: Subscriptions;
  readonly #authenticated: () => void;
  #stage: Stage = { type: 'greeting' };
  #inFlight = 0;
  #heard = true;
  #hangUp: NodeJS.Timeout | undefined;

  /** `authenticated` is called once, when the client has proven its device; `closed` once, when everything of the socket has ended. */
  constructor(socket: WebSocket, needs: SocketNeeds, events: { authenticated: () => void; closed: () => void }) {
    this.#socket = socket;
    this.#needs = needs;
    this.#authenticated = events.authenticated;
    this.#outbox = new Outbox(socket);
    this.#subscriptions = new Subscriptions(needs.sessions, this.#outbox, this.#scope, needs.diagnostics);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', (data) => {
      this.#heard = true;
      this.#outbox.pong(data.toString());
    });
    socket.on('error', (error) => needs.diagnostics.debug('A socket failed', { error: error.message }));
    socket.on('close', () => {
      clearTimeout(this.#hangUp);
      this.#outbox.close();
      void this.#end().finally(events.closed);
    });
    const late = setTimeout(() => {
      if (this.#stage.type !== 'open') this.close(closeCodes.unauthorized, 'not authenticated in time');
    }, needs.timing.authenticateMs);
    this.#scope.onClose(() => clearTimeout(late));
  }

  /** Ends everything of the socket at once, says why, and hangs up where the client does not answer that. May be called again. */
  close(code: number, reason: string): void {
    if (this.#stage.type === 'closing') return;
    void this.#end();
    this.#socket.close(code, reason);
    this.#hangUp = setTimeout(() => this.#socket.terminate(), closingMs);
  }

  async #end(): Promise<void> {
    this.#stage = { type: 'closing' };
    try {
      await this.#scope.close();
    } catch (error) {
      this.#needs.diagnostics.error('A socket did not end well', { error });
    }
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#heard = true;
    const stage = this.#stage;
    if (stage.type === 'closing') return;
    if (isBinary) return this.close(1003, 'binary messages are not used yet');
    const message = parseJson(data);
    if (stage.type === 'open') void this.#command(message, stage.caller);
    else this.#shakeHands(message, stage);
  }

  #shakeHands(message: unknown, stage: Stage & { type: 'greeting' | 'proving' }): void {
    try {
      const request = parse(requestSchema, message, 'The first message');
      const result =
        stage.type === 'greeting'
          ? this.#hello(readHandshake('hello', request))
          : this.#authenticate(readHandshake('authenticate', request), stage.transcript);
      void this.#send({ jsonrpc: '2.0', id: request.id, result });
    } catch (error) {
      void this.#send(this.#needs.dispatcher.refusal(idOf(message), error));
      const isVersion = error instanceof RequestError && error.code === 'version';
      this.close(isVersion ? closeCodes.version : closeCodes.unauthorized, isVersion ? 'version' : 'unauthorized');
      return;
    }
    if (stage.type === 'proving') this.#begin();
  }

  #hello({ nonce, protocol }: HandshakeParams<'hello'>): unknown {
    if (protocol.major !== PROTOCOL_VERSION.major)
      throw new RequestError(
        'version',
        `The page speaks version ${protocol.major} and the daemon ${PROTOCOL_VERSION.major} of the protocol. Reload the page to update the app.`,
      );
    const { about, machine } = this.#needs;
    const daemonNonce = randomBytes(16).toString('base64url');
    const transcript = helloTranscript({
      machineId: machine.machineId,
      bootId: about.bootId,
      clientNonce: nonce,
      daemonNonce,
    });
    this.#stage = { type: 'proving', transcript };
    return {
      machineId: machine.machineId,
      bootId: about.bootId,
      nonce: daemonNonce,
      signature: machine.sign(transcript),
      publicKey: machine.publicKey,
      protocol: PROTOCOL_VERSION,
      version: about.version,
      name: about.name,
    };
  }

  #authenticate({ deviceId, proof }: HandshakeParams<'authenticate'>, transcript: string): unknown {
    const { devices, bearers, about } = this.#needs;
    const device = devices.verify(deviceId, transcript, proof);
    if (device === null)
      throw new RequestError(
        'unauthorized',
        'This browser is not paired with this machine, or no longer. Pair it: alcove pair',
      );
    const caller: Caller = { kind: 'device', deviceId, name: device.name };
    this.#scope.onClose(devices.connect(deviceId, () => this.close(closeCodes.revoked, 'revoked')));
    const issued = bearers.issue(caller);
    this.#scope.onClose(issued.end);
    this.#stage = { type: 'open', caller };
    return { bearer: issued.bearer, features: about.features };
  }

  /** After the answer to the proof: news and heartbeats. */
  #begin(): void {
    this.#authenticated();
    const { notices, diagnostics, timing } = this.#needs;
    this.#scope.background(sendNotices(notices, this.#outbox, this.#scope.signal), (error) => {
      diagnostics.error('The news of a socket failed', { error });
      this.close(1011, 'internal');
    });
    const timer = setInterval(() => this.#beat(), timing.heartbeatMs);
    this.#scope.onClose(() => clearInterval(timer));
  }

  #beat(): void {
    if (!this.#heard) return this.#socket.terminate();
    this.#heard = false;
    this.#outbox.ping();
    // A page cannot see pings: this is what it knows a living socket by.
    void this.#send({ jsonrpc: '2.0', method: 'heartbeat' });
  }

  async #command(message: unknown, caller: Caller): Promise<void> {
    if (this.#inFlight >= maxInFlight) {
      const error = new RequestError(
        'too_many',
        `At most ${maxInFlight} requests may wait for their answer (maxInFlight).`,
      );
      void this.#send(this.#needs.dispatcher.refusal(idOf(message), error));
      return;
    }
    this.#inFlight += 1;
    await this.#answer(message, caller);
    this.#inFlight -= 1;
  }

  /** Resolves when the answer has left; never rejects. */
  async #answer(message: unknown, caller: Caller): Promise<void> {
    try {
      const request = parse(requestSchema, message, 'The request');
      if (request.method === 'session.subscribe') {
        const { result, start } = await this.#subscriptions.open(readParams(request.method, request));
        const sent = this.#send({ jsonrpc: '2.0', id: request.id, result });
        start();
        return await sent;
      }
      const result = await this.#result(request, caller);
      await this.#send({ jsonrpc: '2.0', id: request.id, result });
    } catch (error) {
      await this.#send(this.#needs.dispatcher.refusal(idOf(message), error));
    }
  }

  async #result(request: Request, caller: Caller): Promise<unknown> {
    if (request.method !== 'session.unsubscribe') return this.#needs.dispatcher.dispatch(request, caller);
    this.#subscriptions.end(readParams(request.method, request).subscription);
    return {};
  }

  #send(message: object): Promise<void> {
    return this.#outbox.send(JSON.stringify(message));
  }
}

/** Undefined for what is no JSON: no message fits that. */
function parseJson(data: RawData): unknown {
  try {
    return JSON.parse((data as Buffer).toString('utf8'));
  } catch {
    return undefined;
  }
}

function readHandshake<Name extends HandshakeName>(name: Name, request: Request): HandshakeParams<Name> {
  if (request.method !== name)
    throw new RequestError('unauthorized', `This socket is not authenticated; ${name} is what it must send now.`);
  return parse(
    handshake[name].params as unknown as Schema<HandshakeParams<Name>>,
    request.params,
    `The parameters of ${name}`,
  );
}
