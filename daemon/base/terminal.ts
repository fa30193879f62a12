/**
 * A gated child (gated-child.ts) whose stdout and stderr are a terminal, for programs that behave otherwise without one. Nobody sits at it: stdin
 * is /dev/null as always. The only file that knows node-pty, which is native and may be missing.
 */
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import type * as nodePty from '@lydell/node-pty';
import type { Exit, GatedChild, GatedRequest } from './gated-child.ts';
import { outputQuietMs } from './limits.ts';

/** There is no terminal to be had on this machine. */
export class TerminalMissing extends Error {
  override readonly name = 'TerminalMissing';
}

/** Wide enough for tables and paths; what programs draw on more lines than this is drawn over anyway. */
const size = { cols: 120, rows: 40 };

/**
 * The word comes through the terminal itself, whose hang-up ends the gate. Line ends stay as they were written. The shell stays for a moment after
 * the program has ended: with it goes the terminal, and what nobody has read by then is lost to the kernel. It ends as the program did.
 */
const gateScript =
  'read -r word && [ "$word" = go ] || exit 125; stty -echo -onlcr 2>/dev/null; "$@" </dev/null; code=$?; sleep 0.4; ' +
  '[ "$code" -gt 128 ] && kill -"$((code - 128))" $$; exit "$code"';
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
  closeWhenRead((pty as unknown as { _socket: Socket })._socket);
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

/**
 * node-pty closes a terminal 200 ms after its program has ended, read or not: on a busy machine the end of the output would be lost. So that is put
 * off until two looks in a row found nothing new; between them the reader has had its turn.
 */
function closeWhenRead(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    if (error !== undefined || socket.readableEnded) return destroy(error);
    let seen = socket.bytesRead;
    let quiet = 0;
    const look = () => {
      quiet = socket.bytesRead === seen ? quiet + 1 : 0;
      seen = socket.bytesRead;
      if (quiet < 2) setTimeout(look, outputQuietMs);
      else destroy();
    };
    setTimeout(look, outputQuietMs);
    return socket;
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
