/**
 * The real daemon, as it was built, with a home of its own in a temporary folder. It is killed, ended and started again on the same port, as
 * the browser's origin, device and drafts belong to host and port. What it said stays in `output` over all its lives, for a failed story.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { CommandName, Params, Result } from '#protocol/command.ts';
import type { CommandId } from '#protocol/values/ids.ts';
import { systemClock } from '../../daemon/base/clock.ts';
import { SystemIds } from '../../daemon/base/ids.ts';
import { NoNetwork } from './no-network.ts';

const entry = fileURLToPath(new URL('../../dist/daemon/main.js', import.meta.url));
/** A cold start on a busy machine takes one second. */
const startMs = 20_000;

const ids = new SystemIds(systemClock);
export const newCommandId = (): CommandId => ids.uuid7() as CommandId;

export interface DaemonOptions {
  readonly home: string;
  /** The folder that it is started in, and so offers to open. */
  readonly folder: string;
  /** Settings, written before the first start. */
  readonly environment: Readonly<Record<string, string>>;
  /** True: it runs where there is no network but loopback; the browser reaches it all the same. */
  readonly offline?: boolean;
}

export class Daemon {
  readonly home: string;
  output = '';
  #options: DaemonOptions;
  #child: ChildProcess | null = null;
  #port = 0;
  #noNetwork: NoNetwork | null = null;

  constructor(options: DaemonOptions) {
    this.#options = options;
    this.home = options.home;
  }

  get address(): string {
    return `http://localhost:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  get pid(): number {
    return this.#running().pid ?? 0;
  }

  /** Resolves once it has printed its address. */
  async start(): Promise<void> {
    if (this.#child !== null) throw new Error('the daemon runs already');
    if (this.#options.offline === true && this.#noNetwork === null) {
      this.#noNetwork = await NoNetwork.open(this.home);
      this.#port = this.#noNetwork.port;
    }
    const command = [process.execPath, entry, '--port', String(this.#port), '--no-open'];
    const [program = '', ...args] = this.#noNetwork?.around(command) ?? command;
    const child = spawn(program, args, {
      cwd: this.#options.folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        LANG: 'C.UTF-8',
        HOME: this.#options.home,
        ALCOVE_HOME: this.#options.home,
        // A model server that happens to run on this machine is none of the story's.
        ALCOVE_LOCAL_SERVERS: 'off',
        ...this.#options.environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let printed = '';
    child.stderr.on('data', (data: Buffer) => (this.output += data.toString()));
    this.#port = await new Promise<number>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no address after ${startMs} ms:\n${this.output}`)), startMs);
      child.stdout.on('data', (data: Buffer) => {
        printed += data.toString();
        this.output += data.toString();
        const found = /http:\/\/localhost:(\d+)/.exec(printed);
        if (found === null) return;
        clearTimeout(late);
        resolve(Number(found[1]));
      });
      child.once('exit', (code, signal) => {
        clearTimeout(late);
        this.#child = null;
        reject(new Error(`the daemon ended (${code ?? signal}) before it printed an address:\n${this.output}`));
      });
    });
    await this.#noNetwork?.letIn(child.pid ?? 0);
  }

  /** As a power cut or an out-of-memory killer would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** In order. Resolves with the exit code. */
  async stop(): Promise<number | null> {
    const code = await this.#end('SIGTERM');
    await this.#noNetwork?.close();
    this.#noNetwork = null;
    return code;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** One command, as scripts send it: POST /rpc with the daemon's own token. */
  async call<Name extends CommandName>(method: Name, params: Params<Name>): Promise<Result<Name>> {
    const { token } = JSON.parse(await readFile(join(this.home, 'daemon.json'), 'utf8')) as { token: string };
    const response = await fetch(`${this.address}/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer = (await response.json()) as { result?: Result<Name>; error?: { message: string } };
    if (answer.result === undefined) throw new Error(`${method}: ${answer.error?.message ?? response.statusText}`);
    return answer.result;
  }

  /** Paths of the logs that stand in its home. */
  async logs(): Promise<string[]> {
    const names = await readdir(join(this.home, 'sessions'), { recursive: true }).catch(() => []);
    return names.filter((name) => /\.jsonl(\.zst)?$/.test(name)).map((name) => join(this.home, 'sessions', name));
  }

  /** Every session as JSON Lines, by the daemon's own command line. */
  async export(): Promise<string> {
    const { sessions } = await this.call('session.list', {});
    const run = promisify(execFile);
    const texts = sessions.map(async ({ sessionId }) => {
      const { stdout } = await run(process.execPath, [entry, 'session', 'dump', sessionId], {
        env: { PATH: process.env['PATH'] ?? '', ALCOVE_HOME: this.home },
      });
      return stdout;
    });
    return (await Promise.all(texts)).join('');
  }

  /** A copy of a log with a flipped byte in its middle, under a session id of its own. */
  async addDamagedLog(): Promise<void> {
    const [log] = await this.logs();
    if (log === undefined) throw new Error('there is no log yet');
    const bytes = await readFile(log);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
    await writeFile(join(dirname(log), `ses_01940000-0000-7000-8000-0000000000ff.jsonl.zst`), bytes);
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (child === null) return null;
    const ended = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    const [code] = await ended;
    this.#child = null;
    return code;
  }

  #running(): ChildProcess {
    if (this.#child === null) throw new Error('the daemon does not run');
    return this.#child;
  }
}
