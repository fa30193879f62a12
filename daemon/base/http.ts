/**
 * fetch for the provider SDKs, on Node's own http and https with connections of its own: whoever made it can close every socket, which the
 * global fetch does not offer. It follows no redirect (a 3xx is an answer like another), asks for no compression, and reads the body only as
 * fast as it is consumed. Where the environment names a proxy it goes through that, by undici, which is loaded then. A body that ends before the length or last chunk it promised is an error, never a quiet end.
 */
import { Agent, request as requestPlain, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as requestSecure } from 'node:https';
import type { Readable } from 'node:stream';
import type { ProxyAgent } from 'undici';
import { proxyFor, type ProxyEnvironment } from './proxy.ts';

export interface HttpRequest {
  method: string;
  headers: Record<string, string>;
  body: string;
  /** Ends the request and its connection, at any time. */
  signal: AbortSignal;
  /** Told of every piece of the body as it arrives from the network. */
  received: (bytes: number) => void;
}

/** Statuses whose answer has no body by definition; `Response` refuses one. */
const bodiless = new Set([204, 205, 304]);

export class Http {
  readonly #plain = new Agent({ keepAlive: true });
  readonly #secure = new SecureAgent({ keepAlive: true });

  readonly #environment: ProxyEnvironment;
  readonly #proxies = new Map<string, ProxyAgent>();
  #closed = false;

  /** `environment` is where proxies are named. */
  constructor(environment: ProxyEnvironment = {}) {
    this.#environment = environment;
  }

  /** Rejects when no answer came; an answer of any status resolves. */
  async fetch(url: string, options: HttpRequest): Promise<Response> {
    const proxy = proxyFor(url, this.#environment);
    return proxy === null ? await this.#straight(url, options) : await this.#through(proxy, url, options);
  }

  async #through(proxy: string, url: string, options: HttpRequest): Promise<Response> {
    const { ProxyAgent, request } = await import('undici');
    if (this.#closed) throw new Error('the connections are closed');
    let agent = this.#proxies.get(proxy);
    // Silence is for those to judge who ask; undici's own limits would end a model that thinks long.
    if (agent === undefined)
      agent = new ProxyAgent({ uri: proxy, headersTimeout: 0, bodyTimeout: 0, proxyTunnel: true });
    this.#proxies.set(proxy, agent);
    const answer = await request(url, {
      method: options.method as 'GET',
      headers: { ...options.headers, 'accept-encoding': 'identity' },
      ...(options.body !== '' && { body: options.body }),
      signal: options.signal,
      dispatcher: agent,
    });
    const headers = new Headers();
    for (const [name, values] of Object.entries(answer.headers))
      for (const value of [values ?? []].flat()) headers.append(name, value);
    return responseOf(answer.statusCode, headers, answer.body, options.received);
  }

  async #straight(url: string, options: HttpRequest): Promise<Response> {
    const secure = new URL(url).protocol === 'https:';
    const headers = {
      ...options.headers,
      'accept-encoding': 'identity',
      'content-length': String(Buffer.byteLength(options.body)),
    };
    return await new Promise<Response>((resolve, reject) => {
      const common = { method: options.method, headers, signal: options.signal };
      const request = secure
        ? requestSecure(url, { ...common, agent: this.#secure })
        : requestPlain(url, { ...common, agent: this.#plain });
      request.on('error', reject);
      request.on('response', (message) => {
        try {
          resolve(responseOf(message.statusCode ?? 0, headersOf(message), message, options.received));
        } catch (error) {
          message.destroy();
          reject(error instanceof Error ? error : new Error('the answer is not HTTP', { cause: error }));
        }
      });
      request.end(options.body);
    });
  }

  /** Destroys all connections, those in use too. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#plain.destroy();
    this.#secure.destroy();
    // Its sockets are destroyed at once; what it waits for after that is nobody's concern.
    for (const agent of this.#proxies.values()) void agent.destroy().catch(() => undefined);
    this.#proxies.clear();
  }
}

function headersOf(message: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}

function responseOf(status: number, headers: Headers, message: Readable, received: (bytes: number) => void): Response {
  if (bodiless.has(status)) message.resume();
  return new Response(bodiless.has(status) ? null : bodyOf(message, received), { status, headers });
}

function bodyOf(message: Readable, received: (bytes: number) => void): ReadableStream<Uint8Array> {
  let settled = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const settle = (how: () => void) => {
        if (settled) return;
        settled = true;
        how();
      };
      message.pause();
      message.on('data', (bytes: Buffer) => {
        received(bytes.length);
        if (settled) return;
        controller.enqueue(bytes);
        if ((controller.desiredSize ?? 0) <= 0) message.pause();
      });
      message.on('end', () => settle(() => controller.close()));
      message.on('error', (error) => settle(() => controller.error(error)));
      message.on('close', () => settle(() => controller.error(new Error('the connection closed within the body'))));
    },
    pull() {
      message.resume();
    },
    cancel() {
      settled = true;
      message.destroy();
    },
  });
}
