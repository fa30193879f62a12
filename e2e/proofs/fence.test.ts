/** Who knocks at the real daemon and should not get in, at every door, with the best credentials that there are: what each of them gets. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { subprotocol } from '#protocol/limits.ts';
import type { DeviceId, MachineId } from '#protocol/values/ids.ts';
import { chatReply } from '../../daemon/testing/openai-server.ts';
import { proofOf, SocketClient } from '../../daemon/testing/socket-client.ts';
import { systemClock } from '../../web/lib/base/clock.ts';
import { Client } from '../../web/lib/connection/client.ts';
import type { ConnectionState } from '../../web/lib/connection/connection.ts';
import { CredentialStore } from '../../web/lib/connection/pairing.ts';
import type { OpenSocket } from '../../web/lib/connection/socket.ts';
import { newCommandId } from '../support/daemon.ts';
import { codeOf, House, secretKey, type Paired } from './house.ts';

type Headers = readonly (readonly [name: string, value: string])[];

interface Door {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  /** What somebody who may come in gets. */
  readonly welcome: number;
}

const json: Headers = [['content-type', 'application/json']];
const rpc = (method: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} });
const upgrade: Headers = [
  ['connection', 'Upgrade'],
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
  ['sec-websocket-key', randomBytes(16).toString('base64')],
  ['sec-websocket-protocol', subprotocol],
];

const doors = {
  page: { method: 'GET', path: '/', headers: [], body: '', welcome: 200 },
  'static file': { method: 'GET', path: '/theme.js', headers: [], body: '', welcome: 200 },
  'service worker': { method: 'GET', path: '/service-worker.js', headers: [], body: '', welcome: 200 },
  health: { method: 'GET', path: '/health', headers: [], body: '', welcome: 200 },
  'session address': { method: 'GET', path: '/s/anything', headers: [['accept', 'text/html']], body: '', welcome: 200 },
  rpc: { method: 'POST', path: '/rpc', headers: json, body: rpc('session.list'), welcome: 200 },
  pairing: { method: 'POST', path: '/pair', headers: json, body: '{"typed":"XXXXXXXX","name":"x"}', welcome: 401 },
  events: {
    method: 'GET',
    path: '/sessions/ses_01940000-0000-7000-8000-000000000001/events',
    headers: [],
    body: '',
    welcome: 404,
  },
  blob: { method: 'GET', path: `/blobs/${'0'.repeat(64)}`, headers: [], body: '', welcome: 404 },
  upload: {
    method: 'POST',
    path: '/blobs',
    headers: [['content-type', 'application/octet-stream']],
    body: 'x',
    welcome: 200,
  },
  socket: { method: 'GET', path: '/ws', headers: upgrade, body: '', welcome: 101 },
  preflight: { method: 'OPTIONS', path: '/rpc', headers: [], body: '', welcome: 405 },
} as const satisfies Record<string, Door>;

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** A request byte by byte, as no client library would send it. Without `host` it has none. */
function knock(
  port: number,
  door: Pick<Door, 'method' | 'path' | 'headers' | 'body'>,
  host: readonly string[],
  more: Headers = [],
): Promise<Answer> {
  const names = new Set(door.headers.map(([name]) => name));
  const headers: Headers = [
    ...host.map((one) => ['host', one] as const),
    ...(names.has('connection') ? [] : [['connection', 'close'] as const]),
    ...door.headers,
    ...more,
    ...(door.body === '' ? [] : [['content-length', String(Buffer.byteLength(door.body))] as const]),
  ];
  const lines = [
    `${door.method} ${door.path} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(lines.join('\r\n') + door.body));
    let text = '';
    socket.setEncoding('latin1');
    const done = () => {
      const [head = '', body = ''] = text.split(/\r\n\r\n([\s\S]*)/, 2);
      resolve({ status: Number(head.split(' ')[1]), head, body });
    };
    socket.on('data', (data: string) => {
      text += data;
      if (text.startsWith('HTTP/1.1 101')) socket.destroy();
    });
    socket.on('close', done);
    socket.on('error', reject);
  });
}

function processToken(house: House): string {
  return (JSON.parse(readFileSync(join(house.home, 'daemon.json'), 'utf8')) as { token: string }).token;
}

function bearer(token: string): Headers {
  return [['authorization', `Bearer ${token}`]];
}

async function running(): Promise<House> {
  const house = await House.open();
  await house.daemon.start();
  return house;
}

async function table(row: (door: Door) => Promise<number>): Promise<Record<string, number>> {
  const got: Record<string, number> = {};
  for (const [name, door] of Object.entries(doors)) got[name] = await row(door);
  return got;
}

const all = (status: number) => Object.fromEntries(Object.keys(doors).map((name) => [name, status]));

it('PM11 C24 C25: whoever comes from elsewhere gets 403 at every door, whatever bearer he holds, and nothing happens', async () => {
  const house = await running();
  const { port } = house.daemon;
  const own = `localhost:${port}`;
  const token = bearer(processToken(house));
  const intruders: Record<string, { host: string[]; headers: Headers }> = {
    'another origin': { host: [own], headers: [['origin', 'http://evil.example']] },
    'another port of localhost': { host: [own], headers: [['origin', `http://localhost:${port + 1}`]] },
    'localhost without a port': { host: [own], headers: [['origin', 'http://localhost']] },
    'another name of loopback': { host: [own], headers: [['origin', `http://127.0.0.1:${port}`]] },
    'https of the same': { host: [own], headers: [['origin', `https://${own}`]] },
    'an origin that is null': { host: [own], headers: [['origin', 'null']] },
    'an empty origin': { host: [own], headers: [['origin', '']] },
    'two origins': {
      host: [own],
      headers: [
        ['origin', `http://${own}`],
        ['origin', 'http://evil.example'],
      ],
    },
    'a rebound name': { host: [`evil.example:${port}`], headers: [] },
    'a rebound name as its own origin': {
      host: [`evil.example:${port}`],
      headers: [['origin', `http://evil.example:${port}`]],
    },
    'a name that begins like ours': { host: [`localhost.evil.example:${port}`], headers: [] },
    'a name that ends like ours': { host: [`evil-localhost:${port}`], headers: [] },
    'an address of the network': { host: [`192.168.1.7:${port}`], headers: [] },
    'all addresses': { host: [`0.0.0.0:${port}`], headers: [] },
    'no host': { host: [], headers: [] },
    'an empty host': { host: [''], headers: [] },
    'two hosts': { host: [own, 'evil.example'], headers: [] },
    'the same site': { host: [own], headers: [['sec-fetch-site', 'same-site']] },
    'another site': { host: [own], headers: [['sec-fetch-site', 'cross-site']] },
    'another site in a frame': {
      host: [own],
      headers: [
        ['sec-fetch-site', 'cross-site'],
        ['sec-fetch-mode', 'navigate'],
        ['sec-fetch-dest', 'iframe'],
      ],
    },
  };
  const before = readdirSync(house.home, { recursive: true }).length;
  const got: Record<string, unknown> = {};
  const answers: Answer[] = [];
  for (const [name, { host, headers }] of Object.entries(intruders)) {
    got[name] = await table(async (door) => {
      const answer = await knock(port, door, host, [...headers, ...token]);
      answers.push(answer);
      return answer.status;
    });
  }
  expect(got).toEqual(Object.fromEntries(Object.keys(intruders).map((name) => [name, all(403)])));
  for (const { head } of answers) {
    expect(head.toLowerCase()).not.toContain('access-control-');
    expect(head.toLowerCase()).toContain('content-security-policy:');
  }
  expect(readdirSync(house.home, { recursive: true }).length).toBe(before);
});

it('PM11 MB2: any port of a loopback name is welcome, at every door', async () => {
  const house = await running();
  const { port } = house.daemon;
  const token = bearer(processToken(house));
  const want = Object.fromEntries(Object.entries(doors).map(([name, { welcome }]) => [name, welcome]));
  for (const host of [`localhost:${port}`, 'localhost:9000', 'localhost', 'LOCALHOST:9000']) {
    expect(await table(async (door) => (await knock(port, door, [host], token)).status), host).toEqual(want);
    const same: Headers = [['origin', `http://${host}`], ['sec-fetch-site', 'same-origin'], ...token];
    expect(await table(async (door) => (await knock(port, door, [host], same)).status), host).toEqual(want);
  }
  // One canonical origin: what a person opens under another name is led to localhost, with the port that he came by.
  for (const name of ['127.0.0.1', '[::1]']) {
    const opened = await knock(port, doors['session address'], [`${name}:9000`]);
    expect(opened.head.toLowerCase()).toContain('location: http://localhost:9000/s/anything\r\n');
    expect(opened).toMatchObject({ status: 307 });
    expect((await knock(port, doors.rpc, [`${name}:9000`], token)).status).toBe(200);
  }
});

it('PM12: no data without a bearer, a wrong one, or one that stands in the address', async () => {
  const house = await running();
  const { port } = house.daemon;
  const host = [`localhost:${port}`];
  const token = processToken(house);
  const { token: deviceToken } = await house.pair();
  const page = await house.connect();
  const lent = page.bearer;
  expect((await knock(port, doors.rpc, host, bearer(lent))).status).toBe(200);
  await page.close();

  const credentials: Record<string, Headers> = {
    none: [],
    empty: [['authorization', '']],
    'another scheme': [['authorization', `Basic ${token}`]],
    'a wrong token': bearer(randomBytes(32).toString('base64url')),
    'a shorter one': bearer(token.slice(0, -1)),
    "a device's own token": bearer(deviceToken),
    'the bearer of a socket that is gone': bearer(lent),
    'a cookie': [['cookie', `token=${token}`]],
    'two headers': [...bearer(randomBytes(32).toString('base64url')), ...bearer(token)],
  };
  const data = [doors.rpc, doors.events, doors.blob, doors.upload];
  const got: Record<string, number[]> = {};
  for (const [name, headers] of Object.entries(credentials)) {
    got[name] = [];
    for (const door of data) got[name].push((await knock(port, door, host, headers)).status);
  }
  expect(got).toEqual(Object.fromEntries(Object.keys(credentials).map((name) => [name, [401, 401, 401, 401]])));

  for (const name of ['token', 'bearer', 'access_token', 'authorization', 'ticket']) {
    for (const door of data) {
      const path = `${door.path}?${name}=${token}`;
      expect((await knock(port, { ...door, path }, host)).status, path.split('?')[0]).toBe(401);
    }
  }
  const got405 = await knock(port, { ...doors.rpc, method: 'GET', body: '' }, host, bearer(token));
  expect(got405.status).toBe(405);
});

it('PM11 C24: a POST that a form or a page without preflight could send is not read, also with a bearer', async () => {
  const house = await running();
  const { port } = house.daemon;
  const token = bearer(processToken(house));
  const params = { commandId: newCommandId(), path: house.folder };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'project.add', params });
  const got: Record<string, number> = {};
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain;json', ''])
    got[type] = (
      await knock(port, { ...doors.rpc, headers: [['content-type', type]], body }, [`localhost:${port}`], token)
    ).status;
  got['none'] = (await knock(port, { ...doors.rpc, headers: [], body }, [`localhost:${port}`], token)).status;
  expect(new Set(Object.values(got))).toEqual(new Set([415]));
  expect((await house.daemon.call('project.list', {})).projects).toEqual([]);
});

it('US10: a code works once; five wrong tries void the one that is open, in both its forms', async () => {
  const house = await running();
  const post = async (given: { code: string } | { typed: string }) => {
    const body = JSON.stringify({ ...given, name: 'x' });
    return (await knock(house.daemon.port, { ...doors.pairing, body }, [`localhost:${house.daemon.port}`])).status;
  };
  const codes = async () => {
    const { link, typed } = await house.daemon.call('pairing.create', {});
    return { code: new URLSearchParams(new URL(link).hash.slice(1)).get('pair') ?? '', typed };
  };
  const first = await codes();
  expect([
    await post({ typed: first.typed }),
    await post({ typed: first.typed }),
    await post({ code: first.code }),
  ]).toEqual([200, 401, 401]);
  const second = await codes();
  const wrong: number[] = [];
  for (let tries = 0; tries < 5; tries += 1) wrong.push(await post({ typed: '3333-3333' }));
  expect(wrong).toEqual([401, 401, 401, 401, 401]);
  expect([await post({ typed: second.typed }), await post({ code: second.code })]).toEqual([401, 401]);
  const third = await codes();
  expect(await post({ code: third.code })).toBe(200);
  expect((await house.daemon.call('device.list', {})).devices).toHaveLength(2);
});

it('PM12: a socket that does not authenticate first, in order and in time, is closed with 4401', async () => {
  const house = await running();
  const { port } = house.daemon;
  const { deviceId, token } = await house.pair();
  const before = async (act: (client: SocketClient) => Promise<void> | void) => {
    const client = new SocketClient(port);
    await client.opened;
    await act(client);
    const code = await client.closed;
    // Nothing but its refusal, and never data.
    expect(client.received.filter((message) => 'method' in message)).toEqual([]);
    return code;
  };
  const got = {
    'a command': await before((client) => client.send(rpc('session.list'))),
    'no JSON': await before((client) => client.send('hello')),
    'the proof without the hello': await before((client) =>
      client.send({ jsonrpc: '2.0', id: 1, method: 'authenticate', params: { deviceId, proof: token } }),
    ),
    'a command after the hello': await before(async (client) => {
      await client.hello();
      client.send(rpc('session.list'));
    }),
    'the token itself': await before(async (client) => {
      await client.hello();
      client.send({ jsonrpc: '2.0', id: 9, method: 'authenticate', params: { deviceId, proof: token } });
    }),
    'the proof of another hello': await before(async (client) => {
      const other = new SocketClient(port);
      await other.opened;
      const { transcript } = await other.hello();
      await client.hello();
      const proof = proofOf(token, transcript);
      client.send({ jsonrpc: '2.0', id: 9, method: 'authenticate', params: { deviceId, proof } });
    }),
    silence: await before(() => undefined),
  };
  expect(new Set(Object.values(got))).toEqual(new Set([4401]));
});

it('US10: revoking a device closes its sockets at once, ends what it was lent, and it does not come back', async () => {
  const house = await running();
  const { port } = house.daemon;
  const mine = await house.pair();
  const other = await house.pair();
  const sockets = [await SocketClient.connect(port, mine), await SocketClient.connect(port, mine)];
  const bystander = await SocketClient.connect(port, other);
  await house.daemon.call('device.revoke', { commandId: newCommandId(), deviceId: mine.deviceId as DeviceId });
  expect(await Promise.all(sockets.map((socket) => socket.closed))).toEqual([4403, 4403]);
  for (const socket of sockets)
    expect((await knock(port, doors.rpc, [`localhost:${port}`], bearer(socket.bearer))).status).toBe(401);
  const back = new SocketClient(port);
  await back.opened;
  expect(codeOf(await back.authenticate(mine))).toBe('unauthorized');
  expect(await back.closed).toBe(4401);
  expect(codeOf(await bystander.call('machine.status'))).toBe('no error');
});

it('US10 PM12: a page that pinned another key refuses the machine and sends it nothing but its hello', async () => {
  const house = await running();
  const paired = await house.pair();
  const state = async (kept: Paired) => {
    const sent: string[] = [];
    const client = clientOf(house, kept, sent);
    const settled = new Promise<ConnectionState>((resolve) =>
      client.onConnection((now) => {
        if (now.type !== 'connecting' && now.type !== 'authenticating') resolve(now);
      }),
    );
    client.start();
    const now = await settled;
    client.close();
    return { now, methods: sent.map((text) => (JSON.parse(text) as { method: string }).method) };
  };
  const wrong = await state({ ...paired, publicKey: randomBytes(32).toString('base64url') });
  expect(wrong).toMatchObject({ now: { type: 'refused', reason: 'wrong-machine' }, methods: ['hello'] });
  expect(await state(paired)).toMatchObject({ now: { type: 'open' }, methods: ['hello', 'authenticate'] });
});

/** The page's own connection, with a socket of Node's. */
function clientOf(house: House, kept: Paired, sent: string[]): Client {
  const openSocket: OpenSocket = (handlers) => {
    const socket = new WebSocket(`ws://localhost:${house.daemon.port}/ws`, subprotocol);
    socket.on('open', () => handlers.opened());
    socket.on('message', (data) => handlers.received((data as Buffer).toString()));
    socket.on('close', (code, reason) => handlers.closed(code, reason.toString()));
    socket.on('error', () => undefined);
    return {
      send: (text) => {
        sent.push(text);
        socket.send(text);
      },
      close: (code, reason) => socket.close(code, reason),
    };
  };
  const values = new Map<string, unknown>();
  const credentials = new CredentialStore({
    read: (key) => values.get(key) ?? null,
    write: (key, value) => values.set(key, value).size > 0,
  });
  credentials.keep({
    ...kept,
    deviceId: kept.deviceId as DeviceId,
    machineId: kept.machineId as MachineId,
    name: 'workshop',
  });
  return new Client({
    openSocket,
    credentials,
    clock: systemClock,
    random: (bytes) => void crypto.getRandomValues(bytes),
    chance: Math.random,
    online: () => true,
  });
}

it('PM12 PM15: everything under the home is for its owner alone, and no token and no key stands in a log, an event or a word that was said', async () => {
  const house = await running();
  const { provider, daemon } = house;
  const command = 'env; echo done';
  provider.enqueue(chatReply({ calls: [{ tool: 'bash', arguments: { command } }] }), chatReply({ text: 'Hello.' }));
  const paired = await house.pair();
  const page = await SocketClient.connect(daemon.port, paired);
  const sessionId = await house.session('auto', 'Hello?');
  const follower = await house.follow(sessionId);
  expect(await follower.turnEnded()).toBe('completed');
  const secrets = [secretKey, processToken(house), paired.token, page.bearer];
  await knock(daemon.port, doors.rpc, [`localhost:${daemon.port}`], bearer(`${page.bearer}x`));
  const files = readdirSync(house.home, { recursive: true, withFileTypes: true });
  const open = [house.home, ...files.map((file) => join(file.parentPath, file.name))].filter(
    (path) => (statSync(path).mode & 0o077) !== 0,
  );
  expect(open).toEqual([]);
  expect([statSync(house.home).mode & 0o777, statSync(join(house.home, 'daemon.json')).mode & 0o777]).toEqual([
    0o700, 0o600,
  ]);

  const said = JSON.stringify(page.received.filter((message) => 'method' in message));
  const asked = JSON.stringify((await provider.request(2)).body);
  const events = JSON.stringify(await house.events(sessionId));
  expect(events).toContain('done');
  await daemon.stop();
  const kept = files
    .filter((file) => file.isFile() && file.name !== 'daemon.json')
    .map((file) => join(file.parentPath, file.name))
    .flatMap((path) => {
      try {
        return [readFileSync(path, 'latin1')];
      } catch {
        return []; // Of the running daemon alone, such as who owns a lock.
      }
    })
    .join('\n');
  for (const [place, text] of Object.entries({ said, asked, events, kept, output: daemon.output }))
    for (const secret of secrets) expect(text.includes(secret), `a secret in ${place}`).toBe(false);
});
