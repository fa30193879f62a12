/**
 * A machine without a network: a Linux namespace in which loopback is all there is. A program runs inside, and one port of it is let out, so
 * that a browser outside reaches it as if it ran here. Where no such namespace can be made, `canBeOffline` is false and what needs it is
 * skipped with that reason.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { forwardTo, type Forward } from './forward.ts';

const inside = ['unshare', '-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

export const canBeOffline =
  process.platform === 'linux' && spawnSync('unshare', [...inside.slice(1), 'true']).status === 0;

/** Bytes of a Unix socket, which a namespace does not hide, go to a port inside. */
const relay = `
  const net = require('node:net');
  const [path, port] = process.argv.slice(1);
  require('node:fs').rmSync(path, { force: true });
  net.createServer((near) => {
    const far = net.connect(Number(port), '127.0.0.1');
    for (const [one, other] of [[near, far], [far, near]]) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  }).listen(path, () => console.log('listens'));
`;

export class NoNetwork {
  readonly #forward: Forward;
  readonly #socket: string;
  #relay: ChildProcess | null = null;

  private constructor(forward: Forward, socket: string) {
    this.#forward = forward;
    this.#socket = socket;
  }

  /** @param folder Where the socket between inside and outside lies. */
  static async open(folder: string): Promise<NoNetwork> {
    const socket = join(folder, 'out.sock');
    return new NoNetwork(await forwardTo(socket), socket);
  }

  /** The same inside and outside; the program is to listen on it. */
  get port(): number {
    return this.#forward.port;
  }

  /** The command line that runs this one inside. */
  around(command: readonly string[]): string[] {
    return [...inside, ...command];
  }

  /** Resolves once the port of the program with this process id is reached from outside. */
  async letIn(pid: number): Promise<void> {
    await this.#endRelay();
    const namespace = ['--target', String(pid), '--user', '--net', '--preserve-credentials'];
    const args = [process.execPath, '--eval', relay, this.#socket, String(this.port)];
    this.#relay = spawn('nsenter', [...namespace, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const { stdout } = this.#relay;
    if (stdout === null) throw new Error('the relay has no output');
    await once(stdout, 'data');
  }

  async close(): Promise<void> {
    await this.#endRelay();
    await this.#forward.close();
  }

  async #endRelay(): Promise<void> {
    const relay = this.#relay;
    this.#relay = null;
    if (relay === null || relay.exitCode !== null) return;
    const ended = once(relay, 'exit');
    relay.kill('SIGTERM');
    await ended;
  }
}
