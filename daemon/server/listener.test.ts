/** Where the daemon listens (PM11): loopback on both families, one port, both or neither. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listenOnLoopback, PortBusyError, type Handler } from './listener.ts';

const handler: Handler = {
  request: (_, response) => response.end('here'),
  upgrade: (_, connection) => connection.destroy(),
};
const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === '::1'));

async function listening(port = 0) {
  const listener = await listenOnLoopback(handler, port);
  onTestFinished(() => listener.close());
  return listener;
}

async function occupied(host: string): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

test('both loopback addresses answer on the same port, other addresses do not', async () => {
  const { port } = await listening();
  expect(await answers('127.0.0.1', port)).toBe(true);
  if (hasIPv6) expect(await answers('::1', port)).toBe(true);
  for (const own of Object.values(networkInterfaces()).flat())
    if (own !== undefined && !own.internal && own.family === 'IPv4')
      expect(await answers(own.address, port)).toBe(false);
});

test.each(hasIPv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1'])(
  'a port that is taken on %s is an error that names --port, and leaves neither open',
  async (host) => {
    const port = await occupied(host);
    await expect(listenOnLoopback(handler, port)).rejects.toThrow(PortBusyError);
    await expect(listenOnLoopback(handler, port)).rejects.toThrow(/--port/);
    if (hasIPv6) expect(await answers(host === '::1' ? '127.0.0.1' : '::1', port)).toBe(false);
  },
);

test('a second daemon on the same port is refused, and the first lives on', async () => {
  const { port } = await listening();
  await expect(listenOnLoopback(handler, port)).rejects.toThrow(PortBusyError);
  expect(await answers('127.0.0.1', port)).toBe(true);
});

test('closing cuts a request that never ends, and frees the port', async () => {
  const endless: Handler = { ...handler, request: (_, response) => void response.write('wait') };
  const first = await listenOnLoopback(endless, 0);
  const response = await fetch(`http://127.0.0.1:${first.port}/`);
  await first.close();
  await expect(response.text()).rejects.toThrow();
  await (await listenOnLoopback(handler, first.port)).close();
});
