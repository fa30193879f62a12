/** Sockets from outside: the handshake (PM12, US10), limits (RT28), heartbeats (MB4), and what a client that misbehaves gets. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import nacl from 'tweetnacl';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  deviceUnusedMs,
  maxInFlight,
  maxMessageBytes,
  maxSubscriptions,
  maxUnauthenticated,
} from '#protocol/limits.ts';
import { openServer } from '../testing/open-server.ts';
import { proofOf, SocketClient, type Came } from '../testing/socket-client.ts';

describe('PM12: the handshake', () => {
  test('a paired device proves its token without sending it, and gets a bearer for HTTP', async () => {
    const { server, pair, url } = await openServer();
    const client = new SocketClient(server.port);
    await client.opened;
    const answer = await client.authenticate(await pair());
    expect(answer.result).toEqual({ bearer: expect.stringMatching(/^[\w-]{43}$/), features: [] });
    const headers = { authorization: `Bearer ${answer.result.bearer}`, 'content-type': 'application/json' };
    const asked = { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'device.list' }) };
    const { result } = (await (await fetch(url('/rpc'), asked)).json()) as Came;
    expect(result.devices).toMatchObject([{ name: 'Firefox on Linux', connected: true, current: true }]);
    await client.close();
    await expect.poll(async () => (await fetch(url('/rpc'), asked)).status).toBe(401);
  });

  test('the daemon signs every word of the hello with the key that pairing gave', async () => {
    const { server, pair } = await openServer();
    const { publicKey, machineId } = await pair();
    const client = new SocketClient(server.port);
    await client.opened;
    const { answer, transcript } = await client.hello();
    expect(answer.result).toMatchObject({
      machineId,
      publicKey,
      name: 'workshop',
      version: '0.0.1',
      protocol: { major: 1 },
    });
    const verify = (text: string, key: string) =>
      nacl.sign.detached.verify(
        Buffer.from(text),
        Buffer.from(answer.result.signature, 'base64url'),
        Buffer.from(key, 'base64url'),
      );
    expect(verify(transcript, publicKey)).toBe(true);
    expect(verify(transcript.replace(machineId, machineId.replace(/.$/, 'x')), publicKey)).toBe(false);
  });

  test('a wrong machine cannot sign with the pinned key', async () => {
    const [one, other] = [await openServer(), await openServer()];
    const client = new SocketClient(other.server.port);
    await client.opened;
    const { answer, transcript } = await client.hello();
    const key = Buffer.from((await one.pair()).publicKey, 'base64url');
    expect(
      nacl.sign.detached.verify(Buffer.from(transcript), Buffer.from(answer.result.signature, 'base64url'), key),
    ).toBe(false);
  });

  test('nonces of the daemon never come twice, so a proof cannot be replayed', async () => {
    const { server, pair } = await openServer();
    const { deviceId, token } = await pair();
    const nonce = randomBytes(16).toString('base64url');
    const [first, second] = [new SocketClient(server.port), new SocketClient(server.port)];
    await Promise.all([first.opened, second.opened]);
    const { transcript } = await first.hello(nonce);
    await second.hello(nonce);
    expect(await second.call('authenticate', { deviceId, proof: proofOf(token, transcript) })).toMatchObject({
      error: { data: { code: 'unauthorized' } },
    });
    expect(await second.closed).toBe(4401);
  });

  test.each<[string, (client: SocketClient) => unknown]>([
    ['a command first', (client) => client.send({ jsonrpc: '2.0', id: 1, method: 'session.list', params: {} })],
    [
      'the proof before the hello',
      (client) => client.send({ jsonrpc: '2.0', id: 1, method: 'authenticate', params: {} }),
    ],
    ['a hello without a nonce', (client) => client.send({ jsonrpc: '2.0', id: 1, method: 'hello', params: {} })],
    ['no JSON', (client) => client.send('hello')],
    ['a batch', (client) => client.send([])],
    [
      'hello twice',
      (client) =>
        client.hello().then(() => client.call('hello', { nonce: 'A'.repeat(22), protocol: { major: 1, minor: 0 } })),
    ],
    ['a command between', (client) => client.hello().then(() => client.call('machine.status'))],
  ])('%s: closed with 4401', async (_, misbehave) => {
    const { server, calls } = await openServer();
    const client = new SocketClient(server.port);
    await client.opened;
    await misbehave(client);
    expect(await client.closed).toBe(4401);
    expect(calls).toEqual([]);
  });

  test('a wrong token, and a device that nobody paired: closed with 4401', async () => {
    const { server, pair } = await openServer();
    const { deviceId, token } = await pair();
    for (const credentials of [
      { deviceId, token: `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}` },
      { deviceId: deviceId.replace(/.$/, (last) => (last === '0' ? '1' : '0')), token },
      { deviceId, token: '' },
    ]) {
      const client = new SocketClient(server.port);
      await client.opened;
      expect(await client.authenticate(credentials)).toMatchObject({ error: { data: { code: 'unauthorized' } } });
      expect(await client.closed).toBe(4401);
    }
  });

  test('the per-process token is no device', async () => {
    const { server, pair } = await openServer();
    const { deviceId } = await pair();
    const client = new SocketClient(server.port);
    await client.opened;
    expect(await client.authenticate({ deviceId, token: server.processToken })).toHaveProperty('error');
  });

  test('a page of another major version is told so and closed with 4426', async () => {
    const { server } = await openServer();
    const client = new SocketClient(server.port);
    await client.opened;
    const nonce = randomBytes(16).toString('base64url');
    const answer = await client.call('hello', { nonce, protocol: { major: 2, minor: 0 } });
    expect(answer.error.data).toEqual({ code: 'version' });
    expect(await client.closed).toBe(4426);
  });

  test('a newer minor version is welcome', async () => {
    const { server } = await openServer();
    const client = new SocketClient(server.port);
    await client.opened;
    const nonce = randomBytes(16).toString('base64url');
    expect(await client.call('hello', { nonce, protocol: { major: 1, minor: 99 } })).toHaveProperty('result');
  });

  test('silence: closed with 4401 when the time is over', async () => {
    const { server } = await openServer({ timing: { authenticateMs: 50, heartbeatMs: 6_000 } });
    expect(await new SocketClient(server.port).closed).toBe(4401);
  });

  test('a hello alone does not stop the clock', async () => {
    const { server } = await openServer({ timing: { authenticateMs: 100, heartbeatMs: 6_000 } });
    const client = new SocketClient(server.port);
    await client.opened;
    await client.hello();
    expect(await client.closed).toBe(4401);
  });

  test('RT28: one unauthenticated socket too many: the oldest goes, authenticated ones stay', async () => {
    const { server, pair } = await openServer();
    const open = await SocketClient.connect(server.port, await pair());
    const waiting: SocketClient[] = [];
    for (let n = 0; n <= maxUnauthenticated; n += 1) {
      const client = new SocketClient(server.port);
      await client.opened;
      waiting.push(client);
    }
    expect(await waiting[0]!.closed).toBe(4401);
    expect(await waiting.at(-1)!.hello()).toHaveProperty('answer.result');
    expect(await waiting[1]!.hello()).toHaveProperty('answer.result');
    expect(await open.call('machine.status')).toMatchObject({ result: { clients: 1 } });
  });
});

describe('US10: devices end', () => {
  test('revoking closes every socket of the device at once, ends its bearer, and leaves others alone', async () => {
    const { server, pair, rpc, ids, url } = await openServer();
    const lost = await pair('lost phone');
    const sockets = [await SocketClient.connect(server.port, lost), await SocketClient.connect(server.port, lost)];
    const { bearer } = sockets[0]!;
    const kept = await SocketClient.connect(server.port, await pair('laptop'));
    expect(await rpc('device.revoke', { commandId: ids.uuid7(), deviceId: lost.deviceId })).toMatchObject({
      result: {},
    });
    const headers = { authorization: `Bearer ${bearer}` };
    expect((await fetch(url('/blobs/' + '0'.repeat(64)), { headers })).status).toBe(401);
    expect(await Promise.all(sockets.map((socket) => socket.closed))).toEqual([4403, 4403]);
    expect(await kept.call('device.list')).toMatchObject({ result: { devices: [{ name: 'laptop', current: true }] } });
    await expect(SocketClient.connect(server.port, lost)).rejects.toThrow(/not paired/);
  });

  test('a revoked device stays revoked after a restart', async () => {
    const first = await openServer();
    const { deviceId, token } = await first.pair();
    await first.rpc('device.revoke', { commandId: first.ids.uuid7(), deviceId });
    await first.server.close();
    const { server } = await openServer({ home: first.home });
    await expect(SocketClient.connect(server.port, { deviceId, token })).rejects.toThrow(/not paired/);
  });

  test('a device outlives a restart with the same machine key, and ends after ninety days unused', async () => {
    const first = await openServer();
    const { deviceId, token, publicKey, machineId } = await first.pair();
    await first.server.close();
    const { server, clock, rpc } = await openServer({ home: first.home });
    const client = await SocketClient.connect(server.port, { deviceId, token });
    expect(client.received[0]!.result).toMatchObject({ publicKey, machineId });
    clock.advance(deviceUnusedMs * 2);
    expect((await rpc('device.list')).result.devices).toMatchObject([{ deviceId, connected: true }]);
    await client.close();
    await expect.poll(async () => (await rpc('device.list')).result.devices[0]!.connected).toBe(false);
    clock.advance(deviceUnusedMs);
    await (await SocketClient.connect(server.port, { deviceId, token })).close();
    await expect.poll(async () => (await rpc('device.list')).result.devices[0]!.connected).toBe(false);
    clock.advance(deviceUnusedMs + 1);
    expect((await rpc('device.list')).result.devices).toEqual([]);
    await expect(SocketClient.connect(server.port, { deviceId, token })).rejects.toThrow(/not paired/);
  });
});

describe('commands on a socket', () => {
  test('an answer for each request, by its id, in whatever order they are done', async () => {
    let letGo = () => {};
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const { server, pair, calls } = await openServer({
      handlers: { 'model.list': async () => gate.then(() => ({ models: [], default: 'm' })) },
    });
    const client = await SocketClient.connect(server.port, await pair());
    const slow = client.call('model.list');
    expect(await client.call('project.list')).toMatchObject({ result: {} });
    letGo();
    expect((await slow).result).toEqual({ models: [], default: 'm' });
    expect(calls).toEqual(['model.list by Firefox on Linux', 'project.list by Firefox on Linux']);
  });

  test.each<[string, unknown, string]>([
    ['no JSON', '{', 'invalid_params'],
    ['no request', { hello: 1 }, 'invalid_params'],
    ['a notification', { jsonrpc: '2.0', method: 'session.list' }, 'invalid_params'],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'session.list' }], 'invalid_params'],
    ['an unknown command', { jsonrpc: '2.0', id: 'x', method: 'session.explode' }, 'unknown_method'],
    ['a name of every object', { jsonrpc: '2.0', id: 'x', method: 'constructor' }, 'unknown_method'],
    ['the handshake again', { jsonrpc: '2.0', id: 'x', method: 'hello', params: {} }, 'unknown_method'],
    ['wrong parameters', { jsonrpc: '2.0', id: 'x', method: 'session.page', params: {} }, 'invalid_params'],
    [
      'a session that is not there',
      subscribe('x', `ses_${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`),
      'not_found',
    ],
    [
      'no such subscription',
      { jsonrpc: '2.0', id: 'x', method: 'session.unsubscribe', params: { subscription: 'sub_9' } },
      'not_found',
    ],
  ])('%s is refused in words, and the socket lives', async (_, message, code) => {
    const { server, pair } = await openServer();
    const client = await SocketClient.connect(server.port, await pair());
    client.send(message);
    const id = typeof message === 'object' && 'id' in message! && message.id === 'x' ? 'x' : null;
    const answer = await client.until((one) => 'error' in one);
    expect(answer).toMatchObject({ jsonrpc: '2.0', id, error: { data: { code } } });
    expect(await client.call('machine.status')).toHaveProperty('result');
  });

  test('a fault of ours is told without its words; those stand in the log', async () => {
    const { server, pair, log } = await openServer({
      handlers: { 'project.list': () => Promise.reject(new TypeError('secret detail of /home/someone')) },
    });
    const client = await SocketClient.connect(server.port, await pair());
    const { error } = await client.call('project.list');
    expect(error).toMatchObject({ code: -32603, data: { code: 'internal' } });
    expect(JSON.stringify(error)).not.toMatch(/secret|someone|at .*\.ts/);
    expect(log()).toContain('secret detail');
  });

  test('a full disk is told as one', async () => {
    const full = Object.assign(new Error('write'), { code: 'ENOSPC' });
    const { server, pair } = await openServer({ handlers: { 'project.list': () => Promise.reject(full) } });
    const client = await SocketClient.connect(server.port, await pair());
    expect((await client.call('project.list')).error.data.code).toBe('storage_failed');
  });

  test('a repeat of a command gets the first answer, by another socket too; other parameters are a conflict', async () => {
    let runs = 0;
    const { server, pair, ids } = await openServer({ handlers: { 'project.add': async () => ({ run: (runs += 1) }) } });
    const credentials = await pair();
    const [one, two] = [
      await SocketClient.connect(server.port, credentials),
      await SocketClient.connect(server.port, credentials),
    ];
    const params = { commandId: ids.uuid7(), path: '/a' };
    const answers = await Promise.all([one.call('project.add', params), two.call('project.add', params)]);
    expect(answers.map((answer) => answer.result)).toEqual([{ run: 1 }, { run: 1 }]);
    expect((await two.call('project.add', { ...params, path: '/b' })).error.data.code).toBe('conflict');
  });
});

describe('RT28: limits of a socket', () => {
  test('a message of the longest size is read; one byte more closes with 1009', async () => {
    const { server, pair } = await openServer();
    const client = await SocketClient.connect(server.port, await pair());
    const message = (length: number) => {
      const text = JSON.stringify({ jsonrpc: '2.0', id: 'big', method: 'project.list', params: { pad: '' } });
      return text.replace('""', `"${'x'.repeat(length - text.length)}"`);
    };
    client.send(message(maxMessageBytes));
    expect(await client.until((one) => one.id === 'big')).toHaveProperty('result');
    client.send(message(maxMessageBytes + 1));
    expect(await client.closed).toBe(1009);
  });

  test('binary messages are refused', async () => {
    const { server, pair } = await openServer();
    const client = await SocketClient.connect(server.port, await pair());
    client.socket.send(Buffer.from('{}'));
    expect(await client.closed).toBe(1003);
  });

  test('requests in flight: one too many is refused, and there is room again when one is answered', async () => {
    let letGo = () => {};
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const { server, pair } = await openServer({ handlers: { 'project.list': () => gate.then(() => ({})) } });
    const client = await SocketClient.connect(server.port, await pair());
    const waiting = Array.from({ length: maxInFlight }, () => client.call('project.list'));
    expect((await client.call('model.list')).error.data.code).toBe('too_many');
    letGo();
    expect((await Promise.all(waiting)).every((answer) => 'result' in answer)).toBe(true);
    expect(await client.call('model.list')).toHaveProperty('result');
  });

  test('subscriptions: one too many is refused, and there is room again when one is ended', async () => {
    const { server, pair, sessions, ids } = await openServer();
    const sessionId = `ses_${ids.uuid7()}`;
    const session = sessions.make(sessionId as never);
    const client = await SocketClient.connect(server.port, await pair());
    for (let n = 0; n < maxSubscriptions; n += 1) await client.call('session.subscribe', { sessionId, after: 0 });
    expect((await client.call('session.subscribe', { sessionId })).error.data.code).toBe('too_many');
    expect(session.readers).toBe(maxSubscriptions);
    await client.call('session.unsubscribe', { subscription: 'sub_1' });
    expect(await client.call('session.subscribe', { sessionId })).toHaveProperty('result');
    await client.close();
    await expect.poll(() => session.readers).toBe(0);
  });

  test('a client that asks on and on without reading is cut off', async () => {
    const { server, pair } = await openServer({
      handlers: { 'project.list': async () => ({ filler: 'x'.repeat(1024 * 1024) }) },
    });
    const client = await SocketClient.connect(server.port, await pair());
    client.socket.pause();
    const flood = setInterval(() => void client.call('project.list').catch(() => undefined), 1);
    await expect.poll(() => server.clients, { timeout: 10_000 }).toBe(0);
    clearInterval(flood);
  });

  test('a socket without the subprotocol, or with extensions, is a plain refusal or a plain socket', async () => {
    const { server, pair } = await openServer();
    await expect(new SocketClient(server.port, { protocols: ['chat'] }).opened).rejects.toThrow('400');
    await expect(new SocketClient(server.port, { protocols: [] }).opened).rejects.toThrow('400');
    const both = new SocketClient(server.port, { protocols: ['chat', 'alcove.v1'] });
    await both.opened;
    expect([both.socket.protocol, both.socket.extensions]).toEqual(['alcove.v1', '']);
    expect(await both.authenticate(await pair())).toHaveProperty('result');
  });
});

describe('MB4: heartbeats', () => {
  const timing = { authenticateMs: 5_000, heartbeatMs: 40 };

  test('a page hears one each time, and a socket that answers pings lives on', async () => {
    const { server, pair } = await openServer({ timing });
    const client = await SocketClient.connect(server.port, await pair());
    await client.when(() =>
      client.received.filter((one) => one.method === 'heartbeat').length > 5 ? true : undefined,
    );
    expect(server.clients).toBe(1);
  });

  test('a half-open socket is found and ended', async () => {
    const { server, pair, sessions, ids } = await openServer({ timing });
    const client = await SocketClient.connect(server.port, await pair());
    const sessionId = `ses_${ids.uuid7()}`;
    const session = sessions.make(sessionId as never);
    await client.call('session.subscribe', { sessionId });
    client.socket.pause();
    await expect.poll(() => [server.clients, session.readers]).toEqual([0, 0]);
  });

  test('a client that pings gets its pong', async () => {
    const { server, pair } = await openServer();
    const client = await SocketClient.connect(server.port, await pair());
    const pong = new Promise((resolve) => client.socket.once('pong', (data) => resolve(data.toString())));
    client.socket.ping('are you there');
    expect(await pong).toBe('are you there');
  });
});

test('when the daemon ends, every socket is told and nothing is left open', async () => {
  const { server, pair, notices } = await openServer();
  const waiting = new SocketClient(server.port);
  await waiting.opened;
  const client = await SocketClient.connect(server.port, await pair());
  const silent = await SocketClient.connect(server.port, await pair());
  silent.socket.pause();
  await server.close();
  expect([await client.closed, await waiting.closed]).toEqual([1001, 1001]);
  expect(notices.watchers).toBe(0);
  const late = new WebSocket(`ws://localhost:${server.port}/ws`, 'alcove.v1');
  await new Promise((resolve) => late.on('error', resolve));
  await delay(0);
});

function subscribe(id: string, sessionId: string): object {
  return { jsonrpc: '2.0', id, method: 'session.subscribe', params: { sessionId } };
}
