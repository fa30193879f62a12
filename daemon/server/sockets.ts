/**
 * All WebSocket connections of the daemon: turns an upgrade that passed the fence into a connection, and ends them all when the daemon
 * ends. Those that have not authenticated are few: one more than that, and the oldest goes.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { closeCodes, maxMessageBytes, maxUnauthenticated, maxUnsentBytes, subprotocol } from '#protocol/limits.ts';
import { dataPolicy, endWithError, HttpError, securityHeaders } from './answer.ts';
import { SocketConnection, type SocketNeeds } from './socket.ts';

export class Sockets {
  readonly #needs: SocketNeeds;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    // Text streams compress well, but a window a socket costs memory and a deflated answer leaks what it is made of.
    perMessageDeflate: false,
    autoPong: false,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });
  readonly #waiting = new Set<SocketConnection>();
  readonly #authenticated = new Set<SocketConnection>();
  #allClosed: (() => void) | null = null;

  constructor(needs: SocketNeeds) {
    this.#needs = needs;
    this.#server.on('wsClientError', (error, connection) => {
      endWithError(
        connection,
        new HttpError(400, 'invalid_params', `This is not a WebSocket request: ${error.message}.`),
      );
    });
    this.#server.on('headers', (lines) => {
      for (const [name, value] of Object.entries(securityHeaders(dataPolicy))) lines.push(`${name}: ${value}`);
    });
  }

  /** Clients that have authenticated. */
  get clients(): number {
    return this.#authenticated.size;
  }

  /** Requires a request that has passed the fence. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    if (this.#allClosed !== null) return void connection.destroy();
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    if (request.headers.upgrade?.toLowerCase() !== 'websocket' || !offered.includes(subprotocol)) {
      const problem = new HttpError(
        400,
        'invalid_params',
        `A WebSocket of this daemon speaks the subprotocol ${subprotocol}.`,
      );
      return endWithError(connection, problem);
    }
    this.#server.handleUpgrade(request, connection, head, (socket) => {
      // Our own pongs are held back from a client that does not read, as everything is.
      socket.on('ping', (data) => {
        if (socket.bufferedAmount < maxUnsentBytes) socket.pong(data);
      });
      const accepted: SocketConnection = new SocketConnection(socket, this.#needs, {
        authenticated: () => {
          this.#waiting.delete(accepted);
          this.#authenticated.add(accepted);
        },
        closed: () => this.#forget(accepted),
      });
      this.#waiting.add(accepted);
      this.#evictOldest();
    });
  }

  /** Says to every client that the daemon goes; resolves when all have gone. */
  async close(): Promise<void> {
    const all = [...this.#waiting, ...this.#authenticated];
    const closed = new Promise<void>((resolve) => (this.#allClosed = resolve));
    for (const connection of all) connection.close(closeCodes.going, 'the daemon ends');
    if (all.length > 0) await closed;
  }

  #evictOldest(): void {
    if (this.#waiting.size <= maxUnauthenticated) return;
    for (const oldest of this.#waiting) {
      // Its place is free at once; closing takes the moment that a silent client takes to be cut off.
      this.#waiting.delete(oldest);
      return oldest.close(closeCodes.unauthorized, 'too many unauthenticated sockets');
    }
  }

  #forget(connection: SocketConnection): void {
    this.#waiting.delete(connection);
    this.#authenticated.delete(connection);
    if (this.#waiting.size + this.#authenticated.size === 0) this.#allClosed?.();
  }
}
