/** `alcove`: serves in the foreground until it is told to end. Starting again while it runs opens the running one. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Daemon, HomeBusyError } from '../daemon.ts';
import { inHome } from './home-refusal.ts';
import { hasDisplay, invitation, openBrowser } from './invitation.ts';
import { NotRunningError, Running } from './running.ts';
import { sandboxWords } from '#protocol/values/sandbox.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from './usage-error.ts';

/** How long a daemon may take from its home's lock to its first answer (a slow disk, many sessions to recover), or from its last to the lock's end. */
const elsewhereMs = 20_000;
const lookAgainMs = 100;

export async function serve(around: Surroundings, options: { port: unknown; open: boolean }): Promise<number> {
  const port = Number(options.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError('--port takes a number from 0 to 65535.');
  // Before anything is printed: a signal that comes from here on ends everything in order.
  const ending = toldToEnd();
  const told = ending.signal;
  // Who reads its words may go (`alcove | head`); it serves on.
  process.stdout.on('error', () => undefined);
  const found = await startOrFind(around, port, ending);
  if (found === null) return 0;
  if (found instanceof Running) return openRunning(around, found, options.open);
  try {
    const { server, problems } = found;
    for (const problem of problems) process.stderr.write(`alcove: ${problem}\n`);
    const pairing = server.invite();
    const words = `Alcove ${around.version} is running. Ctrl+C ends it.\n\n${invitation(server.port, pairing, { qr: false })}\n`;
    process.stdout.write(words);
    process.stdout.write(`\n${sandboxWords(found.sandbox)} Changes and commands ask first.\n`);
    if (options.open && hasDisplay(around.environment, process.platform))
      await openBrowser(pairing.link, around.home, process.platform);
    await aborted(told);
  } finally {
    await found.close(told.aborted ? String(told.reason) : 'a failure while starting');
  }
  return 0;
}

/** The home's daemon: ours, or the one that has it. One that just starts or ends does not answer yet, or no more. Null where we are told to end. */
async function startOrFind(
  around: Surroundings,
  port: number,
  ending: AbortController,
): Promise<Daemon | Running | null> {
  const told = ending.signal;
  const deadline = performance.now() + elsewhereMs;
  while (!told.aborted) {
    try {
      return await inHome(around.home, Daemon.start({ ...around, port, stop: (reason) => ending.abort(reason) }));
    } catch (error) {
      if (!(error instanceof HomeBusyError)) throw error;
      const running = await Running.find(around.home).catch((unanswered: unknown) => {
        if (!(unanswered instanceof NotRunningError)) throw unanswered;
        return null;
      });
      if (running !== null) return running;
      if (performance.now() > deadline)
        throw new Error(`${error.message} It does not answer. End it, then start again.`);
    }
    await delay(lookAgainMs, undefined, { signal: told }).catch(() => undefined);
  }
  return null;
}

async function openRunning(around: Surroundings, running: Running, open: boolean): Promise<number> {
  const pairing = await running.call('pairing.create', {});
  process.stdout.write(`Alcove runs already.\n\n${invitation(running.port, pairing, { qr: false })}\n`);
  if (open && hasDisplay(around.environment, process.platform))
    await openBrowser(pairing.link, around.home, process.platform);
  return 0;
}

/** The listeners stay: a second signal, which a terminal and npm both send, must not cut the orderly end short. */
function toldToEnd(): AbortController {
  const told = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => told.abort(signal));
  return told;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
