/** `alcove status`. Exit code 0 where it runs, 1 where it does not. */
import { sandboxWords } from '#protocol/values/sandbox.ts';
import { NotRunningError, Running } from './running.ts';
import type { Surroundings } from './surroundings.ts';

export async function status(around: Surroundings): Promise<number> {
  try {
    const running = await Running.find(around.home);
    const now = await running.call('machine.status', {});
    process.stdout.write(
      [
        `Alcove ${now.version} is running on ${now.name} (process ${now.pid}).`,
        `  Address   http://localhost:${now.port}`,
        `  Home      ${now.home}`,
        `  Sessions  ${now.sessions.running} running, ${now.sessions.waiting} waiting for you, ${now.sessions.all} in all`,
        `  Clients   ${now.clients} connected`,
        `  Sandbox   ${now.sandbox.level}: ${sandboxWords(now.sandbox)}`,
        '',
      ].join('\n'),
    );
    return 0;
  } catch (error) {
    if (!(error instanceof NotRunningError)) throw error;
    process.stdout.write(`${error.message}\n`);
    return 1;
  }
}
