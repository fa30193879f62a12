/**
 * A gated child (gated-child.ts) whose stdout and stderr are a terminal, for programs that behave otherwise without one. Nobody sits at it: stdin
 * is /dev/null as always. The only file that knows node-pty, which is native and may be missing.
 */
import { constants } from 'node:os';
import type * as nodePty from '@lydell/node-pty';
import type { Exit, GatedChild, GatedRequest } from './gated-child.ts';

/** There is no terminal to be had on this machine. */
export class TerminalMissing extends Error {
  override readonly name = 'TerminalMissing';
}

/** Wide enough for tables and paths; what programs draw on more lines than this is drawn over anyway. */
const size = { cols: 120, rows: 40 };

/** The word comes through the terminal itself, whose hang-up ends the gate. Line ends stay as they were written. */
const gateScript = 'read -r word && [ "$word" = go ] || exit 125; stty -echo -onlcr 2>/dev/null; exec "$@" </dev/null';
/** What the terminal shows of the word before the gate can say that it should not. */
const echoed = Buffer.from('go\r\n');

export async function spawnInTerminal(request: GatedRequest): Promise<GatedChild> {
  const { spawn } = await loaded();
  const pty = spawn('/bin/sh', ['-c', gateScript, 'gate', request.program, ...request.args], {
    name: 'xterm-256color',
    ...size,
    cwd: request.folder,
    env: request.environment,
    encoding: null,
  });
  let ended = false;
  const exit = new Promise<Exit>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      ended = true;
      resolve(signal ? { code: null, signal: nameOf(signal) } : { code: exitCode, signal: null });
    });
  });
  // Its own destroy: the declared kill would leave the descriptor open.
  const hangUp = () => {
    if (!ended) (pty as unknown as { destroy(): void }).destroy();
  };
  return {
    pid: pty.pid,
    exit,
    // node-pty tells the exit once the terminal is read to its end.
    outputEnd: exit.then(() => undefined),
    onOutput: (take) => {
      let skip = echoed.length;
      pty.onData((text) => {
        const piece = text as unknown as Buffer;
        const rest = piece.subarray(Math.min(skip, piece.length));
        skip -= piece.length - rest.length;
        if (rest.length > 0) take(rest);
      });
    },
    open: () => pty.write('go\n'),
    shut: hangUp,
    release: hangUp,
  };
}

async function loaded(): Promise<typeof nodePty> {
  try {
    return await import('@lydell/node-pty');
  } catch (error) {
    throw new TerminalMissing('No terminal can be had on this machine: the package for it is not installed.', {
      cause: error,
    });
  }
}

function nameOf(signal: number): string {
  const found = Object.entries(constants.signals).find(([, number]) => number === signal);
  return found?.[0] ?? `signal ${signal}`;
}
