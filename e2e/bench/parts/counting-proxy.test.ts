/** What the proxy counts is what went over the wire, and what it hands on is what was sent. */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { countAnswersOf } from './counting-proxy.ts';

const script = 'let leaf = 1;\n'.repeat(400);

it('counts compressed and plain answers alike, and tells what is fetched for later', async () => {
  const server = createServer((asked, answer) => {
    const type = { 'content-type': 'text/javascript', 'cache-control': 'no-cache' };
    if (asked.url === '/plain.js') answer.writeHead(200, type).end(script);
    else if (asked.url === '/small.js')
      answer.writeHead(200, { ...type, 'content-encoding': 'gzip' }).end(gzipSync(script));
    else answer.writeHead(304).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await countAnswersOf((server.address() as AddressInfo).port);
  onTestFinished(async () => {
    await proxy.close();
    server.close();
  });
  // Not `fetch`: it says itself what it fetches for.
  const ask = async (path: string, destination: string) => {
    const asked = request(`${proxy.address}${path}`, { headers: { 'sec-fetch-dest': destination } }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return (await answer.toArray()).map(String).join('').length;
  };
  const lengths = [await ask('/plain.js', 'script'), await ask('/small.js', 'empty'), await ask('/same.js', 'script')];
  expect(lengths).toEqual([script.length, expect.any(Number), 0]);
  const gzipBytes = gzipSync(script, { level: 9 }).length;
  const common = { type: 'text/javascript', cacheControl: 'no-cache', status: 200, gzipBytes };
  expect(proxy.hits).toMatchObject([
    { ...common, path: '/plain.js', encoding: null, wireBytes: script.length, forLater: false },
    { ...common, path: '/small.js', encoding: 'gzip', wireBytes: gzipSync(script).length, forLater: true },
    { path: '/same.js', status: 304, wireBytes: 0, gzipBytes: 0 },
  ]);
  proxy.reset();
  expect(proxy.hits).toEqual([]);
});
