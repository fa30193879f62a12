/**
 * A reverse proxy on loopback that writes down each answer as it goes over the wire: its bytes there, and what its body weighs under gzip, so that
 * a page that is served plain or in Brotli compares with any other. Sockets pass through it uncounted.
 */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';

export interface Hit {
  readonly path: string;
  readonly status: number;
  readonly type: string;
  /** Null where it was sent as it is. */
  readonly encoding: string | null;
  readonly cacheControl: string | null;
  readonly wireBytes: number;
  readonly gzipBytes: number;
  /** True: a service worker stores it for later; the page does not wait for it. */
  readonly forLater: boolean;
}

export interface CountingProxy {
  readonly address: string;
  /** Since the last `reset`. */
  readonly hits: readonly Hit[];
  reset(): void;
  close(): Promise<void>;
}

export async function countAnswersOf(targetPort: number): Promise<CountingProxy> {
  let hits: Hit[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((asked, answer) => {
    const options = {
      host: '127.0.0.1',
      port: targetPort,
      method: asked.method,
      path: asked.url,
      headers: asked.headers,
    };
    const up = request(options, (from) => {
      const pieces: Buffer[] = [];
      answer.writeHead(from.statusCode ?? 502, from.headers);
      from.on('data', (piece: Buffer) => {
        pieces.push(piece);
        answer.write(piece);
      });
      from.on('end', () => {
        hits.push(hitOf(asked, from, Buffer.concat(pieces)));
        answer.end();
      });
      from.on('error', () => answer.destroy());
    });
    up.on('error', () => answer.destroy());
    asked.pipe(up);
  });
  server.on('upgrade', (asked: IncomingMessage, near: Socket, head: Buffer) => {
    const far = connect(targetPort, '127.0.0.1', () => {
      const lines = [`${asked.method} ${asked.url} HTTP/1.1`];
      for (let place = 0; place < asked.rawHeaders.length; place += 2)
        lines.push(`${asked.rawHeaders[place]}: ${asked.rawHeaders[place + 1]}`);
      far.write(`${lines.join('\r\n')}\r\n\r\n`);
      far.write(head);
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://localhost:${(server.address() as AddressInfo).port}`,
    get hits() {
      return hits;
    },
    reset() {
      hits = [];
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function hitOf(asked: IncomingMessage, answer: IncomingMessage, body: Buffer): Hit {
  const encoding = answer.headers['content-encoding'] ?? null;
  const plain = body.length === 0 ? body : decoded(body, encoding);
  return {
    path: asked.url ?? '',
    status: answer.statusCode ?? 0,
    type: answer.headers['content-type'] ?? '',
    encoding,
    cacheControl: answer.headers['cache-control'] ?? null,
    wireBytes: body.length,
    gzipBytes: plain.length === 0 ? 0 : gzipSync(plain, { level: 9 }).length,
    forLater: isForLater(asked, answer.headers['content-type'] ?? ''),
  };
}

function decoded(body: Buffer, encoding: string | null): Buffer {
  if (encoding === 'br') return brotliDecompressSync(body);
  return encoding === 'gzip' ? gunzipSync(body) : body;
}

/** A page says what it asks for a file as; a service worker that fills its cache fetches them as nothing in particular. */
function isForLater({ method, headers }: IncomingMessage, type: string): boolean {
  const destination = headers['sec-fetch-dest'];
  if (destination === 'serviceworker') return true;
  return method === 'GET' && destination === 'empty' && !/json|event-stream/.test(type);
}
