/** A web server on loopback that answers GETs with what a test says: lists of models, refusals, catalogues. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface JsonAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Text goes out as it is, anything else as JSON. Never answers where it is `hang`. */
  body?: unknown;
  hang?: true;
}

export interface JsonServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly requests: readonly { path: string; headers: IncomingHttpHeaders }[];
  /** Resolves once no connection is open. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

export async function startJsonServer(
  answer: (path: string, headers: IncomingHttpHeaders) => JsonAnswer,
): Promise<JsonServer> {
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const sockets = new Set<Socket>();
  const waiting: (() => void)[] = [];
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '';
    requests.push({ path, headers: incoming.headers });
    const { status = 200, headers = {}, body = {}, hang } = answer(path, incoming.headers);
    if (hang === true) return;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) for (const resolve of waiting.splice(0)) resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    quiet: () => (sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
