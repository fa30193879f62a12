/** What `ssh -L` does: another port of localhost whose bytes go to the daemon's. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

export interface Forward {
  readonly address: string;
  readonly port: number;
  /** Cuts every connection and takes no more: the tunnel is gone. */
  close(): Promise<void>;
}

/** @param target A port of this machine, or the path of a Unix socket. */
export async function forwardTo(target: number | string): Promise<Forward> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
      // A cut connection is what a tunnel does; both ends see it as closed.
      socket.on('error', () => {});
    }
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://localhost:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
