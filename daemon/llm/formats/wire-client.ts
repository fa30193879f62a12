/**
 * What all wire adapters on an SDK have in common: the contract of model-stream.ts where the SDKs alone would not keep it. They end quietly on
 * a body that was cut, so only a finish reason makes a reply complete; they retry, follow redirects with the key, read the environment and
 * tell the vendor about this machine, so all of that is off and every header is written here. A format brings how it asks (WireFormat) and how
 * it reads (ReplyReader); refusals are judged in refusal.ts.
 */
import type { Failure, FailureCode } from '#protocol/values/outcome.ts';
import type { Clock } from '../../base/clock.ts';
import { Http } from '../../base/http.ts';
import type { ProxyEnvironment } from '../../base/proxy.ts';
import { maxRefusalBytes, maxReplyBytes, streamIdleMs } from '../../base/limits.ts';
import { Exchange } from './exchange.ts';
import type { ModelCall, ModelRequest, StreamEnd, StreamEvent } from '../item.ts';
import { leakedIn, WholeText } from './whole-text.ts';
import type { ModelClient } from '../model-stream.ts';
import { judge, redact, type Provider } from './refusal.ts';
import type { ReplyReader } from './reply-parts.ts';

export interface WireOptions {
  /** Its name in the settings: the provenance of what it says, and how messages name it. */
  provider: string;
  /** Up to and without the path of the format. */
  baseUrl: string;
  /** Null for a server that wants none; then no header with a key is sent. */
  key: string | null;
  /** Asked for what a request carries instead of a key that never changes: a login whose tokens are renewed. */
  access?: WireAccess;
  /** The environment variable the key came from, for messages. */
  keyName: string | null;
  /** Silence after which the connection counts as dead. */
  idleMs?: number;
  /** To read a Retry-After date by. */
  clock: Clock;
  /** The most a model may say in one reply, where the settings name it; null where they do not. */
  maxOutputTokens?: (model: string) => number | null;
  /** How long the vendor is asked to keep what it has read, where the format can say so. */
  promptCache?: () => '5m' | '1h';
  /** Told of the headers of every answer: some say what is left of a quota. */
  heard?: (headers: Headers) => void;
  /** Where proxies are named. */
  environment?: ProxyEnvironment;
  /** Replaces the network: for tests. */
  http?: Pick<Http, 'fetch' | 'close'>;
}

/** A login: tokens that expire and are renewed. */
export interface WireAccess {
  /** The token in force, and what else each request says with it. */
  now(signal: AbortSignal): Promise<Granted>;
  /** The provider refused this token: another one, or why there is none. Asked once a request. */
  renew(refused: string, signal: AbortSignal): Promise<Granted>;
}

export type Granted = { token: string; headers: Record<string, string> } | { denied: Failure };

export interface WireFormat {
  /** How this format carries a key, and what else each request must say. */
  headers(key: string | null): Record<string, string>;
  reader(): ReplyReader;
  /** Loads the SDK. What is asked with it is sent by `connection.fetch` alone. */
  load(): Promise<Ask>;
}

/** Sends one request; resolves with the parsed chunks of the answer once it began. */
export type Ask = (request: ModelRequest, connection: WireConnection) => Promise<AsyncIterable<unknown>>;

export interface WireConnection {
  options: WireOptions;
  /** Later than the exchange's own clock, which decides. */
  timeoutMs: number;
  fetch: (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
}

export function wireClient(format: WireFormat, options: WireOptions): ModelClient {
  return new WireClient(format, options);
}

class WireClient implements ModelClient {
  readonly #format: WireFormat;
  readonly #options: WireOptions;
  #provider: Provider;
  readonly #http: Pick<Http, 'fetch' | 'close'>;
  readonly #exchanges = new Set<Exchange>();
  #closed = false;

  constructor(format: WireFormat, options: WireOptions) {
    this.#format = format;
    this.#http = options.http ?? new Http(options.environment);
    this.#options = options;
    this.#provider = { name: options.provider, keyName: options.keyName, key: options.key };
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const exchange = new Exchange(this.#options.idleMs ?? streamIdleMs);
    const reply = this.#format.reader();
    const prose = new WholeText();
    const abort = () => exchange.stop('aborted');
    signal.addEventListener('abort', abort, { once: true });
    this.#exchanges.add(exchange);
    try {
      if (signal.aborted || this.#closed) abort();
      let error: unknown = null;
      try {
        for await (const chunk of this.#chunks(request, exchange)) {
          const before = reply.finish;
          for (const event of reply.take(chunk)) {
            prose.take(event);
            yield event;
          }
          if (before === null && reply.finish !== null) exchange.finishSoon();
        }
      } catch (caught) {
        // Anything may be thrown here: what it means depends on how far the exchange had come.
        error = caught ?? new Error('nothing was thrown');
      }
      yield* this.#end(exchange, reply, error, (text) => leakedIn(prose, text, request));
    } finally {
      signal.removeEventListener('abort', abort);
      this.#exchanges.delete(exchange);
      exchange.stop('over');
    }
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const exchange of this.#exchanges) exchange.stop('aborted');
    this.#http.close();
    return Promise.resolve();
  }

  /** The parsed chunks of one reply. Counts silence only while it waits: a slow reader of ours is not the provider's fault. */
  async *#chunks(request: ModelRequest, exchange: Exchange): AsyncGenerator {
    const ask = await this.#format.load();
    if (exchange.stopped !== null) return;
    exchange.phase = 'asking';
    exchange.waitBegins();
    const stream = await ask(request, {
      options: this.#options,
      timeoutMs: 2 * exchange.idleMs + 1000,
      fetch: async (url, init) => await this.#fetch(url, init, exchange),
    });
    const iterator = stream[Symbol.asyncIterator]();
    for (;;) {
      exchange.waitBegins();
      const next = await iterator.next();
      exchange.waitEnds();
      if (next.done === true) {
        exchange.bodyEnded();
        return;
      }
      yield next.value;
    }
  }

  /** Sends the SDK's body with headers of our own, so that nothing goes out that is not written here. */
  async #fetch(url: string | URL | Request, init: RequestInit | undefined, exchange: Exchange): Promise<Response> {
    const { access } = this.#options;
    if (access === undefined) return await this.#send(url, init, exchange, this.#options.key, {});
    const first = await access.now(exchange.signal);
    if ('denied' in first) return denied(first.denied, exchange);
    const response = await this.#as(first, url, init, exchange);
    if (response.status !== 401) return response;
    const second = await access.renew(first.token, exchange.signal);
    if ('denied' in second) return denied(second.denied, exchange);
    exchange.refusal = null;
    return await this.#as(second, url, init, exchange);
  }

  async #as(
    granted: Exclude<Granted, { denied: Failure }>,
    url: string | URL | Request,
    init: RequestInit | undefined,
    exchange: Exchange,
  ): Promise<Response> {
    // From here on no message repeats it.
    this.#provider = { ...this.#provider, key: granted.token };
    return await this.#send(url, init, exchange, granted.token, granted.headers);
  }

  async #send(
    url: string | URL | Request,
    init: RequestInit | undefined,
    exchange: Exchange,
    key: string | null,
    headers: Record<string, string>,
  ): Promise<Response> {
    const response = await this.#http.fetch(url instanceof Request ? url.url : String(url), {
      method: init?.method ?? 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'user-agent': 'alcove',
        ...this.#format.headers(key),
        ...headers,
      },
      body: typeof init?.body === 'string' ? init.body : '',
      signal: exchange.signal,
      received: (bytes) => exchange.received(bytes),
    });
    this.#options.heard?.(response.headers);
    exchange.phase = 'answered';
    exchange.headers = response.headers;
    if (response.ok) return response;
    const text = await readUpTo(response, maxRefusalBytes);
    exchange.refusal = { status: response.status, text };
    return new Response(text, { status: response.status, headers: response.headers });
  }

  #end(
    exchange: Exchange,
    reply: ReplyReader,
    error: unknown,
    leaked: (events: StreamEvent[]) => ModelCall | null,
  ): StreamEvent[] {
    const usage = reply.usage;
    if (exchange.stopped === 'aborted') return [{ type: 'aborted', usage }];
    if (reply.finish !== null) {
      const whole = reply.complete();
      if (whole.type === 'refused') return [this.#streamed(whole.error, exchange, reply)];
      if (whole.type === 'malformed') {
        return [
          this.#failed(reply, 'reply_malformed', `sent a reply that cannot be used: ${whole.reason}`, noCalls, true),
        ];
      }
      const found = whole.calls.length === 0 && whole.stop === 'end' ? leaked(whole.events) : null;
      if (found !== null) return [...whole.events, { type: 'done', stop: 'tool-calls', calls: [found], usage }];
      return [...whole.events, { type: 'done', stop: whole.stop, calls: whole.calls, usage }];
    }
    return [this.#failure(exchange, reply, error)];
  }

  /** Why the reply is not complete: what we did ourselves first, then what the provider said, then what the connection did. */
  #failure(exchange: Exchange, reply: ReplyReader, error: unknown): StreamEnd {
    if (exchange.stopped === 'silent') {
      const seconds = exchange.idleMs / 1000;
      return this.#failed(reply, 'timed_out', `was silent for ${seconds} s`, 'The connection was given up.', true);
    }
    if (exchange.stopped === 'too-large') {
      const limit = `${maxReplyBytes / 1024 / 1024} MiB`;
      return this.#failed(reply, 'reply_malformed', `sent more than ${limit} for one reply`, 'It was cut off.', false);
    }
    if (exchange.denied !== null) {
      return { type: 'failed', failure: exchange.denied, usage: reply.usage, retryable: false, retryAfterMs: null };
    }
    if (exchange.refusal !== null) return this.#refused(exchange.refusal, exchange, reply);
    const streamed = errorInStream(error);
    if (streamed !== undefined) return this.#streamed(streamed, exchange, reply);
    if (error instanceof SyntaxError) {
      return this.#failed(reply, 'reply_malformed', 'sent something that is not JSON', noCalls, true, error);
    }
    switch (exchange.phase) {
      case 'preparing':
        return this.#failed(reply, 'fault', 'was never asked', 'The request could not be made.', false, error);
      case 'asking':
        return this.#failed(
          reply,
          'provider_unreachable',
          `cannot be reached (${reasonOf(error)})`,
          offline.has(reasonOf(error))
            ? 'Look whether this machine is online, then try again.'
            : 'Look whether it runs and whether its address (baseUrl) is right; it can be tried again.',
          true,
          error,
        );
      case 'answered': {
        const type = (exchange.headers.get('content-type') ?? '').split(';')[0] ?? '';
        if (error === null && !reply.produced && type !== 'text/event-stream') {
          const what = type === '' ? 'something' : type;
          return this.#failed(
            reply,
            'reply_malformed',
            `answered with ${what} instead of a stream`,
            'Look whether baseUrl is right.',
            false,
          );
        }
        return this.#failed(reply, 'reply_cut', 'ended the reply before it was complete', noCalls, true, error);
      }
    }
  }

  #refused(refusal: NonNullable<Exchange['refusal']>, exchange: Exchange, reply: ReplyReader): StreamEnd {
    const { status, text } = refusal;
    const { headers } = exchange;
    if (status < 400) {
      const place = hostOf(headers.get('location'));
      const found = `answered ${status}: a redirect${place === null ? '' : ` to ${place}`}, which is not followed`;
      return this.#failed(
        reply,
        'provider_refused',
        found,
        'If it is right, write the new address into baseUrl.',
        false,
      );
    }
    const error = jsonOr(text);
    return this.#judged(
      judge({ status, error, header: (name) => headers.get(name) }, this.#provider, this.#options.clock),
      reply,
    );
  }

  /** An error in the middle of a stream. */
  #streamed(error: unknown, exchange: Exchange, reply: ReplyReader): StreamEnd {
    const header = (name: string) => exchange.headers.get(name);
    return this.#judged(judge({ status: null, error, header }, this.#provider, this.#options.clock), reply);
  }

  #judged(verdict: ReturnType<typeof judge>, reply: ReplyReader): StreamEnd {
    const retryable = verdict.retryable && !reply.produced;
    return { type: 'failed', ...verdict, retryable, usage: reply.usage };
  }

  #failed(
    reply: ReplyReader,
    code: FailureCode,
    found: string,
    next: string,
    curable: boolean,
    cause: unknown = null,
  ): StreamEnd {
    const failure: Failure = { code, message: redact(`${this.#options.provider} ${found}. ${next}`, this.#provider) };
    if (cause !== null) failure.detail = redact(chainOf(cause), this.#provider);
    return { type: 'failed', failure, usage: reply.usage, retryable: curable && !reply.produced, retryAfterMs: null };
  }
}

/** Ends an exchange whose login has no token: the SDK only needs to see that it is over. */
function denied(failure: Failure, exchange: Exchange): Response {
  exchange.denied = failure;
  return new Response('', { status: 401 });
}

const noCalls = 'None of its tool calls was run.';

/** The error object that a provider put into its stream, as the SDK hands it on; undefined for every other error. */
function errorInStream(error: unknown): unknown {
  if (!(error instanceof Error) || !('error' in error)) return undefined;
  return error.error;
}

async function readUpTo(response: Response, limit: number): Promise<string> {
  if (response.body === null) return '';
  const body: AsyncIterable<Uint8Array> = response.body;
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  try {
    for await (const bytes of body) {
      text += decoder.decode(bytes.subarray(0, limit - length), { stream: true });
      length += bytes.length;
      if (length >= limit) break;
    }
  } catch {
    // The status says enough; a refusal whose body was cut is a refusal still.
  }
  return text;
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function hostOf(location: string | null): string | null {
  if (location === null || !URL.canParse(location)) return null;
  return new URL(location).host;
}

/** What the system says where it is the network that is missing, and not the provider. */
const offline: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH']);

/** The system's own word for a failed connection, such as ECONNREFUSED, from wherever in the chain of causes it stands. */
function reasonOf(error: unknown): string {
  let found: string | null = null;
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') found = one.code;
  }
  return found ?? (error instanceof Error ? error.message : 'no connection');
}

function chainOf(error: unknown): string {
  const lines: string[] = [];
  for (let one: unknown = error; one instanceof Error; one = one.cause) lines.push(`${one.name}: ${one.message}`);
  return lines.length > 0 ? lines.join('\n') : String(error);
}
