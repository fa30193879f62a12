/**
 * Listens on the loopback interface and on nothing else: 127.0.0.1 and ::1 on one port, both or neither, since many browsers try ::1 first
 * for `localhost`; a machine without IPv6 is the exception. A busy port is an error that says so, never silently the next one: an installed
 * app, its devices and its drafts belong to host and port. Port 0 finds one that is free on both.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RequestError } from '#protocol/errors.ts';
import { systemCode } from '../base/errors.ts';
import { endWithError, HttpError } from './answer.ts';
import { closingMs, headersTimeoutMs, maxConnections, maxHeaderBytes, requestTimeoutMs } from './limits.ts';

export interface Handler {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade: (request: IncomingMessage, connection: Duplex, head: Buffer) => void;
}

export interface Listener {
  readonly port: number;
  /** Takes no more connections; those that are idle end at once, the others when their answer has left or a moment has passed. */
  close(): Promise<void>;
}

export class PortBusyError extends Error {
  override readonly name = 'PortBusyError';
  constructor(port: number, options: { cause: unknown }) {
    super(`Port ${port} is used by another program. End that, or choose another port with --port.`, options);
  }
}

const families = ['127.0.0.1', '::1'] as const;
/** Another program would have to take the same free port again and again. */
const maxTries = 20;
const sweepMs = 20;

export async function listenOnLoopback(handler: Handler, port: number): Promise<Listener> {
  for (let attempt = 1; ; attempt += 1) {
    const servers = await listenOnBoth(handler, port, port === 0 && attempt < maxTries);
    if (servers === null) continue;
    return { port: portOf(servers), close: () => closeAll(servers) };
  }
}

/** Null where the port that the system chose for one address is taken on the other, and `again` says that there is another try. */
async function listenOnBoth(handler: Handler, port: number, again: boolean): Promise<Server[] | null> {
  const servers: Server[] = [];
  for (const host of families) {
    const wanted = servers.length === 0 ? port : portOf(servers);
    try {
      servers.push(await listen(handler, wanted, host));
    } catch (error) {
      const code = systemCode(error);
      if (host === '::1' && (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT')) continue;
      await closeAll(servers);
      if (code !== 'EADDRINUSE') throw error;
      if (again) return null;
      throw new PortBusyError(wanted, { cause: error });
    }
  }
  return servers;
}

function listen(handler: Handler, port: number, host: string): Promise<Server> {
  const server = createServer({
    // The fence answers a request without Host, as it answers one with a foreign Host.
    requireHostHeader: false,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: headersTimeoutMs / 2,
  });
  server.maxConnections = maxConnections;
  server.on('request', handler.request);
  server.on('upgrade', handler.upgrade);
  server.on('clientError', (error, connection) => {
    if (connection.destroyed) return;
    if (!connection.writable) connection.destroy();
    else endWithError(connection, clientError(systemCode(error)));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true, ipv6Only: host === '::1' }, () => {
      server.removeListener('error', reject);
      resolve(server);
    });
  });
}

function clientError(code: string | undefined): RequestError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new HttpError(431, 'too_large', `The headers are larger than ${maxHeaderBytes} bytes (maxHeaderBytes).`);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new HttpError(408, 'invalid_params', 'The request did not come in time.');
  return new HttpError(400, 'invalid_params', 'This is not a request that can be read.');
}

function portOf(servers: readonly Server[]): number {
  const address = servers[0]?.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  const closed = Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  // Node ends the connections that are idle when closing begins; these become idle later.
  const sweep = setInterval(() => servers.forEach((server) => server.closeIdleConnections()), sweepMs);
  const cut = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), closingMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
