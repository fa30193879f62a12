/** The HTTP surface from outside, with raw requests: fence and authentication before everything, limits, files, scripts' routes. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { maxBatch, maxBlobBytes, maxBodyBytes, maxUrlLength } from '#protocol/limits.ts';
import { openServer, type OpenedServer } from '../testing/open-server.ts';
import { SocketClient, type Came } from '../testing/socket-client.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { maxPairBytes } from './limits.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}

/** A request exactly as given: also without Host, also with headers that `fetch` would not send. */
function raw(
  { server }: OpenedServer,
  path: string,
  { method = 'GET', headers = {}, body }: Sent = {},
): Promise<Answer> {
  const setHost = headers['host'] === undefined;
  const all = { ...headers, ...(setHost ? { host: `localhost:${server.port}` } : {}) };
  if (all['host'] === '-') delete all['host'];
  return new Promise((resolve, reject) => {
    const isDoubled = Array.isArray(all['host']);
    const sent = isDoubled
      ? Object.entries(all).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one]))
      : all;
    const options = {
      host: '127.0.0.1',
      port: server.port,
      path,
      method,
      headers: sent,
      setHost: false,
      agent: false as const,
    };
    const asked = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    asked.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: '' });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** Bytes on a connection of their own, and all that comes back. */
function bytes({ server }: OpenedServer, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
  });
}

const upgrade = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  'sec-websocket-protocol': 'alcove.v1',
};
const json = { 'content-type': 'application/json' };
const codeOf = ({ body }: Answer): unknown => JSON.parse(body).error.data.code;

function builtApp(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, '_app/immutable'), { recursive: true });
  const policy = "default-src &#39;none&#39;; script-src 'self' 'sha256-abc='; connect-src 'self'";
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><head><meta http-equiv="content-security-policy" content="${policy}"></head><body>the app`,
  );
  const script = `export const words = ${JSON.stringify('word '.repeat(100))};`;
  writeFileSync(join(folder, '_app/immutable/entry.abc.js'), script);
  writeFileSync(join(folder, '_app/immutable/entry.abc.js.gz'), gzipSync(script));
  writeFileSync(join(folder, '_app/immutable/entry.abc.js.br'), 'brotli bytes');
  for (const name of ['service-worker.js', 'manifest.webmanifest', 'zstd.wasm', 'empty.txt', 'unknown.kind'])
    writeFileSync(join(folder, name), name === 'empty.txt' ? '' : name);
  return folder;
}

const security = {
  'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

describe('PM11 C24 C25: the fence stands before everything', () => {
  const foreign: [string, Record<string, string | string[]>][] = [
    ['a foreign Host', { host: 'evil.example' }],
    ['a foreign Host and its origin', { host: 'evil.example', origin: 'http://evil.example' }],
    ['no Host', { host: '-' }],
    ['two Hosts', { host: ['localhost', 'evil.example'] }],
    ['a foreign origin', { origin: 'http://evil.example' }],
    ['origin null', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of localhost', { 'sec-fetch-site': 'same-site' }],
  ];

  test.each(foreign)(
    '%s: 403 for files, data, commands, pairing and upgrades, without any effect',
    async (_, headers) => {
      const opened = await openServer({ webFolder: builtApp() });
      const { code } = opened.server.pairings.create();
      const authorized = { ...opened.bearer(), ...headers };
      const rpc = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'project.list' });
      const answers = [
        await raw(opened, '/', { headers }),
        await raw(opened, '/_app/immutable/entry.abc.js', { headers }),
        await raw(opened, '/health', { headers }),
        await raw(opened, '/nowhere', { headers }),
        await raw(opened, '/rpc', { method: 'POST', headers: { ...authorized, ...json }, body: rpc }),
        await raw(opened, '/rpc', {
          method: 'POST',
          headers: { ...authorized, 'content-type': 'text/plain' },
          body: rpc,
        }),
        await raw(opened, '/rpc', { method: 'OPTIONS', headers: authorized }),
        await raw(opened, '/pair', {
          method: 'POST',
          headers: { ...json, ...headers },
          body: JSON.stringify({ code, name: 'x' }),
        }),
        await raw(opened, '/blobs', {
          method: 'POST',
          headers: { ...authorized, 'content-type': 'application/octet-stream' },
        }),
        await raw(opened, '/ws', { headers: { ...upgrade, ...headers } }),
        await raw(opened, '/elsewhere', { headers: { ...upgrade, ...headers } }),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
      for (const answer of answers) {
        expect(answer.headers).toMatchObject(security);
        expect(codeOf(answer)).toBe('forbidden');
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
      expect(opened.calls).toEqual([]);
      expect(opened.server.devices.list(null)).toEqual([]);
    },
  );

  test('MB2: any forwarded port of any loopback name works, for files, commands and upgrades', async () => {
    const opened = await openServer({ webFolder: builtApp() });
    for (const host of ['localhost:18080', '127.0.0.1:18080', '[::1]:9', 'localhost']) {
      const headers = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
      const rpc = { method: 'POST', headers: { ...headers, ...opened.bearer(), ...json }, body: '{}' };
      expect([
        (await raw(opened, '/', { headers })).status,
        (await raw(opened, '/rpc', rpc)).status,
        (await raw(opened, '/ws', { headers: { ...headers, ...upgrade } })).status,
      ]).toEqual([200, 200, 101]);
    }
  });

  test('a navigation to another loopback name is sent to localhost; its other requests are not', async () => {
    const opened = await openServer({ webFolder: builtApp() });
    const tab = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', host: '[::1]:18080' };
    const { status, headers } = await raw(opened, '/s/1?x=2', { headers: tab });
    expect([status, headers.location, headers['cache-control']]).toEqual([
      307,
      'http://localhost:18080/s/1?x=2',
      'no-store',
    ]);
    expect(headers).toMatchObject(security);
    expect((await raw(opened, '/health', { headers: { host: '127.0.0.1:1' } })).status).toBe(200);
  });

  test('C24: a POST that a form could send is 415, whatever it holds', async () => {
    const opened = await openServer();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'project.list' });
    const headers = { ...opened.bearer(), 'content-type': 'text/plain' };
    const answer = await raw(opened, '/rpc', { method: 'POST', headers, body });
    expect([answer.status, opened.calls]).toEqual([415, []]);
    expect(answer.headers).toMatchObject(security);
  });
});

describe('what is no proper request is answered, too', () => {
  test.each([
    ['no HTTP', 'hello\r\n\r\n', '400'],
    ['headers beyond the limit (RT28)', `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`, '431'],
    ['HTTP/1.0 without Host', 'GET / HTTP/1.0\r\n\r\n', '403'],
    ['an absolute address', 'GET http://localhost/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n', '400'],
    ['CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nhost: localhost\r\n\r\n', ''],
  ])('%s', async (_, text, status) => {
    const answer = await bytes(await openServer(), text);
    if (status === '') return expect(answer).toBe('');
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    for (const name of Object.keys(security)) expect(answer.toLowerCase()).toContain(`\n${name}:`);
  });

  test('an upgrade that is no WebSocket, or leads elsewhere', async () => {
    const opened = await openServer();
    expect((await raw(opened, '/ws', { headers: { ...upgrade, upgrade: 'h2c' } })).status).toBe(400);
    expect((await raw(opened, '/ws', { headers: { ...upgrade, 'sec-websocket-key': 'short' } })).status).toBe(400);
    expect((await raw(opened, '/rpc', { headers: upgrade })).status).toBe(404);
    expect((await raw(opened, '/ws')).status).toBe(426);
    expect((await raw(opened, '/ws', { headers: upgrade })).headers).toMatchObject(security);
  });

  test('RT28: an address longer by one than the limit', async () => {
    const opened = await openServer();
    expect((await raw(opened, `/health?${'a'.repeat(maxUrlLength - 8)}`)).status).toBe(200);
    expect((await raw(opened, `/health?${'a'.repeat(maxUrlLength - 7)}`)).status).toBe(414);
  });
});

describe('PM12: every data path needs authentication', () => {
  const sha = '0'.repeat(64);
  test.each([
    ['no bearer', {}],
    ['a wrong bearer', { authorization: `Bearer ${'A'.repeat(43)}` }],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['the bearer in the address', {}],
  ])('%s: 401', async (name, headers) => {
    const opened = await openServer();
    const query = name.endsWith('address')
      ? `?token=${opened.server.processToken}&bearer=${opened.server.processToken}`
      : '';
    const answers = [
      await raw(opened, `/rpc${query}`, { method: 'POST', headers: { ...headers, ...json }, body: '{}' }),
      await raw(opened, `/sessions/ses_${opened.ids.uuid7()}/events${query}`, { headers }),
      await raw(opened, `/blobs/${sha}${query}`, { headers }),
      await raw(opened, `/blobs/${sha}?ticket=AAAA`, { headers }),
      await raw(opened, `/blobs/${sha}/ticket`, { method: 'POST', headers: { ...headers, ...json } }),
      await raw(opened, '/blobs', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/octet-stream' },
        body: 'x',
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    for (const answer of answers) expect(answer.headers).toMatchObject({ ...security, 'www-authenticate': 'Bearer' });
    expect(opened.calls).toEqual([]);
  });

  test("a device's token is no bearer: it crosses the wire once, at pairing", async () => {
    const opened = await openServer();
    const { token } = await opened.pair();
    const headers = { authorization: `Bearer ${token}`, ...json };
    expect((await raw(opened, '/rpc', { method: 'POST', headers, body: '{}' })).status).toBe(401);
  });

  test('PM15: files are owner-only, and hold no token', async () => {
    const { home, pair, rpc, ids } = await openServer();
    const { token, deviceId } = await pair();
    await pair('other');
    await rpc('device.revoke', { commandId: ids.uuid7(), deviceId });
    for (const name of ['machine.json', 'devices.json', 'commands.jsonl', 'diagnostics.jsonl']) {
      expect([name, statSync(join(home, name)).mode & 0o777]).toEqual([name, 0o600]);
      expect(readFileSync(join(home, name), 'utf8')).not.toContain(token);
    }
  });

  test('the process token of an earlier daemon is void', async () => {
    const first = await openServer();
    const headers = { ...first.bearer(), ...json };
    await first.server.close();
    const second = await openServer({ home: first.home });
    expect((await raw(second, '/rpc', { method: 'POST', headers, body: '{}' })).status).toBe(401);
  });

  test('health says who answers, and nothing secret', async () => {
    const opened = await openServer();
    const { body, headers } = await raw(opened, '/health');
    expect(Object.keys(JSON.parse(body) as object).sort()).toEqual(['bootId', 'machineId', 'name', 'version']);
    expect(headers).toMatchObject({ ...security, 'cache-control': 'no-store' });
  });
});

describe('US10: POST /pair', () => {
  const pair = (opened: OpenedServer, body: object) =>
    raw(opened, '/pair', { method: 'POST', headers: json, body: JSON.stringify(body) });

  test('a code gives a device its token, the machine and its key, once', async () => {
    const opened = await openServer();
    const { link, typed } = (await opened.rpc('pairing.create')).result;
    const fragment = new URLSearchParams(new URL(link).hash.slice(1));
    const answer = await pair(opened, { code: fragment.get('pair'), name: 'Chrome on Android' });
    expect(JSON.parse(answer.body)).toEqual({
      deviceId: expect.stringMatching(/^dev_/),
      token: expect.stringMatching(/^[\w-]{43}$/),
      machineId: fragment.get('machine'),
      publicKey: opened.server.machine.publicKey,
      name: 'workshop',
    });
    expect(fragment.get('key')).toBe(opened.server.machine.fingerprint);
    for (const used of [{ code: fragment.get('pair') }, { typed }]) {
      const refused = await pair(opened, { ...used, name: 'again' });
      expect([refused.status, codeOf(refused)]).toEqual([401, 'unauthorized']);
    }
    expect(opened.server.devices.list(null)).toMatchObject([{ name: 'Chrome on Android', connected: false }]);
  });

  test('two that use one code at the same time: one device', async () => {
    const opened = await openServer();
    const { code } = opened.server.pairings.create();
    const answers = await Promise.all([1, 2, 3].map((n) => pair(opened, { code, name: `device ${n}` })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(opened.server.devices.list(null)).toHaveLength(1);
  });

  test('the link holds its code in the fragment only, and goes to the port of the daemon', async () => {
    const { rpc, server } = await openServer();
    const { link, ssh } = (await rpc('pairing.create')).result;
    expect(new URL(link)).toMatchObject({ origin: `http://localhost:${server.port}`, pathname: '/', search: '' });
    expect(ssh).toBe(`ssh -L ${server.port}:localhost:${server.port} workshop`);
  });

  test.each([
    ['no code', { name: 'x' }],
    ['no name', { code: 'x' }],
    ['an endless name', { code: 'x', name: 'n'.repeat(101) }],
    ['a code that is no text', { code: { $ne: '' }, name: 'x' }],
  ])('%s: 400', async (_, body) => {
    expect((await pair(await openServer(), body)).status).toBe(400);
  });
});

describe('POST /rpc', () => {
  const rpc = (opened: OpenedServer, body: string | Buffer) =>
    raw(opened, '/rpc', { method: 'POST', headers: { ...opened.bearer(), ...json }, body });
  const one = (id: number, method = 'project.list') => ({ jsonrpc: '2.0', id, method });

  test('one request, or a batch in its order; the caller is the command line', async () => {
    const opened = await openServer();
    expect(JSON.parse((await rpc(opened, JSON.stringify(one(1)))).body)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    const batch = [one(1), one(2, 'nothing.here'), { id: 3 }, one(4, 'machine.status')];
    const answers = JSON.parse((await rpc(opened, JSON.stringify(batch))).body);
    expect(answers).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { data: { code: 'unknown_method' } } },
      { id: 3, error: { data: { code: 'invalid_params' } } },
      { id: 4, result: { name: 'workshop', port: opened.server.port, pid: process.pid, sessions: { all: 3 } } },
    ]);
    expect(opened.calls).toEqual(['project.list by command line', 'project.list by command line']);
  });

  test('subscribing needs a socket; the answer names the stream', async () => {
    const { rpc: ask, ids } = await openServer();
    const { error } = await ask('session.subscribe', { sessionId: `ses_${ids.uuid7()}` });
    expect(error.data.code).toBe('unavailable');
    expect(error.message).toContain('/sessions/{id}/events');
  });

  test('RT28: a batch of the most requests is run, one more is refused whole', async () => {
    const opened = await openServer();
    const batch = (count: number) => JSON.stringify(Array.from({ length: count }, (_, n) => one(n)));
    expect(JSON.parse((await rpc(opened, batch(maxBatch))).body)).toHaveLength(maxBatch);
    const refused = await rpc(opened, batch(maxBatch + 1));
    expect([refused.status, codeOf(refused), opened.calls.length]).toEqual([413, 'too_large', maxBatch]);
    expect((await rpc(opened, '[]')).status).toBe(400);
  });

  test('RT28: a body of the longest size is read, one byte more is 413, with and without its length said', async () => {
    const opened = await openServer();
    const text = (length: number) => `${JSON.stringify(one(1))}${' '.repeat(length - JSON.stringify(one(1)).length)}`;
    expect((await rpc(opened, text(maxBodyBytes))).status).toBe(200);
    const headers = { ...opened.bearer(), ...json };
    const body = text(maxBodyBytes + 1);
    const answers = [
      await rpc(opened, body),
      await raw(opened, '/rpc', { method: 'POST', headers: { ...headers, 'transfer-encoding': 'chunked' }, body }),
      await raw(opened, '/pair', { method: 'POST', headers: json, body: body.slice(0, maxPairBytes + 1) }),
    ];
    for (const answer of answers) expect([answer.status, codeOf(answer)]).toEqual([413, 'too_large']);
    expect(opened.calls).toHaveLength(1);
  });

  test('RT28: a body far beyond the limit is refused cleanly and not held', async () => {
    const opened = await openServer();
    const before = process.memoryUsage().arrayBuffers;
    const chunk = Buffer.alloc(1024 * 1024, 32);
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        if (sent++ < 32) controller.enqueue(chunk);
        else controller.close();
      },
    });
    const options = { method: 'POST', headers: { ...opened.bearer(), ...json }, body, duplex: 'half' } as RequestInit;
    const answer = await fetch(opened.url('/rpc'), options);
    expect([answer.status, ((await answer.json()) as Came).error.data.code]).toEqual([413, 'too_large']);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });

  test('no JSON: 400. Another method: 405. A client that goes away in between: nothing', async () => {
    const opened = await openServer();
    expect((await rpc(opened, '{')).status).toBe(400);
    const wrong = await raw(opened, '/rpc', { headers: opened.bearer() });
    expect([wrong.status, wrong.headers.allow]).toEqual([405, 'POST']);
    const head = `POST /rpc HTTP/1.1\r\nhost: localhost\r\nauthorization: ${opened.bearer()['authorization']}\r\n`;
    const socket = connect(opened.server.port, '127.0.0.1');
    socket.write(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"json`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    expect((await opened.rpc('project.list')).result).toEqual({});
  });
});

describe('GET /sessions/:id/events', () => {
  async function withSession(count: number, overrides = {}) {
    const opened = await openServer(overrides);
    const sessionId = `ses_${opened.ids.uuid7()}`;
    const session = opened.sessions.make(sessionId as never);
    session.append(count);
    const stream = async (query = '', headers: Record<string, string> = {}) => {
      const controller = new AbortController();
      const response = await fetch(opened.url(`/sessions/${sessionId}/events${query}`), {
        headers: { ...opened.bearer(), ...headers },
        signal: controller.signal,
      });
      return { response, events: blocks(response), stop: () => controller.abort() };
    };
    return { ...opened, session, sessionId, stream };
  }

  /** Blocks of a stream of server-sent events, as they come. */
  async function* blocks(response: Response): AsyncGenerator<string> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        yield text.slice(0, end);
        text = text.slice(end + 2);
      }
    }
  }

  async function ids(events: AsyncGenerator<string>, count: number): Promise<number[]> {
    const seen: number[] = [];
    while (seen.length < count) {
      const { value, done } = await events.next();
      if (done === true) break;
      const id = /^id: (\d+)\ndata: \{"seq":\1,/.exec(value)?.[1];
      if (id !== undefined) seen.push(Number(id));
    }
    return seen;
  }

  test('from the start, from a seq, and from Last-Event-ID, which counts more', async () => {
    const { stream } = await withSession(6);
    const whole = await stream();
    expect(whole.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await ids(whole.events, 6)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await ids((await stream('?after=4')).events, 2)).toEqual([5, 6]);
    expect(await ids((await stream('?after=1', { 'last-event-id': '5' })).events, 1)).toEqual([6]);
  });

  test('MB4: cut off while the session goes on and resumed by the last id: every event once', async () => {
    const { session, stream } = await withSession(300);
    const writing = setInterval(() => session.append(7), 1);
    const seen: number[] = [];
    for (let cut = 0; cut < 5; cut += 1) {
      const { events, stop } = await stream('?after=0', { 'last-event-id': String(seen.at(-1) ?? 0) });
      seen.push(...(await ids(events, 60)));
      stop();
    }
    clearInterval(writing);
    const rest = await stream('', { 'last-event-id': String(seen.at(-1)) });
    seen.push(...(await ids(rest.events, session.events.length - seen.length)));
    expect(seen).toEqual(session.events.map(({ seq }) => seq));
    await expect.poll(() => session.readers).toBe(1);
  });

  test('increments are not joined: an id for each event', async () => {
    const { session, stream } = await withSession(0);
    session.appendDeltas('a', 'b', 'c');
    expect(await ids((await stream()).events, 3)).toEqual([1, 2, 3]);
  });

  test('a heartbeat while nothing happens', async () => {
    const { stream } = await withSession(0, { timing: { authenticateMs: 5_000, heartbeatMs: 20 } });
    const { events } = await stream();
    expect((await events.next()).value).toBe(': heartbeat');
  });

  test('RT28: a reader that does not read is waited for, and gets everything later', async () => {
    const { session, sessionId, server, bearer } = await withSession(0);
    session.append(12_000, 1000);
    const socket = connect(server.port, '127.0.0.1');
    socket.pause();
    socket.write(
      `GET /sessions/${sessionId}/events HTTP/1.1\r\nhost: localhost\r\nauthorization: ${bearer()['authorization']}\r\n\r\n`,
    );
    await expect.poll(() => session.reads).toBeGreaterThan(0);
    let settled = -1;
    await expect.poll(() => settled === (settled = session.reads), { interval: 200 }).toBe(true);
    expect(settled).toBeLessThan(12_000 / 120);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.resume();
    await expect.poll(() => text.includes('id: 12000\n'), { timeout: 10_000 }).toBe(true);
    expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual(
      session.events.map(({ seq }) => seq),
    );
    socket.destroy();
    await expect.poll(() => session.readers).toBe(0);
  });

  test('US10: a stream ends with its bearer', async () => {
    const opened = await withSession(1);
    const device = await opened.pair();
    const client = await SocketClient.connect(opened.server.port, device);
    const { bearer } = client;
    const { events } = await opened.stream('', { authorization: `Bearer ${bearer}` });
    expect(await ids(events, 1)).toEqual([1]);
    await opened.rpc('device.revoke', { commandId: opened.ids.uuid7(), deviceId: device.deviceId });
    expect(await ids(events, 1)).toEqual([]);
    await expect.poll(() => opened.session.readers).toBe(0);
  });

  test.each([
    ['an unknown session', `ses_${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`, '', 404],
    ['no session id', '..%2f..', '', 404],
    ['a seq that is none', null, '?after=-1', 400],
    ['a seq beyond the end', null, '?after=9', 409],
  ])('%s', async (_, id, query, status) => {
    const opened = await withSession(3);
    const answer = await raw(opened, `/sessions/${id ?? opened.sessionId}/events${query}`, {
      headers: opened.bearer(),
    });
    expect(answer.status).toBe(status);
    expect(opened.session.readers).toBe(0);
  });
});

describe('blobs', () => {
  const octets = { 'content-type': 'application/octet-stream' };
  async function withBlob(body: string | Buffer = 'some bytes') {
    const opened = await openServer();
    const answer = await raw(opened, '/blobs', { method: 'POST', headers: { ...opened.bearer(), ...octets }, body });
    return { opened, sha256: JSON.parse(answer.body).sha256 as string };
  }

  test('up by content, down by hash, as a download that nothing runs', async () => {
    const { opened, sha256 } = await withBlob();
    const { status, headers, body } = await raw(opened, `/blobs/${sha256}`, { headers: opened.bearer() });
    expect([status, body]).toEqual([200, 'some bytes']);
    expect(headers).toMatchObject({
      ...security,
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'content-length': '10',
      'cache-control': 'no-store',
    });
  });

  test.each([
    ['image/png', 'image/png'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/html', 'application/octet-stream'],
    ['image/svg+xml', 'application/octet-stream'],
    ['application/pdf', 'application/octet-stream'],
    ['__proto__', 'application/octet-stream'],
  ])('asked for as %s: %s', async (asked, type) => {
    const { opened, sha256 } = await withBlob();
    const { headers } = await raw(opened, `/blobs/${sha256}?type=${encodeURIComponent(asked)}`, {
      headers: opened.bearer(),
    });
    expect(headers['content-type']).toBe(type);
    expect(headers['content-disposition']).toBe(type === 'application/octet-stream' ? 'attachment' : undefined);
  });

  test('a ticket opens one blob once, within a minute, without a bearer', async () => {
    const { opened, sha256 } = await withBlob();
    const ticket = async () => {
      const asked = { method: 'POST', headers: { ...opened.bearer(), ...json }, body: '{}' };
      return JSON.parse((await raw(opened, `/blobs/${sha256}/ticket`, asked)).body).ticket as string;
    };
    const get = async (shown: string, sha = sha256) => (await raw(opened, `/blobs/${sha}?ticket=${shown}`)).status;
    const [first, second, third] = [await ticket(), await ticket(), await ticket()];
    expect([await get(first), await get(first)]).toEqual([200, 401]);
    expect([await get(second, 'f'.repeat(64)), await get(second)]).toEqual([401, 401]);
    opened.clock.advance(60_000);
    expect(await get(third)).toBe(401);
  });

  test('a blob that is not there, and a name that is no hash', async () => {
    const { opened } = await withBlob();
    for (const name of ['f'.repeat(64), 'F'.repeat(64), '..', 'f'.repeat(63)])
      expect((await raw(opened, `/blobs/${name}`, { headers: opened.bearer() })).status).toBe(404);
  });

  test('RT28: one byte more than a blob may have: 413', async () => {
    const { opened } = await withBlob();
    const post = (length: number, more = {}) =>
      raw(opened, '/blobs', {
        method: 'POST',
        headers: { ...opened.bearer(), ...octets, ...more },
        body: Buffer.alloc(length),
      });
    expect((await post(maxBlobBytes)).status).toBe(200);
    expect((await post(maxBlobBytes + 1)).status).toBe(413);
    expect((await post(maxBlobBytes + 1, { 'transfer-encoding': 'chunked' })).status).toBe(413);
  });
});

describe('the app', () => {
  test('the page carries the policy that was built into it, and what a meta tag cannot say', async () => {
    const opened = await openServer({ webFolder: builtApp() });
    const { status, headers, body } = await raw(opened, '/');
    expect([status, body]).toEqual([200, expect.stringContaining('the app')]);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      ...security,
    });
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self' 'sha256-abc='; connect-src 'self'; frame-ancestors 'none'",
    );
  });

  test('files with a hash in their name are kept for ever and come as the browser reads them best', async () => {
    const opened = await openServer({ webFolder: builtApp() });
    const get = (encoding: string) =>
      raw(opened, '/_app/immutable/entry.abc.js', { headers: { 'accept-encoding': encoding } });
    const encodings = ['gzip, deflate, br', 'gzip;q=1, br;q=0', 'identity', '*', 'br ; q=0.5', ''];
    const answers = await Promise.all(encodings.map(get));
    expect(answers.map(({ headers }) => headers['content-encoding'])).toEqual([
      'br',
      'gzip',
      undefined,
      'br',
      'br',
      undefined,
    ]);
    expect(answers[0]).toMatchObject({
      body: 'brotli bytes',
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'accept-encoding',
      },
    });
    expect(new Set(answers.slice(0, 3).map(({ headers }) => headers.etag)).size).toBe(3);
    expect((await raw(opened, '/_app/immutable/entry.abc.js.br')).status).toBe(404);
  });

  test.each([
    ['/service-worker.js', 'text/javascript; charset=utf-8'],
    ['/manifest.webmanifest', 'application/manifest+json; charset=utf-8'],
    ['/zstd.wasm', 'application/wasm'],
    ['/empty.txt', 'text/plain; charset=utf-8'],
    ['/unknown.kind', 'application/octet-stream'],
  ])('%s has its type and is asked for anew each time', async (path, type) => {
    const opened = await openServer({ webFolder: builtApp() });
    const { status, headers, body } = await raw(opened, path);
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([200, type, 'no-cache']);
    const again = await raw(opened, path, { headers: { 'if-none-match': headers.etag ?? '' } });
    expect([again.status, again.body]).toEqual([304, '']);
    const head = await raw(opened, path, { method: 'HEAD' });
    expect([head.status, head.headers['content-length'], head.body]).toEqual([
      200,
      String(Buffer.byteLength(body)),
      '',
    ]);
  });

  test('a navigation to an address of the app gets the page; anything else that is not there is 404', async () => {
    const opened = await openServer({ webFolder: builtApp() });
    const tab = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' };
    expect((await raw(opened, '/session/ses_1', { headers: tab })).body).toContain('the app');
    expect((await raw(opened, '/session/ses_1', { headers: { accept: 'text/html,*/*' } })).body).toContain('the app');
    expect(
      (await raw(opened, '/session/ses_1', { headers: { 'sec-fetch-mode': 'cors', accept: 'text/html' } })).status,
    ).toBe(404);
    expect((await raw(opened, '/_app/immutable/gone.js')).status).toBe(404);
    expect((await raw(opened, '/', { method: 'PUT' })).status).toBe(405);
  });

  test('there is no way out of the folder', async () => {
    const webFolder = builtApp();
    writeFileSync(join(webFolder, '..', 'outside.txt'), 'secret');
    const opened = await openServer({ webFolder });
    const ways = [
      '/../outside.txt',
      '/..%2foutside.txt',
      '/%2e%2e/outside.txt',
      '/_app/../../outside.txt',
      '//etc/passwd',
      '/..\\outside.txt',
    ];
    for (const path of [...ways, '/_app', '/_app/', '/%00', '/__proto__'])
      expect([path, (await raw(opened, path)).status]).toEqual([path, 404]);
  });

  test('an app that is not built is told in words', async () => {
    const answer = await raw(await openServer(), '/');
    expect([answer.status, codeOf(answer)]).toEqual([503, 'unavailable']);
    expect(answer.body).toContain('npm run build:web');
  });
});
