/**
 * The page's one connection to the daemon behind its origin: JSON-RPC 2.0 over one WebSocket, made again whenever it is lost. Plain
 * TypeScript; socket, clock, ids, chance and the tokens come in. Invariants:
 *   W3  nothing is sent to a machine that has not proven its pinned key, except the hello
 *   W4  a call that changes something is resent by itself only to the same machine, from the same page, within `resendMs`; a call that only
 *       asks is never resent
 *   W5  every call is settled once: by its answer, or by `unavailable`
 */
import {
  commands,
  handshake,
  type CommandName,
  type HandshakeName,
  type HandshakeParams,
  type Params,
  type Result,
} from '#protocol/command.ts';
import type { Down, SubscriptionEndedNotification } from '#protocol/down.ts';
import { errorCodes, RequestError, type ErrorCode } from '#protocol/errors.ts';
import type { SessionEvent } from '#protocol/event.ts';
import { closeCodes, silenceMs } from '#protocol/limits.ts';
import { notices, type Notice, type NoticeTopic } from '#protocol/notices/notice.ts';
import { misfit } from '#protocol/schema.ts';
import type { MachineId, SessionId } from '#protocol/values/ids.ts';
import { PROTOCOL_VERSION } from '#protocol/version.ts';
import type { Clock } from '../base/clock.ts';
import { isRecord } from '../base/storage.ts';
import { backoffMs } from './backoff.ts';
import * as transitions from './connection.ts';
import type { ConnectionState, Machine, Refusal } from './connection.ts';
import { makeNonce, proveToken, signedBy, transcriptOf, type Hello } from './handshake.ts';
import type { Credentials, CredentialStore } from './pairing.ts';
import type { OpenSocket, Socket } from './socket.ts';
import { accept, type Subscription, type SubscriptionHandlers, type SubscriptionStart } from './subscription.ts';

/** For so long the page repeats a change by itself; afterwards a person decides, who may have seen meanwhile what became of it. */
export const resendMs = 60_000;
/** From opening the socket to being authenticated: longer than the daemon's own limit plus a slow tunnel. */
export const connectMs = 10_000;

export interface ClientNeeds {
  readonly openSocket: OpenSocket;
  readonly credentials: CredentialStore;
  readonly clock: Clock;
  readonly random: (bytes: Uint8Array<ArrayBuffer>) => void;
  /** In [0, 1): for the jitter of retries. */
  readonly chance: () => number;
  /** What the browser says of the network. */
  readonly online: () => boolean;
}

/** One socket's life. What an earlier link still says is not listened to. */
interface Link {
  readonly socket: Socket;
  readonly answers: Map<number, Answer>;
  readonly routes: Map<string, Reader>;
  heardAt: number;
}

interface Answer {
  result(value: unknown): void;
  error(error: RequestError): void;
}

interface Call extends Answer {
  readonly name: CommandName;
  readonly params: unknown;
  readonly machineId: MachineId;
  readonly madeAt: number;
  readonly resend: boolean;
  sent: boolean;
  cancelTimer(): void;
}

interface Reader {
  readonly sessionId: SessionId;
  readonly start: SubscriptionStart;
  readonly handlers: SubscriptionHandlers;
  /** Null before the first base: then the reader starts as it was asked to. */
  cursor: number | null;
  /** The name on this link; null while none was given. */
  subscription: string | null;
  /** Catching up until this seq was handed on; null when it has. */
  target: number | null;
  /** Something was handed on since the subscription was made. */
  moved: boolean;
  /** A gap came before that: the next try starts with a base, so that a faulty place cannot turn in a circle. */
  stuck: boolean;
  closed: boolean;
}

export class Client {
  readonly #needs: ClientNeeds;
  #state: ConnectionState;
  #link: Link | null = null;
  #bearer: string | null = null;
  /** The machine of the last open connection: calls are meant for it. */
  #machineId: MachineId | null = null;
  #nextId = 1;
  readonly #calls = new Set<Call>();
  readonly #readers = new Set<Reader>();
  readonly #onConnection = new Set<(state: ConnectionState) => void>();
  readonly #onNotice = new Set<(notice: Notice) => void>();
  #cancelTimer: () => void = () => undefined;

  constructor(needs: ClientNeeds) {
    this.#needs = needs;
    this.#state = transitions.close();
  }

  get connection(): ConnectionState {
    return this.#state;
  }

  /** For HTTP from this page; ends with the connection. */
  get bearer(): string | null {
    return this.#bearer;
  }

  onConnection(listener: (state: ConnectionState) => void): () => void {
    this.#onConnection.add(listener);
    return () => this.#onConnection.delete(listener);
  }

  onNotice(listener: (notice: Notice) => void): () => void {
    this.#onNotice.add(listener);
    return () => this.#onNotice.delete(listener);
  }

  start(): void {
    if (this.#state.type !== 'closed') return;
    this.#become(transitions.start(this.#needs.clock.now()));
    this.#open();
  }

  /** A person, the network's return, or a page that comes into view does not want to wait. A silent socket is given up at once. */
  retryNow(): void {
    const { clock } = this.#needs;
    if (this.#state.type === 'open' && this.#link !== null && clock.now() - this.#link.heardAt > silenceMs)
      this.#lose('Nothing was heard from the daemon.');
    const next = transitions.retry(this.#state, clock.now());
    if (next === this.#state) return;
    this.#become(next);
    this.#open();
  }

  close(): void {
    this.#unlink();
    this.#become(transitions.close());
    this.#rejectCalls(() => true, 'The page was closed.');
    this.#readers.clear();
  }

  /**
   * Rejects with the daemon's RequestError, or with `unavailable` where no answer came: for a change after `resendMs`, then it may have
   * happened or not, and a repeat with the same id is harmless.
   */
  call<Name extends CommandName>(name: Name, params: Params<Name>): Promise<Result<Name>> {
    return new Promise((resolve, reject) => {
      const resend = isRecord(params) && 'commandId' in params;
      const { clock } = this.#needs;
      const open = this.#state.type === 'open';
      const machineId = this.#machineId;
      if (machineId === null || this.#state.type === 'closed' || this.#state.type === 'refused' || !(open || resend)) {
        reject(unavailable('There is no connection to the daemon.'));
        return;
      }
      const call: Call = {
        name,
        params,
        machineId,
        madeAt: clock.now(),
        resend,
        sent: false,
        cancelTimer: resend ? clock.after(resendMs, () => this.#giveUp(call)) : () => undefined,
        result: (value) => {
          this.#settle(call);
          const problem = misfit(commands[name].result, value);
          if (problem === null) resolve(value as Result<Name>);
          else reject(new RequestError('internal', `The answer to ${name} does not fit: ${problem}`));
        },
        error: (error) => {
          this.#settle(call);
          reject(error);
        },
      };
      this.#calls.add(call);
      if (open) this.#sendCall(call);
    });
  }

  subscribe(sessionId: SessionId, start: SubscriptionStart, handlers: SubscriptionHandlers): Subscription {
    const reader: Reader = {
      sessionId,
      start,
      handlers,
      cursor: 'after' in start ? start.after : null,
      subscription: null,
      target: null,
      moved: false,
      stuck: false,
      closed: false,
    };
    this.#readers.add(reader);
    if (this.#state.type === 'open') this.#read(reader);
    return {
      close: () => {
        reader.closed = true;
        this.#readers.delete(reader);
        this.#endRoute(reader);
      },
    };
  }

  // The connection

  #open(): void {
    this.#cancelTimer();
    const { clock, openSocket, random } = this.#needs;
    const nonce = makeNonce(random);
    const mine = (action: (link: Link) => void): void => {
      if (link === this.#link) action(link);
    };
    const link: Link = {
      answers: new Map(),
      routes: new Map(),
      heardAt: clock.now(),
      socket: openSocket({
        opened: () => mine(() => this.#hello(link, nonce)),
        received: (text) => mine(() => this.#received(link, text)),
        closed: (code) => mine(() => this.#closed(code)),
      }),
    };
    this.#link = link;
    this.#cancelTimer = clock.after(connectMs, () => mine(() => this.#lose('The daemon did not answer.')));
  }

  #hello(link: Link, nonce: string): void {
    const params: HandshakeParams<'hello'> = { nonce, protocol: PROTOCOL_VERSION };
    this.#request(link, 'hello', params, {
      result: (value) => {
        if (misfit(handshake.hello.result, value) !== null) {
          this.#lose('What answers at this address is not an Alcove daemon.');
          return;
        }
        void this.#authenticate(link, nonce, value as Hello);
      },
      error: (error) => {
        if (error.code === 'version') this.#refuse('version', error.message, null);
        else this.#lose(error.message);
      },
    });
  }

  async #authenticate(link: Link, nonce: string, hello: Hello): Promise<void> {
    const machine: Machine = { machineId: hello.machineId, name: hello.name, version: hello.version };
    if (hello.protocol.major !== PROTOCOL_VERSION.major) {
      this.#refuse(
        'version',
        `${machine.name} runs Alcove ${machine.version}, which this page is too old or too new for.`,
        machine,
      );
      return;
    }
    const credentials = this.#needs.credentials.read(hello.machineId);
    const transcript = transcriptOf(hello, nonce);
    const proven = await signedBy(credentials?.publicKey ?? hello.publicKey, transcript, hello.signature);
    if (link !== this.#link) return;
    if (!proven) {
      this.#refuse(
        'wrong-machine',
        `What answers at this address says that it is ${machine.name}, and cannot prove it. Nothing was sent to it. Check which machine the port leads to.`,
        null,
      );
      return;
    }
    if (credentials === null) {
      this.#refuse('unpaired', `This browser is not paired with ${machine.name} yet.`, machine);
      return;
    }
    this.#become(transitions.greet(this.#state, machine));
    const proof = await proveToken(credentials.token, transcript);
    if (link !== this.#link) return;
    this.#proveDevice(link, hello, credentials, proof);
  }

  #proveDevice(link: Link, hello: Hello, credentials: Credentials, proof: string): void {
    const params: HandshakeParams<'authenticate'> = { deviceId: credentials.deviceId, proof };
    this.#request(link, 'authenticate', params, {
      result: (value) => {
        if (misfit(handshake.authenticate.result, value) !== null) {
          this.#lose('The daemon answered with something that this page does not understand.');
          return;
        }
        this.#bearer = (value as { bearer: string }).bearer;
        this.#opened(link, hello);
      },
      error: (error) => {
        if (error.code === 'unauthorized') this.#revoked();
        else this.#lose(error.message);
      },
    });
  }

  #opened(link: Link, hello: Hello): void {
    this.#cancelTimer();
    this.#machineId = hello.machineId;
    this.#become(transitions.open(this.#state, hello.bootId, this.#needs.clock.now()));
    this.#rejectCalls((call) => call.machineId !== hello.machineId, 'Another machine answers at this address now.');
    for (const call of this.#calls) this.#sendCall(call);
    for (const reader of this.#readers) this.#read(reader);
    this.#listen(link);
  }

  /** Counts silence: the daemon sends a heartbeat well within the limit. */
  #listen(link: Link): void {
    const { clock } = this.#needs;
    const leftMs = link.heardAt + silenceMs - clock.now();
    this.#cancelTimer = clock.after(Math.max(0, leftMs) + 1, () => {
      if (link !== this.#link) return;
      if (clock.now() - link.heardAt > silenceMs) this.#lose('Nothing was heard from the daemon.');
      else this.#listen(link);
    });
  }

  #closed(code: number): void {
    const verified = this.#state.type === 'authenticating' || this.#state.type === 'open';
    if (code === closeCodes.revoked && verified) this.#revoked();
    else if (code === closeCodes.version)
      this.#refuse('version', 'The daemon speaks another version than this page.', null);
    else if (code === closeCodes.going) this.#lose('The daemon was stopped.');
    else this.#lose(verified ? 'The connection was lost.' : 'The daemon did not answer.');
  }

  /** Only the machine itself, proven, can make this browser forget its token. */
  #revoked(): void {
    const machine = 'machine' in this.#state ? this.#state.machine : null;
    if (machine !== null) this.#needs.credentials.forget(machine.machineId);
    this.#refuse('revoked', 'This browser’s access was ended. Pair it again with a new code.', machine);
  }

  #refuse(reason: Refusal, message: string, machine: Machine | null): void {
    this.#unlink();
    this.#become(transitions.refuse(this.#state, reason, message, machine));
    this.#rejectCalls(() => true, message);
  }

  #lose(reason: string): void {
    const { clock, chance, online } = this.#needs;
    this.#unlink();
    const now = clock.now();
    const delayMs = (attempt: number): number => backoffMs(attempt, chance());
    this.#become(transitions.drop(this.#state, { now, online: online(), reason, delayMs }));
    this.#rejectCalls((call) => !call.resend || now - call.madeAt >= resendMs, reason);
    if (this.#state.type === 'retrying' || this.#state.type === 'offline')
      this.#cancelTimer = clock.after(this.#state.at - now, () => this.retryNow());
  }

  #unlink(): void {
    this.#cancelTimer();
    const link = this.#link;
    if (link === null) return;
    this.#link = null;
    this.#bearer = null;
    for (const call of this.#calls) call.sent = false;
    for (const reader of this.#readers) {
      reader.subscription = null;
      reader.handlers.lost();
    }
    link.socket.close(1000, '');
  }

  #become(state: ConnectionState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of this.#onConnection) listener(state);
  }

  // Messages

  #request(link: Link, method: CommandName | HandshakeName, params: unknown, answer: Answer): void {
    const id = this.#nextId++;
    link.answers.set(id, answer);
    link.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  #received(link: Link, text: string): void {
    link.heardAt = this.#needs.clock.now();
    let down: Down;
    try {
      down = JSON.parse(text) as Down;
    } catch {
      this.#lose('The daemon sent something that is not a message.');
      return;
    }
    if (!('method' in down)) this.#answered(link, down);
    else if (down.method === 'session.events') this.#batch(link, down.params.subscription, down.params.events);
    else if (down.method === 'subscription.ended') this.#ended(link, down.params);
    else if (down.method === 'notice') this.#notice(down.params);
  }

  #answered(link: Link, response: Exclude<Down, { method: string }>): void {
    const answer = typeof response.id === 'number' ? link.answers.get(response.id) : undefined;
    if (answer === undefined || response.id === null) return;
    link.answers.delete(response.id as number);
    if ('error' in response) answer.error(errorOf(response.error));
    else answer.result(response.result);
  }

  #notice(notice: Notice): void {
    // A newer daemon's topic, or one that does not fit: news that is safe to lose.
    if (!Object.hasOwn(notices, notice.topic)) return;
    if (misfit(notices[notice.topic satisfies NoticeTopic], notice) !== null) return;
    for (const listener of this.#onNotice) listener(notice);
  }

  // Calls

  #sendCall(call: Call): void {
    if (this.#link === null || call.sent) return;
    call.sent = true;
    this.#request(this.#link, call.name, call.params, call);
  }

  #settle(call: Call): void {
    call.cancelTimer();
    this.#calls.delete(call);
  }

  /** The time for resending is over. A call that the daemon is working on is left to its answer. */
  #giveUp(call: Call): void {
    if (this.#calls.has(call) && !call.sent) call.error(unavailable('There was no connection for a minute.'));
  }

  #rejectCalls(which: (call: Call) => boolean, reason: string): void {
    for (const call of [...this.#calls]) if (which(call)) call.error(unavailable(reason));
  }

  // Subscriptions

  #read(reader: Reader): void {
    const link = this.#link;
    if (link === null) return;
    const { sessionId, cursor } = reader;
    const afresh = cursor === null || reader.stuck;
    const start = afresh ? ('tailBytes' in reader.start ? reader.start : { tailBytes: 0 }) : { after: cursor };
    this.#request(
      link,
      'session.subscribe',
      { sessionId, ...start },
      {
        result: (value) => {
          const misfits = misfit(commands['session.subscribe'].result, value);
          if (misfits !== null) {
            this.#failReader(reader, new RequestError('internal', `The session cannot be followed: ${misfits}`));
            return;
          }
          this.#reading(link, reader, value as Result<'session.subscribe'>);
        },
        error: (error) => this.#failReader(reader, error),
      },
    );
  }

  #reading(link: Link, reader: Reader, answer: Result<'session.subscribe'>): void {
    reader.subscription = answer.subscription;
    if (reader.closed) {
      this.#endRoute(reader);
      return;
    }
    link.routes.set(answer.subscription, reader);
    reader.moved = false;
    if (answer.base !== null) {
      reader.cursor = answer.base.seq;
      reader.handlers.based(answer.base);
    }
    reader.target = answer.seq;
    this.#checkCaughtUp(reader);
  }

  #batch(link: Link, subscription: string, batch: readonly SessionEvent[]): void {
    const reader = link.routes.get(subscription);
    if (reader === undefined || reader.closed) return;
    const accepted = accept(reader.cursor ?? 0, batch);
    reader.cursor = accepted.cursor;
    if (accepted.events.length > 0) {
      reader.moved = true;
      reader.stuck = false;
      reader.handlers.batch(accepted.events);
    }
    if (accepted.gap) this.#readAgain(reader);
    else this.#checkCaughtUp(reader);
  }

  #ended(link: Link, { subscription, error }: SubscriptionEndedNotification['params']): void {
    const reader = link.routes.get(subscription);
    if (reader === undefined) return;
    link.routes.delete(subscription);
    reader.subscription = null;
    this.#failReader(reader, new RequestError(knownCode(error.code), error.message));
  }

  #readAgain(reader: Reader): void {
    this.#endRoute(reader);
    if (reader.moved || !reader.stuck) {
      reader.stuck = !reader.moved;
      this.#read(reader);
    } else this.#failReader(reader, new RequestError('internal', 'The daemon leaves out events of this session.'));
  }

  #checkCaughtUp(reader: Reader): void {
    if (reader.target === null || reader.cursor === null || reader.cursor < reader.target) return;
    reader.target = null;
    reader.handlers.caughtUp();
  }

  #endRoute(reader: Reader): void {
    const { subscription } = reader;
    reader.subscription = null;
    if (subscription === null || this.#link === null) return;
    this.#link.routes.delete(subscription);
    // Nobody waits for this answer.
    this.#request(
      this.#link,
      'session.unsubscribe',
      { subscription },
      { result: () => undefined, error: () => undefined },
    );
  }

  #failReader(reader: Reader, error: RequestError): void {
    if (reader.closed) return;
    this.#readers.delete(reader);
    reader.closed = true;
    reader.handlers.failed(error);
  }
}

function unavailable(what: string): RequestError {
  return new RequestError('unavailable', what);
}

function errorOf(error: unknown): RequestError {
  const fields = isRecord(error) ? error : {};
  const code = isRecord(fields['data']) ? fields['data']['code'] : undefined;
  const message = typeof fields['message'] === 'string' ? fields['message'] : 'The daemon refused without a word.';
  return new RequestError(knownCode(code), message);
}

/** A newer daemon's code is a refusal all the same. */
function knownCode(code: unknown): ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'internal';
}
