/**
 * A child program that stands at a gate: its shell waits on a descriptor for a word and becomes the program when it comes; at end of file, so also
 * where we die, it ends with 125 and has run nothing. It leads its own session and group, has /dev/null on stdin, and stdout and stderr are one.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { openPipe } from './pipe.ts';

export interface GatedRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface GatedChild {
  readonly pid: number;
  /** Of the program itself. */
  readonly exit: Promise<Exit>;
  /** Resolves when nobody can write any more. */
  readonly outputEnd: Promise<void>;
  /** To be called once, before it runs. */
  onOutput(take: (piece: Uint8Array) => void): void;
  open(): void;
  /** Instead of `open`: it ends without having run. */
  shut(): void;
  /** What others still write is read on and dropped by whoever takes it; none of it keeps our own process alive. */
  release(): void;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Only then does the program get the pipe as its stderr, too. */
const gateScript = 'read -r word <&3 && [ "$word" = go ] || exit 125; exec 3<&-; exec "$@" 2>&1';

/** Rejects where the shell cannot be started. */
export async function spawnAtGate(request: GatedRequest): Promise<GatedChild> {
  const pipe = process.platform === 'linux' ? await openPipe() : null;
  try {
    const child = spawn('/bin/sh', ['-c', gateScript, 'gate', request.program, ...request.args], {
      cwd: request.folder,
      env: request.environment,
      detached: true,
      stdio: ['ignore', pipe?.writer ?? 'pipe', 'ignore', 'pipe'],
    });
    await once(child, 'spawn');
    return gated(child, pipe?.reader ?? (child.stdout as Readable));
  } catch (error) {
    pipe?.reader.destroy();
    throw error;
  } finally {
    pipe?.closeWriter();
  }
}

function gated(child: ChildProcess, output: Readable): GatedChild {
  const gate = child.stdio[3] as Writable;
  gate.on('error', () => {}); // the child may be gone before the word arrives; its exit tells
  output.on('error', () => {}); // ends the stream; what came before it counts
  return {
    pid: child.pid as number,
    exit: new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal }))),
    outputEnd: new Promise((resolve) => output.once('close', resolve)),
    onOutput: (take) => void output.on('data', take),
    open: () => void gate.end('go\n'),
    shut: () => void gate.destroy(),
    release: () => {
      if (output instanceof Socket) output.unref();
      child.unref();
    },
  };
}
