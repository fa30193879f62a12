/** Readers of events through a real socket: no gap, no double, no queue for a slow one (MB4, C21, RT28). */
import { expect, test } from 'vitest';
import { emptyConversation } from '#protocol/conversation/conversation.ts';
import type { SessionEvent } from '#protocol/event.ts';
import { batchBytes, maxUnsentBytes } from '#protocol/limits.ts';
import { openServer } from '../testing/open-server.ts';
import { SocketClient } from '../testing/socket-client.ts';

async function withSession(count = 0, textLength = 1) {
  const opened = await openServer();
  const sessionId = `ses_${opened.ids.uuid7()}`;
  const session = opened.sessions.make(sessionId as never);
  session.append(count, textLength);
  const credentials = await opened.pair();
  return { ...opened, session, sessionId, connect: () => SocketClient.connect(opened.server.port, credentials) };
}

const seqs = (events: readonly SessionEvent[]) => events.flatMap(({ from, seq }) => range(from ?? seq, seq));
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

test('from a seq on: what was there, then what comes, each once and in order', async () => {
  const { session, sessionId, connect } = await withSession(10);
  const client = await connect();
  const { result } = await client.call('session.subscribe', { sessionId, after: 4 });
  expect(result).toEqual({ subscription: 'sub_1', base: null, seq: 10 });
  session.append(5);
  expect(seqs(await client.reached('sub_1', 15))).toEqual(range(5, 15));
});

test('C21: events that arrive while the replay is running come once, after it', async () => {
  const { session, sessionId, connect } = await withSession(3_000, 300);
  const client = await connect();
  const writing = setInterval(() => session.append(3, 300), 0);
  await client.call('session.subscribe', { sessionId, after: 0 });
  await client.reached('sub_1', 3_050);
  clearInterval(writing);
  const last = session.events.length;
  expect(seqs(await client.reached('sub_1', last))).toEqual(range(1, last));
});

test('C21: neighbouring increments travel as one on a catch-up, and nothing of the text is lost or doubled', async () => {
  const { session, sessionId, connect } = await withSession();
  session.appendDeltas(...'Evaluate this expression'.split(''));
  const client = await connect();
  await client.call('session.subscribe', { sessionId, after: 0 });
  await client.reached('sub_1', 24);
  session.appendDeltas(' please');
  const events = await client.reached('sub_1', 25);
  expect(events.map((event) => ('text' in event ? event.text : null))).toEqual(['Evaluate this expression', ' please']);
  expect(events).toMatchObject([{ from: 1, seq: 24 }, { seq: 25 }]);
});

test('by the tail: a base, then what follows it', async () => {
  const { sessionId, connect } = await withSession(100, 1000);
  const client = await connect();
  const { result } = await client.call('session.subscribe', { sessionId, tailBytes: 10_900 });
  expect(result).toMatchObject({ base: { seq: 90 }, seq: 100 });
  expect(seqs(await client.reached('sub_1', 100))).toEqual(range(91, 100));
});

test('a seq beyond the end (the log was replaced) begins anew at a base', async () => {
  const { session, sessionId, connect } = await withSession(50);
  const client = await connect();
  await client.call('session.subscribe', { sessionId, after: 50 });
  await client.close();
  session.replaceBy(20);
  const again = await connect();
  const { result } = await again.call('session.subscribe', { sessionId, after: 50, tailBytes: 0 });
  expect(result).toMatchObject({ base: { ...emptyConversation, seq: 20 }, seq: 20 });
  session.append(1);
  expect(seqs(await again.reached('sub_1', 21))).toEqual([21]);
});

test('MB4: cut off again and again while the session goes on, a client that names its last seq gets every event once', async () => {
  const { session, sessionId, connect } = await withSession(500, 2000);
  const writing = setInterval(() => session.append(20, 2000), 1);
  const seen: number[] = [];
  for (let cut = 0; cut < 8; cut += 1) {
    const client = await connect();
    const after = seen.at(-1) ?? 0;
    const { result } = await client.call('session.subscribe', { sessionId, after });
    await client.reached(result.subscription, after + 50);
    client.socket.terminate();
    await client.closed;
    seen.push(...seqs(client.events(result.subscription)));
  }
  clearInterval(writing);
  const client = await connect();
  await client.call('session.subscribe', { sessionId, after: seen.at(-1) });
  const last = session.events.length;
  seen.push(...seqs(await client.reached('sub_1', last)));
  expect(seen).toEqual(range(1, last));
});

test('RT28: a client that does not read costs a bounded part of memory, slows nobody, and loses nothing', async () => {
  const { session, sessionId, connect } = await withSession();
  const [slow, quick] = [await connect(), await connect()];
  for (const client of [slow, quick]) await client.call('session.subscribe', { sessionId, after: 0 });
  slow.socket.pause();
  const total = 16 * 1024;
  for (let written = 0; written < total; written += 512) {
    session.append(512, 1000);
    await quick.reached('sub_1', written + 512);
  }
  // Each read fetches about one batch: what was read for the slow one is what its window holds, and no more.
  const readForQuick = quick.received.filter((one) => one.method === 'session.events').length;
  const readForSlow = session.reads - readForQuick;
  expect(readForSlow).toBeLessThanOrEqual(2 * Math.ceil(maxUnsentBytes / batchBytes) + total / 512 + 8);
  expect(slow.received.length).toBeLessThan(100);
  slow.socket.resume();
  expect(seqs(await slow.reached('sub_1', total))).toEqual(range(1, total));
});

test('RT28: many subscriptions of one slow socket share one window', async () => {
  const { session, sessionId, connect } = await withSession(4_000, 1000);
  const client = await connect();
  const before = session.reads;
  for (let n = 0; n < 8; n += 1)
    client.send({ jsonrpc: '2.0', id: `s${n}`, method: 'session.subscribe', params: { sessionId, after: 0 } });
  client.socket.pause();
  await expect.poll(() => session.reads - before).toBeGreaterThanOrEqual(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(session.reads - before).toBeLessThanOrEqual(2 * Math.ceil(maxUnsentBytes / batchBytes) + 8);
  client.socket.resume();
  for (let n = 1; n <= 8; n += 1) expect(seqs(await client.reached(`sub_${n}`, 4_000))).toEqual(range(1, 4_000));
});

test('after unsubscribe nothing comes, and the session is let go', async () => {
  const { session, sessionId, connect } = await withSession(3);
  const client = await connect();
  await client.call('session.subscribe', { sessionId, after: 0 });
  await client.reached('sub_1', 3);
  expect(await client.call('session.unsubscribe', { subscription: 'sub_1' })).toMatchObject({ result: {} });
  session.append(3);
  await client.call('machine.status');
  expect(seqs(client.events('sub_1'))).toEqual([1, 2, 3]);
  await expect.poll(() => session.readers).toBe(0);
});

test('a session that cannot be read ends its subscription in words, and the socket lives', async () => {
  const { session, sessionId, connect, log } = await withSession(3);
  const client = await connect();
  session.failure = new Error('frame 7 is damaged');
  await client.call('session.subscribe', { sessionId, after: 0 });
  const ended = await client.until((one) => one.method === 'subscription.ended');
  expect(ended.params).toMatchObject({ subscription: 'sub_1', error: { code: 'internal' } });
  expect(JSON.stringify(ended)).not.toContain('frame 7');
  expect(log()).toContain('frame 7 is damaged');
  await expect.poll(() => session.readers).toBe(0);
  expect(await client.call('machine.status')).toHaveProperty('result');
});

test('a page of history', async () => {
  const { session, sessionId, connect } = await withSession(5);
  const { result } = await (await connect()).call('session.page', { sessionId, before: 4 });
  expect(seqs(result.events)).toEqual([1, 2, 3]);
  expect(session.readers).toBe(0);
});
