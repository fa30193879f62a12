/**
 * Every HTTP request and upgrade: the fence first, then the route. Static files and /health hold no data and are answered to whoever
 * passes the fence; everything else needs a bearer, a ticket or a one-time code. What goes wrong is worded once, here.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { RequestError } from '#protocol/errors.ts';
import { maxBatch, maxBodyBytes } from '#protocol/limits.ts';
import type { Response } from '#protocol/down.ts';
import { parse } from '#protocol/schema.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { endWithError, HttpError, sendError, sendJson, sendRedirect } from './answer.ts';
import type { Access, Bearers } from './bearers.ts';
import type { BlobRoutes } from './blobs.ts';
import { ClientGone, discardRest, readJsonBody } from './body.ts';
import type { Caller } from './caller.ts';
import { presentable, type Dispatcher } from './commands.ts';
import type { Devices } from './devices.ts';
import type { EventStreams } from './event-stream.ts';
import { isNavigation, judgeRequest, type Judgement, type RequestHead } from './fence.ts';
import { maxPairBytes } from './limits.ts';
import type { Handler } from './listener.ts';
import type { Machine } from './machine.ts';
import { pairBody, type Pairings } from './pairing.ts';
import type { About } from './socket.ts';
import type { Sockets } from './sockets.ts';
import type { StaticFiles } from './static-files.ts';

export interface HttpNeeds {
  readonly about: About;
  readonly machine: Machine;
  readonly devices: Devices;
  readonly pairings: Pairings;
  readonly bearers: Bearers;
  readonly dispatcher: Dispatcher;
  readonly sockets: Sockets;
  readonly streams: EventStreams;
  readonly blobs: BlobRoutes;
  readonly files: StaticFiles;
  readonly diagnostics: Diagnostics;
  /** Aborted when the daemon ends. */
  readonly signal: AbortSignal;
}

/** A request that has passed the fence. */
interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: RequestHead;
  readonly path: string;
  readonly query: URLSearchParams;
}

export class HttpRoutes implements Handler {
  readonly #needs: HttpNeeds;

  constructor(needs: HttpNeeds) {
    this.#needs = needs;
  }

  readonly request = (request: IncomingMessage, response: ServerResponse): void => {
    request.on('error', () => undefined);
    response.on('error', () => undefined); // A client that goes away; `close` follows and ends what was being sent.
    const head = headOf(request);
    const judgement = judgeRequest(head);
    const [path = '/', search] = head.url.split('?', 2);
    const asked = { request, response, head, path, query: new URLSearchParams(search) };
    this.#answer(asked, judgement)
      .catch((error: unknown) => this.#refuse(asked, error))
      .finally(() => discardRest(request));
  };

  readonly upgrade = (request: IncomingMessage, connection: Duplex, head: Buffer): void => {
    connection.on('error', () => undefined);
    const judgement = judgeRequest(headOf(request));
    if (judgement.type === 'refuse') return endWithError(connection, refusalOf(judgement));
    if (judgement.type === 'redirect' || request.url?.split('?', 1)[0] !== '/ws')
      return endWithError(connection, new HttpError(404, 'not_found', 'The only WebSocket of this daemon is /ws.'));
    this.#needs.sockets.upgrade(request, connection, head);
  };

  async #answer(asked: Asked, judgement: Judgement): Promise<void> {
    if (judgement.type === 'refuse') throw refusalOf(judgement);
    if (judgement.type === 'redirect') return sendRedirect(asked.response, judgement.location);
    return this.#route(asked);
  }

  #route(asked: Asked): Promise<void> {
    const { path } = asked;
    const stream = /^\/sessions\/([^/]+)\/events$/.exec(path);
    const blob = /^\/blobs\/([0-9a-f]{64})(\/ticket)?$/.exec(path);
    if (stream !== null) return this.#stream(asked, stream[1] ?? '');
    if (blob !== null)
      return blob[2] === undefined ? this.#blob(asked, blob[1] ?? '') : this.#ticket(asked, blob[1] ?? '');
    if (path === '/blobs') return this.#upload(asked);
    if (path === '/rpc') return this.#rpc(asked);
    if (path === '/pair') return this.#pair(asked);
    if (path === '/health') return this.#health(asked);
    if (path === '/ws')
      throw new HttpError(426, 'invalid_params', 'This address is a WebSocket.', {
        upgrade: 'websocket',
        connection: 'upgrade',
      });
    if (path.startsWith('/blobs/')) throw new RequestError('not_found', 'There is no such blob.');
    allow(asked, 'GET', 'HEAD');
    return this.#needs.files.serve(asked.request, asked.response, { path, isNavigation: isNavigation(asked.head) });
  }

  async #health(asked: Asked): Promise<void> {
    allow(asked, 'GET');
    const { about, machine } = this.#needs;
    const { name, version, bootId } = about;
    sendJson(asked.response, { name, version, machineId: machine.machineId, bootId });
  }

  async #pair(asked: Asked): Promise<void> {
    allow(asked, 'POST');
    const { pairings, devices, machine, about, diagnostics } = this.#needs;
    const body = await readJsonBody(asked.request, { name: 'maxPairBytes', bytes: maxPairBytes });
    const given = parse(pairBody, body, 'The pairing request');
    if (!pairings.redeem(given)) {
      diagnostics.warn('A pairing code was refused');
      throw new RequestError(
        'unauthorized',
        'This code is not valid: it was used, is older than ten minutes, or is void after wrong tries. Make a new one: alcove pair',
      );
    }
    const { deviceId, token } = await devices.add(given.name);
    diagnostics.info('A device was paired', { deviceId });
    const { machineId, publicKey } = machine;
    sendJson(asked.response, { deviceId, token, machineId, publicKey, name: about.name });
  }

  async #rpc(asked: Asked): Promise<void> {
    allow(asked, 'POST');
    const { caller } = this.#authorize(asked);
    const body = await readJsonBody(asked.request, { name: 'maxBodyBytes', bytes: maxBodyBytes });
    if (!Array.isArray(body)) return sendJson(asked.response, await this.#needs.dispatcher.answer(body, caller));
    sendJson(asked.response, await this.#batch(body, caller));
  }

  /** In the order in which they stand, each after the one before. */
  async #batch(requests: readonly unknown[], caller: Caller): Promise<Response[]> {
    if (requests.length === 0) throw new RequestError('invalid_params', 'A batch holds at least one request.');
    if (requests.length > maxBatch)
      throw new RequestError(
        'too_large',
        `A batch holds at most ${maxBatch} requests (maxBatch). Send it in smaller pieces.`,
      );
    const answers: Response[] = [];
    for (const request of requests) answers.push(await this.#needs.dispatcher.answer(request, caller));
    return answers;
  }

  async #stream(asked: Asked, sessionId: string): Promise<void> {
    allow(asked, 'GET');
    const { signal } = this.#authorize(asked);
    const signals = [signal, this.#needs.signal];
    await this.#needs.streams.serve(asked.request, asked.response, { sessionId, query: asked.query }, signals);
  }

  async #blob(asked: Asked, sha256: string): Promise<void> {
    allow(asked, 'GET');
    const ticket = asked.query.get('ticket');
    if (ticket === null) this.#authorize(asked);
    else if (!this.#needs.blobs.useTicket(ticket, sha256))
      throw new RequestError(
        'unauthorized',
        'This download link was used or is older than a minute. Start the download again from the app.',
      );
    await this.#needs.blobs.send(asked.response, sha256, asked.query);
  }

  async #ticket(asked: Asked, sha256: string): Promise<void> {
    allow(asked, 'POST');
    this.#authorize(asked);
    sendJson(asked.response, { ticket: this.#needs.blobs.makeTicket(sha256) });
  }

  async #upload(asked: Asked): Promise<void> {
    allow(asked, 'POST');
    this.#authorize(asked);
    await this.#needs.blobs.receive(asked.request, asked.response);
  }

  #authorize(asked: Asked): Access {
    const access = this.#needs.bearers.authorize(asked.request.headers.authorization);
    if (access !== null) return access;
    throw new RequestError(
      'unauthorized',
      'This needs a valid bearer. Scripts find theirs in daemon.json; a page gets its own by connecting.',
    );
  }

  #refuse({ response }: Asked, error: unknown): void {
    if (error instanceof ClientGone) return;
    const told = presentable(error, this.#needs.diagnostics);
    // Half an answer cannot be taken back: cutting it short is how the client learns of it.
    if (response.headersSent) response.destroy();
    else sendError(response, told);
  }
}

function headOf(request: IncomingMessage): RequestHead {
  return { method: request.method ?? '', url: request.url ?? '', headers: request.headersDistinct };
}

function refusalOf({ status, code, message }: Judgement & { type: 'refuse' }): HttpError {
  return new HttpError(status, code, message);
}

function allow({ request }: Asked, ...methods: string[]): void {
  if (methods.includes(request.method ?? '')) return;
  const allowed = methods.join(', ');
  throw new HttpError(405, 'invalid_params', `This address takes ${allowed} only.`, { allow: allowed });
}
