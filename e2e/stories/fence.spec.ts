/** Pages and programs that should not reach the daemon, and what they get. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { newCommandId } from '../support/daemon.ts';
import { chatReply, expect, secretKey, test } from '../support/test.ts';

test('C24 PM11: a page on another port of localhost can neither post, nor read, nor open a socket', async ({
  daemon,
  page,
}) => {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<h1>elsewhere</h1>'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await page.goto(`http://localhost:${(server.address() as AddressInfo).port}`);
  const got = await page.evaluate(async (address) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session.list', params: {} });
    const attempt = async (init: RequestInit) =>
      await fetch(`${address}/rpc`, init).then(
        (response) => (response.type === 'opaque' ? 'opaque' : String(response.status)),
        () => 'refused',
      );
    const socket = await new Promise<string>((resolve) => {
      const opened = new WebSocket(address.replace('http', 'ws') + '/ws', 'alcove.v1');
      opened.onopen = () => resolve('open');
      opened.onerror = () => resolve('refused');
    });
    return {
      plain: await attempt({ method: 'POST', body, headers: { 'content-type': 'text/plain' } }),
      json: await attempt({ method: 'POST', body, headers: { 'content-type': 'application/json' } }),
      read: await attempt({}),
      socket,
    };
  }, daemon.address);
  expect(got).toEqual({ plain: 'refused', json: 'refused', read: 'refused', socket: 'refused' });
  server.close();
});

test('C25 PM11: a name that was pointed at this machine gets 403 for the page, the data and the socket', async ({
  daemon,
  page,
}) => {
  const address = `http://rebound.example:${daemon.port}`;
  const statuses: (number | undefined)[] = [];
  for (const path of ['/', '/health', '/rpc', '/ws', '/favicon.svg'])
    statuses.push((await page.goto(address + path))?.status());
  expect(statuses).toEqual([403, 403, 403, 403, 403]);
});

test('US10: a person revokes a device, and its page is unpaired at once', async ({ app, daemon }) => {
  const { devices } = await daemon.call('device.list', {});
  const deviceId = devices[0]?.deviceId;
  if (deviceId === undefined) throw new Error('one device should be paired');
  await daemon.call('device.revoke', { commandId: newCommandId(), deviceId });
  await expect(app.page.getByRole('heading', { name: /unpaired/ })).toBeVisible();
});

test('PM12 PM15: no key and no token stands in what the daemon said, nor in a log', async ({
  app,
  daemon,
  provider,
}) => {
  provider.enqueue(chatReply({ text: 'Hello.' }));
  await app.say('Hello?');
  await app.sees('Hello.');
  expect(provider.requests[0]?.headers.authorization).toBe(`Bearer ${secretKey}`);
  const { token } = JSON.parse(await readFile(`${daemon.home}/daemon.json`, 'utf8')) as { token: string };
  const kept = await app.page.evaluate(() => JSON.stringify(localStorage));
  const deviceToken = /"token\\?":\\?"([^"\\]+)/.exec(kept)?.[1] ?? 'no token was kept';
  const said = daemon.output + (await daemon.export());
  for (const secret of [secretKey, token, deviceToken]) expect(said).not.toContain(secret);
});
