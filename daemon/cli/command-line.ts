/**
 * The verbs of the command line, as one table: the parser reads it, `--help` prints it, and the reference in docs/ is made from it. Each verb
 * loads only what it needs when it runs: `alcove run` must not pay for the server.
 */
import { cac } from 'cac';
import type { Surroundings } from './surroundings.ts';

/** `around` is asked only by a verb that runs. */
export function commandLine(version: string, around: () => Surroundings) {
  const cli = cac('alcove');
  cli
    .command('', 'Serve the app on this machine and open it')
    .option('--port <port>', 'Port on the loopback interface; 0 finds a free one', { default: 7717 })
    .option('--no-open', 'Do not open a browser')
    .action(async (options: { port: unknown; open: boolean }) => {
      const { serve } = await import('./serve.ts');
      return serve(around(), options);
    });
  cli
    .command('run [prompt]', 'Run one prompt in this folder and print the answer; - reads it from standard input')
    .option('--model <model>', 'provider/model')
    .option('--mode <mode>', 'ask, plan or auto')
    .option('--cwd <folder>', 'Work in this folder')
    .option('--json', 'Print each event as a line of JSON')
    .option('--session <file>', 'Keep the session in this file (.jsonl.zst or .jsonl), or go on with it')
    .action(async (prompt: string | undefined, options: Record<string, unknown>) => {
      const { run } = await import('./run.ts');
      return run(around(), prompt, options);
    });
  cli.command('status', 'Say whether Alcove runs, where, and what it does').action(async () => {
    const { status } = await import('./status.ts');
    return status(around());
  });
  cli.command('pair', 'Make a one-time code by which another browser becomes a device').action(async () => {
    const { pair } = await import('./pair.ts');
    return pair(around());
  });
  cli
    .command('devices [action] [device]', 'List paired devices; "devices revoke ID" ends one')
    .action(async (action: string | undefined, device: string | undefined) => {
      const { devices } = await import('./devices.ts');
      return devices(around(), action, device);
    });
  cli
    .command('session <action> [session]', '"session list", "session inspect ID|FILE", "session dump ID|FILE"')
    .option('--json', 'Print JSON')
    .action(async (action: string, session: string | undefined, options: { json?: boolean }) => {
      const verbs = await import('./session.ts');
      return verbs.session(around(), action, session, options);
    });
  cli.help();
  cli.version(version);
  return cli;
}
