/**
 * Blobs over HTTP: bytes up and down by hash. A page fetches with its bearer; what a browser itself must fetch (a download) goes by a
 * ticket: for one blob, once, within a minute. Whatever the bytes are, they are never run: only types that cannot hold a script are
 * named, everything else is a download.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '#protocol/errors.ts';
import { maxBlobBytes } from '#protocol/limits.ts';
import type { Clock } from '../base/clock.ts';
import { dataPolicy, securityHeaders, sendJson } from './answer.ts';
import type { BlobStore } from './blob-store.ts';
import { readBody } from './body.ts';
import { maxTickets, maxUploads, ticketMs } from './limits.ts';

/** What `?type=` may ask for. SVG and HTML hold scripts, and PDF viewers run them: those are downloads. */
const safeTypes: ReadonlyMap<string, string> = new Map([
  ['image/png', 'image/png'],
  ['image/jpeg', 'image/jpeg'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
  ['text/plain', 'text/plain; charset=utf-8'],
]);

export class BlobRoutes {
  readonly #store: BlobStore;
  readonly #clock: Clock;
  readonly #tickets = new Map<string, { sha256: string; until: number }>();
  #uploads = 0;

  constructor(store: BlobStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#uploads >= maxUploads)
      throw new RequestError('too_many', `${maxUploads} uploads are under way (maxUploads). Wait for one to end.`);
    this.#uploads += 1;
    try {
      const bytes = await readBody(request, { name: 'maxBlobBytes', bytes: maxBlobBytes });
      sendJson(response, await this.#store.put(bytes));
    } finally {
      this.#uploads -= 1;
    }
  }

  async send(response: ServerResponse, sha256: string, query: URLSearchParams): Promise<void> {
    const blob = await this.#store.open(sha256);
    if (blob === null) throw new RequestError('not_found', 'There is no such blob.');
    const type = safeTypes.get(query.get('type') ?? '');
    response.writeHead(200, {
      ...securityHeaders(dataPolicy),
      'cache-control': 'no-store',
      'content-type': type ?? 'application/octet-stream',
      'content-length': blob.bytes,
      ...(type === undefined ? { 'content-disposition': 'attachment' } : {}),
    });
    await new Promise<void>((resolve) => {
      response.on('close', () => {
        blob.stream.destroy();
        resolve();
      });
      // The length is announced already: cutting the connection is the only way to say that bytes are missing.
      blob.stream.on('error', () => response.destroy());
      blob.stream.pipe(response);
    });
  }

  makeTicket(sha256: string): string {
    this.#dropOld();
    if (this.#tickets.size >= maxTickets)
      throw new RequestError('too_many', `${maxTickets} downloads wait to begin (maxTickets). Try again in a minute.`);
    const ticket = randomBytes(16).toString('base64url');
    this.#tickets.set(ticket, { sha256, until: this.#clock.now() + ticketMs });
    return ticket;
  }

  /** True once for a ticket of that blob; one that is shown for another blob is void, too. */
  useTicket(ticket: string, sha256: string): boolean {
    this.#dropOld();
    const made = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    return made?.sha256 === sha256;
  }

  #dropOld(): void {
    for (const [ticket, { until }] of this.#tickets) if (this.#clock.now() >= until) this.#tickets.delete(ticket);
  }
}
