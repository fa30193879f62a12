/** The news of a socket (MB4, C22): all of it on connect, the last value of each on change, and no queue for a slow client. */
import { expect, test } from 'vitest';
import type { Notice } from '#protocol/notices/notice.ts';
import { openServer } from '../testing/open-server.ts';
import { SocketClient } from '../testing/socket-client.ts';
import { sendNotices } from './notices.ts';
import { MemoryNotices } from '../testing/open-server.ts';

const row = (name: string, state: string, title = ''): Notice =>
  ({ topic: 'session', session: { sessionId: name, state, title } }) as unknown as Notice;
const projects = (offered: string): Notice => ({ topic: 'projects', projects: [], offered });

test('on connect all that is there, then settled with the counts', async () => {
  const { server, pair, notices } = await openServer();
  notices.values = [projects('/a'), row('one', 'waiting'), row('two', 'running'), row('three', 'failed')];
  const client = await SocketClient.connect(server.port, await pair());
  await client.notice(({ topic }) => topic === 'settled');
  expect(client.notices()).toEqual([...notices.values, { topic: 'settled', waiting: 1, running: 1 }]);
  notices.tell(row('two', 'idle'));
  await client.notice(({ topic, session }) => topic === 'session' && session.state === 'idle');
});

test('C22: a second tab is told all anew, and both hear what changes', async () => {
  const { server, pair, notices } = await openServer();
  notices.values = [row('one', 'waiting')];
  const tabs = [
    await SocketClient.connect(server.port, await pair()),
    await SocketClient.connect(server.port, await pair()),
  ];
  for (const tab of tabs) await tab.notice(({ topic, session }) => topic === 'session' && session.state === 'waiting');
  notices.tell(row('one', 'running'));
  for (const tab of tabs) await tab.notice(({ topic, session }) => topic === 'session' && session.state === 'running');
  await tabs[0]!.close();
  await expect.poll(() => notices.watchers).toBe(1);
});

test('nothing is told before the client has authenticated', async () => {
  const { server, notices } = await openServer();
  notices.values = [row('one', 'waiting')];
  const client = new SocketClient(server.port);
  await client.opened;
  await client.hello();
  notices.tell(row('one', 'running'));
  expect(client.notices()).toEqual([]);
  expect(notices.watchers).toBe(0);
});

test('while there is no room the last value of each waits, and no other', async () => {
  const source = new MemoryNotices();
  const sent: Notice[] = [];
  let letGo = () => {};
  const room = new Promise<void>((resolve) => (letGo = resolve));
  const outlet = {
    pull: async (_: AbortSignal, compose: () => Promise<string | null> | string | null) => {
      await room;
      const text = await compose();
      if (text !== null) sent.push((JSON.parse(text) as { params: Notice }).params);
    },
  };
  const controller = new AbortController();
  const ended = sendNotices(source, outlet, controller.signal);
  for (let n = 1; n <= 1000; n += 1) {
    source.tell(row('one', 'running', String(n)));
    source.tell(projects(`/${n}`));
  }
  letGo();
  await expect
    .poll(() => sent)
    .toEqual([{ topic: 'settled', waiting: 0, running: 0 }, row('one', 'running', '1000'), projects('/1000')]);
  controller.abort();
  await ended;
  expect(source.watchers).toBe(0);
});
