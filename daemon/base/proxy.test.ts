/** Which requests go through a proxy, and that they do. */
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Http } from './http.ts';
import { proxyFor } from './proxy.ts';

const proxies = {
  HTTPS_PROXY: 'http://proxy:8080',
  HTTP_PROXY: 'plain:80',
  NO_PROXY: 'corp.example, .inner.test,one.test:8443',
};

test.each<[string, Record<string, string>, string | null]>([
  ['https://api.vendor.com/v1', proxies, 'http://proxy:8080'],
  ['http://api.vendor.com/v1', proxies, 'http://plain:80'],
  ['https://api.vendor.com/v1', {}, null],
  ['https://api.vendor.com/v1', { https_proxy: 'http://small:1', HTTPS_PROXY: 'http://big:1' }, 'http://small:1'],
  ['https://api.vendor.com/v1', { ALL_PROXY: 'http://all:1' }, 'http://all:1'],
  ['https://corp.example/v1', proxies, null],
  ['https://deep.corp.example/v1', proxies, null],
  ['https://notcorp.example/v1', proxies, 'http://proxy:8080'],
  ['https://a.inner.test', proxies, null],
  ['https://one.test:8443/', proxies, null],
  ['https://one.test/', proxies, 'http://proxy:8080'],
  ['https://api.vendor.com/v1', { ...proxies, NO_PROXY: '*' }, null],
  ['http://127.0.0.1:11434/v1', proxies, null],
  ['http://localhost:1234/v1', proxies, null],
  ['http://[::1]:1234/v1', proxies, null],
])('%s with %o goes through %s', (url, environment, proxy) => {
  expect(proxyFor(url, environment)).toBe(proxy);
});

/** A proxy on loopback that takes every name for `port` of this machine. */
async function startProxy(port: number) {
  const tunnels: string[] = [];
  const server = createServer();
  server.on('connect', (request, socket, head) => {
    tunnels.push(request.url ?? '');
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      target.pipe(socket).pipe(target);
    });
    const end = () => {
      target.destroy();
      socket.destroy();
    };
    for (const one of [target, socket]) one.on('error', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tunnels, server };
}

test('a request goes through the proxy that the environment names, redirects are not followed, and close leaves no connection', async () => {
  let open = 0;
  let closed: () => void = () => undefined;
  const target = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (body: string) => {
      response.writeHead(307, { location: 'http://elsewhere.test/' });
      response.end(`${request.method} ${request.headers.host} ${request.url} ${body}`);
    });
  });
  target.on('connection', (socket) => {
    open += 1;
    socket.on('close', () => {
      open -= 1;
      if (open === 0) closed();
    });
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void target.close());
  const proxy = await startProxy((target.address() as AddressInfo).port);
  const http = new Http({ HTTP_PROXY: proxy.url });
  const ask = {
    method: 'POST',
    headers: {},
    body: 'häl',
    signal: new AbortController().signal,
    received: () => undefined,
  };
  const answer = await http.fetch('http://vendor.test/v1', ask);
  expect(answer.status).toBe(307);
  expect(await answer.text()).toBe('POST vendor.test /v1 häl');
  expect(proxy.tunnels).toEqual(['vendor.test:80']);
  const gone = new Promise<void>((resolve) => (closed = resolve));
  http.close();
  await gone;
});

test('a proxy that cannot be reached fails the request, which never goes straight instead', async () => {
  const proxy = await startProxy(1);
  await new Promise((resolve) => proxy.server.close(resolve));
  const http = new Http({ HTTP_PROXY: proxy.url });
  onTestFinished(() => http.close());
  const ask = {
    method: 'POST',
    headers: {},
    body: '',
    signal: new AbortController().signal,
    received: () => undefined,
  };
  await expect(http.fetch('http://vendor.test/v1', ask)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  const socks = new Http({ ALL_PROXY: 'socks5://127.0.0.1:1' });
  onTestFinished(() => socks.close());
  await expect(socks.fetch('http://vendor.test/v1', ask)).rejects.toThrow();
});
