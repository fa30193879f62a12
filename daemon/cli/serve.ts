/** `alcove`: serves in the foreground until it is told to end. Starting again while it runs opens the running one. */
import { messageOf, systemCode } from '../base/errors.ts';
import { Daemon, HomeBusyError } from '../daemon.ts';
import { hasDisplay, invitation, openBrowser } from './invitation.ts';
import { Running } from './running.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from './usage-error.ts';

export async function serve(around: Surroundings, options: { port: unknown; open: boolean }): Promise<number> {
  const port = Number(options.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError('--port takes a number from 0 to 65535.');
  // Before anything is printed: a signal that comes from here on ends everything in order.
  const told = toldToEnd();
  let daemon: Daemon;
  try {
    daemon = await Daemon.start({ ...around, port });
  } catch (error) {
    if (error instanceof HomeBusyError) return openRunning(around, options.open);
    throw refusal(error, around.home);
  }
  try {
    const { server, problems } = daemon;
    for (const problem of problems) process.stderr.write(`alcove: ${problem}\n`);
    const running = await Running.find(around.home);
    const pairing = await running.call('pairing.create', {});
    const words = `Alcove ${around.version} is running. Ctrl+C ends it.\n\n${invitation(server.port, pairing, { qr: false })}\n`;
    process.stdout.write(words);
    process.stdout.write(`\nTools run with your own rights; there is no sandbox. Changes and commands ask first.\n`);
    if (options.open && hasDisplay(around.environment, process.platform))
      await openBrowser(pairing.link, around.home, process.platform);
    await told;
  } finally {
    await daemon.close();
  }
  return 0;
}

async function openRunning(around: Surroundings, open: boolean): Promise<number> {
  const running = await Running.find(around.home);
  const pairing = await running.call('pairing.create', {});
  process.stdout.write(`Alcove runs already.\n\n${invitation(running.port, pairing, { qr: false })}\n`);
  if (open && hasDisplay(around.environment, process.platform))
    await openBrowser(pairing.link, around.home, process.platform);
  return 0;
}

function toldToEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

/** What the system says of a home that cannot be used, as a sentence with the next step. */
function refusal(error: unknown, home: string): unknown {
  const code = systemCode(error);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new Error(`${home} cannot be written (${code}). Make it writable, or set ALCOVE_HOME to another folder.`, {
      cause: error,
    });
  }
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Error(`There is no space left for ${home} (${messageOf(error)}). Make space and start again.`, {
      cause: error,
    });
  return error;
}
