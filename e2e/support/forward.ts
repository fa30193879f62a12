/** What `ssh -L` does: another port of localhost whose bytes go to the daemon's. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

export interface Forward {
  readonly address: string;
  /** Cuts every connection and takes no more: the tunnel is gone. */
  close(): Promise<void>;
}

export async function forwardTo(port: number): Promise<Forward> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
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
  return {
    address: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
