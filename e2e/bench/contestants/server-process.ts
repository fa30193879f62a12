/**
 * The process of a server that takes part: started from a command line, heard line by line, ended in order or killed. A kill reaches what was
 * there when the server was ready (a launcher and what it launched), and nothing that its tools have started since.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { CommandLine } from '../contestant.ts';
import { costOfTree, now } from '../measure.ts';

/** A server that does not end when it is asked to. */
const endMs = 10_000;

export class ServerProcess {
  readonly startedAt = now();
  readonly #child: ChildProcessWithoutNullStreams;
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>;
  readonly #exited: Promise<void>;
  #said = '';
  #own: readonly number[] = [];

  /** @param heard Every line of its standard output, with the moment when it came. */
  constructor(line: CommandLine, heard: (line: string, at: number) => void) {
    this.#child = spawn(line.command, line.args, { cwd: line.cwd, env: line.env });
    const failed = new Promise<void>((resolve) => {
      this.#child.on('error', (error) => {
        this.#said += error.message;
        resolve();
      });
    });
    const told = (event: string) => new Promise<void>((resolve) => this.#child.on(event, () => resolve()));
    this.ended = Promise.race([told('close'), failed]);
    this.#exited = Promise.race([told('exit'), failed]);
    this.#child.stdin.on('error', () => undefined); // It was killed; whoever waits is told by `ended`.
    this.#child.stderr.on('data', (data: Buffer) => (this.#said = (this.#said + data.toString()).slice(-2000)));
    let rest = '';
    this.#child.stdout.setEncoding('utf8').on('data', (data: string) => {
      const at = now();
      const lines = (rest + data).split('\n');
      rest = lines.pop() ?? '';
      for (const one of lines) if (one !== '') heard(one, at);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Milliseconds since it was started. */
  get age(): number {
    return (now() - this.startedAt) / 1000;
  }

  /** To be called when it is ready and no tool runs yet. */
  isReady(): void {
    this.#own = costOfTree(this.pid)?.pids ?? [this.pid];
  }

  /** Rejects, with what it said last, when it ends before. */
  before<T>(wait: Promise<T>): Promise<T> {
    const gone = this.ended.then(() => {
      throw new Error(`the server ended: ${this.#said.trim().split('\n').slice(-3).join(' ')}`);
    });
    gone.catch(() => undefined);
    return Promise.race([wait, gone]);
  }

  write(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  async end(): Promise<void> {
    this.#child.kill('SIGTERM');
    const late = setTimeout(() => void this.kill(), endMs);
    await this.ended;
    clearTimeout(late);
    // A launcher may leave before what it launched.
    for (const pid of this.#own) send(pid);
  }

  async kill(): Promise<void> {
    // From the launched to the launcher, so that none is told and ends in order.
    for (const pid of [...this.#own, this.pid].reverse()) send(pid);
    await this.#exited;
    // Not `close`: a tool that lives on may hold the pipes.
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }
}

function send(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
