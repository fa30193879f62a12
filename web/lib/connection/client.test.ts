import { beforeEach, describe, expect, it } from 'vitest';
import { emptyConversation } from '#protocol/conversation/conversation.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { CommandId, SessionId } from '#protocol/values/ids.ts';
import { FakeDaemon, type FakeSocket } from '../testing/fake-daemon.ts';
import { countingIds, ManualClock } from '../testing/manual-clock.ts';
import { memoryStorage } from '../testing/memory-storage.ts';
import { Client, resendMs } from './client.ts';
import type { ConnectionState } from './connection.ts';
import { CredentialStore } from './pairing.ts';

const sessionId = 'ses_0192f000-0000-7000-8000-000000000001' as SessionId;

let clock: ManualClock;
let daemon: FakeDaemon;
let credentials: CredentialStore;
let client: Client;

beforeEach(() => {
  clock = new ManualClock();
  daemon = new FakeDaemon();
  credentials = new CredentialStore(memoryStorage());
  credentials.keep(daemon.credentials);
  client = clientTo(daemon);
});

function clientTo(behind: FakeDaemon): Client {
  return new Client({
    openSocket: (handlers) => behind.openSocket(handlers),
    credentials,
    clock,
    random: (bytes) => void bytes.fill(7),
    chance: () => 0,
    online: () => true,
  });
}

async function connected(): Promise<FakeSocket> {
  client.start();
  return daemon.admit();
}

async function reconnected(): Promise<FakeSocket> {
  clock.advance(1000);
  return daemon.admit();
}

/** What the handshake came to, once it has come to it. */
function refused(): Promise<ConnectionState> {
  return new Promise((resolve) => {
    client.onConnection((state) => {
      if (state.type === 'refused') resolve(state);
    });
  });
}

function event(seq: number): SessionEvent {
  return { seq, at: 0, type: 'test.happened' };
}

const base = (seq: number) => ({ ...emptyConversation, seq });
const commandId = () => countingIds(clock).next() as CommandId;
const pause = () => client.call('session.pause', { commandId: commandId(), sessionId });

describe('the handshake', () => {
  it('opens to the machine that proves its pinned key, and proves the device without sending its token', async () => {
    const socket = await connected();
    expect(client.connection).toMatchObject({ type: 'open', bootId: 'boot-1', machine: { name: 'laptop' } });
    expect(client.bearer).toBe('bearer-1');
    expect(JSON.stringify(socket.sent)).not.toContain(daemon.credentials.token);
  });

  it('sends nothing but the hello to a machine that answers with another key', async () => {
    const other = new FakeDaemon();
    client = clientTo(other);
    client.start();
    await other.sayHello();
    expect(await refused()).toMatchObject({ type: 'refused', reason: 'wrong-machine' });
    expect(other.socket.sentMethods()).toEqual(['hello']);
    expect(credentials.read(daemon.machineId)).not.toBeNull();
  });

  it('does not believe a signature over another nonce', async () => {
    client.start();
    await daemon.sayHello({ nonce: Buffer.alloc(16, 99).toString('base64url') });
    expect(await refused()).toMatchObject({ type: 'refused', reason: 'wrong-machine', machine: null });
  });

  it('offers pairing with a machine that is not known', async () => {
    credentials.forget(daemon.machineId);
    client.start();
    await daemon.sayHello();
    expect(await refused()).toMatchObject({ type: 'refused', reason: 'unpaired', machine: { name: 'laptop' } });
  });

  it('says that the app must be updated where the major version differs', async () => {
    client.start();
    await daemon.sayHello({ protocol: { major: 2, minor: 0 } });
    expect(client.connection).toMatchObject({ type: 'refused', reason: 'version' });
  });

  it('forgets a token that its own machine calls void', async () => {
    client.start();
    await daemon.sayHello();
    daemon.socket.refuse(await daemon.socket.next('authenticate'), 'unauthorized', 'revoked');
    expect(client.connection).toMatchObject({ type: 'refused', reason: 'revoked' });
    expect(credentials.read(daemon.machineId)).toBeNull();
  });

  it('keeps the token when somebody closes with "revoked" who has not proven to be the machine', () => {
    client.start();
    daemon.socket.open();
    daemon.socket.drop(4403);
    expect(client.connection.type).toBe('retrying');
    expect(credentials.read(daemon.machineId)).not.toBeNull();
  });

  it('ends the access at once when the open socket is closed with "revoked"', async () => {
    (await connected()).drop(4403);
    expect(client.connection).toMatchObject({ type: 'refused', reason: 'revoked' });
  });

  it('gives up a socket that does not come to an answer', () => {
    client.start();
    clock.advance(10_000);
    expect(client.connection).toMatchObject({ type: 'retrying', attempt: 2 });
  });
});

describe('coming back', () => {
  it('tries again by itself, at once when the page comes into view', async () => {
    (await connected()).drop();
    expect(client.connection).toMatchObject({ type: 'retrying', attempt: 1 });
    client.retryNow();
    expect(client.connection.type).toBe('connecting');
    await daemon.admit();
    expect(client.connection.type).toBe('open');
  });

  it('counts silence as loss, and a heartbeat as a sign of life', async () => {
    const socket = await connected();
    clock.advance(13_000);
    socket.say({ jsonrpc: '2.0', method: 'heartbeat' });
    clock.advance(13_000);
    expect(client.connection.type).toBe('open');
    clock.advance(1_100);
    expect(client.connection.type).toBe('retrying');
    expect(socket.closed).toBe(true);
  });

  it('does not wait for a timer after the laptop slept', async () => {
    await connected();
    clock.sleep(3_600_000);
    client.retryNow();
    expect(client.connection.type).toBe('connecting');
  });

  it('does not listen to a socket that was given up', async () => {
    const socket = await connected();
    clock.advance(20_000);
    await daemon.admit();
    socket.drop();
    expect(client.connection.type).toBe('open');
  });
});

describe('calls', () => {
  it("reject with the daemon's code", async () => {
    const socket = await connected();
    const paused = pause();
    socket.refuse(await socket.next('session.pause'), 'conflict', 'nothing runs');
    await expect(paused).rejects.toMatchObject({ code: 'conflict', message: 'nothing runs' });
  });

  it('reject an answer that does not fit', async () => {
    const socket = await connected();
    const paused = pause();
    socket.answer(await socket.next('session.pause'), { seq: 'three' });
    await expect(paused).rejects.toMatchObject({ code: 'internal' });
  });

  it('that change something are resent after a loss, with the same id', async () => {
    const first = await connected();
    const paused = pause();
    const sent = await first.next('session.pause');
    first.drop();
    const second = await reconnected();
    const again = await second.next('session.pause');
    second.answer(again, { seq: 3 });
    expect(await paused).toEqual({ seq: 3 });
    expect(again.params).toEqual(sent.params);
  });

  it('that only ask reject when the connection is lost', async () => {
    const socket = await connected();
    const listed = client.call('device.list', {});
    socket.drop();
    await expect(listed).rejects.toMatchObject({ code: 'unavailable' });
    expect((await reconnected()).sentMethods()).not.toContain('device.list');
  });

  it('made while there is no connection are sent when there is one, within a minute', async () => {
    (await connected()).drop();
    const paused = pause();
    const socket = await reconnected();
    socket.answer(await socket.next('session.pause'), { seq: 1 });
    expect(await paused).toEqual({ seq: 1 });
  });

  it('are not resent after a minute', async () => {
    (await connected()).drop();
    const paused = pause();
    const rejected = expect(paused).rejects.toMatchObject({ code: 'unavailable' });
    clock.advance(resendMs);
    await rejected;
    client.retryNow();
    expect((await daemon.admit()).sentMethods()).not.toContain('session.pause');
  });

  it('that were sent and wait long are left to their answer, until the connection is lost', async () => {
    const socket = await connected();
    const paused = pause();
    for (let waited = 0; waited < resendMs * 2; waited += 6_000) {
      clock.advance(6_000);
      socket.say({ jsonrpc: '2.0', method: 'heartbeat' });
    }
    const rejected = expect(paused).rejects.toMatchObject({ code: 'unavailable' });
    socket.drop();
    await rejected;
  });

  it('are never resent to another machine', async () => {
    const other = new FakeDaemon(2);
    credentials.keep(other.credentials);
    let behind = daemon;
    client = new Client({
      openSocket: (handlers) => behind.openSocket(handlers),
      credentials,
      clock,
      random: (bytes) => void bytes.fill(7),
      chance: () => 0,
      online: () => true,
    });
    (await connected()).drop();
    const paused = pause();
    const rejected = expect(paused).rejects.toMatchObject({ code: 'unavailable' });
    behind = other;
    clock.advance(1000);
    const socket = await other.admit();
    await rejected;
    expect(socket.sentMethods()).toEqual(['hello', 'authenticate']);
  });

  it('end when the access is refused', async () => {
    const socket = await connected();
    const paused = pause();
    const rejected = expect(paused).rejects.toMatchObject({ code: 'unavailable' });
    socket.drop(4403);
    await rejected;
  });
});

describe('subscriptions', () => {
  function read(start: { after: number } | { tailBytes: number }) {
    const told: unknown[] = [];
    const subscription = client.subscribe(sessionId, start, {
      based: (from) => told.push(['base', from.seq]),
      batch: (events) => told.push(...events.map((one) => one.seq)),
      caughtUp: () => told.push('caught up'),
      lost: () => told.push('lost'),
      failed: (error) => told.push(error.code),
    });
    return { told, subscription };
  }

  async function subscribed(socket: FakeSocket, name: string, seq: number, from: number | null): Promise<unknown> {
    const request = await socket.next('session.subscribe');
    socket.answer(request, { subscription: name, base: from === null ? null : base(from), seq });
    return request.params;
  }

  const batch = (socket: FakeSocket, name: string, ...events: SessionEvent[]) =>
    socket.notify('session.events', { subscription: name, events });

  it('hand on a base and what follows, and say when all has come', async () => {
    const socket = await connected();
    const { told } = read({ tailBytes: 1000 });
    await subscribed(socket, 'one', 3, 1);
    batch(socket, 'one', event(2));
    batch(socket, 'one', event(3));
    batch(socket, 'one', event(4));
    expect(told).toEqual([['base', 1], 2, 3, 'caught up', 4]);
  });

  it('MB4: go on after a loss without gap or double, also where the daemon repeats', async () => {
    const first = await connected();
    const { told } = read({ tailBytes: 1000 });
    await subscribed(first, 'one', 2, 1);
    batch(first, 'one', event(2), event(3));
    first.drop();
    const second = await reconnected();
    expect(await subscribed(second, 'two', 5, null)).toEqual({ sessionId, after: 3 });
    batch(second, 'two', event(2), event(3), event(4));
    batch(second, 'two', event(4), event(5));
    expect(told).toEqual([['base', 1], 2, 3, 'caught up', 'lost', 4, 5, 'caught up']);
  });

  it('C21: what a lost socket still says does not come twice', async () => {
    const first = await connected();
    const { told } = read({ after: 0 });
    await subscribed(first, 'one', 0, null);
    batch(first, 'one', event(1));
    clock.advance(20_000);
    const second = await daemon.admit();
    batch(first, 'one', event(2));
    await subscribed(second, 'one', 2, null);
    batch(second, 'one', event(2));
    expect(told).toEqual(['caught up', 1, 'lost', 2, 'caught up']);
  });

  it('ask again from their place where something is missing', async () => {
    const socket = await connected();
    const { told } = read({ tailBytes: 1000 });
    await subscribed(socket, 'one', 1, 1);
    batch(socket, 'one', event(2), event(4));
    expect(await subscribed(socket, 'two', 4, null)).toEqual({ sessionId, after: 2 });
    batch(socket, 'one', event(5));
    batch(socket, 'two', event(3), event(4));
    expect(told).toEqual([['base', 1], 'caught up', 2, 3, 4, 'caught up']);
    expect(socket.sentMethods()).toContain('session.unsubscribe');
  });

  it('begin anew where the place itself is faulty, and give up where that does not help', async () => {
    const socket = await connected();
    const { told } = read({ tailBytes: 1000 });
    await subscribed(socket, 'one', 1, 1);
    batch(socket, 'one', event(9));
    expect(await subscribed(socket, 'two', 9, 7)).toEqual({ sessionId, tailBytes: 1000 });
    batch(socket, 'two', event(9));
    expect(told).toEqual([['base', 1], 'caught up', ['base', 7], 'internal']);
  });

  it('take condensed events as one, and a condensed one that overlaps as a gap', async () => {
    const socket = await connected();
    const { told } = read({ after: 0 });
    await subscribed(socket, 'one', 0, null);
    batch(socket, 'one', { ...event(3), from: 1 });
    batch(socket, 'one', { ...event(5), from: 3 });
    expect(await subscribed(socket, 'two', 5, null)).toEqual({ sessionId, after: 3 });
    expect(told).toEqual(['caught up', 3]);
  });

  it('replace what is held where the daemon cannot serve the place', async () => {
    const first = await connected();
    const { told } = read({ after: 8 });
    await subscribed(first, 'one', 4, 3);
    batch(first, 'one', event(4));
    expect(told).toEqual([['base', 3], 4, 'caught up']);
  });

  it('end where the daemon refuses or cannot go on', async () => {
    const socket = await connected();
    const missing = read({ after: 0 });
    socket.refuse(await socket.next('session.subscribe'), 'not_found', 'no such session');
    const broken = read({ after: 0 });
    await subscribed(socket, 'two', 0, null);
    socket.notify('subscription.ended', { subscription: 'two', error: { code: 'read_only', message: 'damaged' } });
    expect([missing.told, broken.told]).toEqual([['not_found'], ['caught up', 'read_only']]);
  });

  it('that are closed say nothing more, even where the daemon is just answering', async () => {
    const socket = await connected();
    const { told, subscription } = read({ after: 0 });
    subscription.close();
    await subscribed(socket, 'one', 3, null);
    batch(socket, 'one', event(1));
    expect(told).toEqual([]);
    expect(socket.sentMethods()).toContain('session.unsubscribe');
  });
});

it('news of unknown topics and of wrong form is passed over', async () => {
  const heard: unknown[] = [];
  client.onNotice((notice) => heard.push(notice.topic));
  const socket = await connected();
  socket.notify('notice', { topic: 'weather', sun: true });
  socket.notify('notice', { topic: 'settled', waiting: 'many', running: 0 });
  socket.notify('notice', { topic: 'settled', waiting: 1, running: 0 });
  expect(heard).toEqual(['settled']);
});
