/** fetch with connections of its own: what its users rely on, against a bare server. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Http } from './http.ts';

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const http = new Http();
  const abort = new AbortController();
  let received = 0;
  onTestFinished(async () => {
    http.close();
    await new Promise((resolve) => server.close(resolve));
  });
  const options = {
    method: 'POST',
    headers: { 'x-mine': '1' },
    body: 'häl',
    signal: abort.signal,
    received: (bytes: number) => (received += bytes),
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/path?q=1`;
  return { server, http, abort, received: () => received, ask: () => http.fetch(url, options) };
}

test('sends what it is given and returns any answer, redirects too', async () => {
  const { ask } = await serve((request, response) => {
    request.setEncoding('utf8').on('data', (body: string) => {
      response.writeHead(302, { location: '/other', 'set-cookie': ['a=1', 'b=2'] });
      response.end(`${request.method} ${request.url} ${request.headers['x-mine'] as string} ${body}`);
    });
  });
  const answer = await ask();
  expect(answer.status).toBe(302);
  expect(answer.headers.get('location')).toBe('/other');
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(await answer.text()).toBe('POST /path?q=1 1 häl');
});

test('an answer without a body by definition has none', async () => {
  const { ask } = await serve((_, response) => response.writeHead(204).end());
  expect((await ask()).body).toBe(null);
});

test('a body that was cut is an error, never a quiet end', async () => {
  const { ask } = await serve((_, response) => {
    response.write('half');
    setTimeout(() => response.socket?.destroy(), 20);
  });
  const answer = await ask();
  await expect(answer.text()).rejects.toThrow();
});

test('the body is read only as fast as it is consumed', async () => {
  const size = 64 * 1024 * 1024;
  const { ask, received } = await serve((_, response) => response.end(Buffer.alloc(size)));
  const answer = await ask();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(received()).toBeLessThan(1024 * 1024);
  expect((await answer.arrayBuffer()).byteLength).toBe(size);
  expect(received()).toBe(size);
});

test('abort ends a request before its answer, and a body within', async () => {
  const silent = await serve(() => undefined);
  const asking = silent.ask();
  silent.abort.abort();
  await expect(asking).rejects.toThrow();
  const endless = await serve((_, response) => void response.write('x'));
  const reading = (await endless.ask()).text();
  endless.abort.abort();
  await expect(reading).rejects.toThrow();
});

test('close destroys idle connections and those in use', async () => {
  const { ask, http, server } = await serve((_, response) => void response.write('x'));
  let open = 0;
  server.on('connection', (socket) => {
    open += 1;
    socket.on('close', () => (open -= 1));
  });
  const reading = (await ask()).text();
  http.close();
  await expect(reading).rejects.toThrow();
  await expect.poll(() => open).toBe(0);
});

test('no connection is a rejection with the system’s code', async () => {
  const { ask, server } = await serve(() => undefined);
  await new Promise((resolve) => server.close(resolve));
  await expect(ask()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
