#!/usr/bin/env node
/**
 * The command line. Reads the arguments and the environment, here and nowhere else, and loads only the verb that was asked for: `alcove run` must
 * not pay for the server. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by the person.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { cac } from 'cac';
import { messageOf } from '../base/errors.ts';
import { homeFolder } from '../base/files.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from './usage-error.ts';

const root = new URL('../../', import.meta.url);

function surroundings(): Surroundings {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
  return {
    home: homeFolder(process.env['ALCOVE_HOME'], homedir()),
    userHome: homedir(),
    environment: process.env,
    folder: process.cwd(),
    version,
    webFolder: fileURLToPath(new URL('dist/web', root)),
  };
}

function commandLine() {
  const cli = cac('alcove');
  cli
    .command('', 'Serve the app on this machine and open it')
    .option('--port <port>', 'Port on the loopback interface; 0 finds a free one', { default: 7717 })
    .option('--no-open', 'Do not open a browser')
    .action(async (options: { port: unknown; open: boolean }) => {
      const { serve } = await import('./serve.ts');
      return serve(surroundings(), options);
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
      return run(surroundings(), prompt, options);
    });
  cli.command('status', 'Say whether Alcove runs, where, and what it does').action(async () => {
    const { status } = await import('./status.ts');
    return status(surroundings());
  });
  cli.command('pair', 'Make a one-time code by which another browser becomes a device').action(async () => {
    const { pair } = await import('./pair.ts');
    return pair(surroundings());
  });
  cli
    .command('devices [action] [device]', 'List paired devices; "devices revoke ID" ends one')
    .action(async (action: string | undefined, device: string | undefined) => {
      const { devices } = await import('./devices.ts');
      return devices(surroundings(), action, device);
    });
  cli
    .command('session <action> [session]', '"session list", "session inspect ID|FILE", "session dump ID|FILE"')
    .option('--json', 'Print JSON')
    .action(async (action: string, session: string | undefined, options: { json?: boolean }) => {
      const verbs = await import('./session.ts');
      return verbs.session(surroundings(), action, session, options);
    });
  cli.help();
  cli.version(surroundings().version);
  return cli;
}

async function main(): Promise<void> {
  const cli = commandLine();
  try {
    // A lone "-" is the name of standard input, which the parser would take for an option.
    const words = process.argv.map((word, place) => (place > 1 && word === '-' ? '/dev/stdin' : word));
    cli.parse(words, { run: false });
    const code: unknown = await cli.runMatchedCommand();
    process.exitCode = typeof code === 'number' ? code : 0;
  } catch (error) {
    // The parser's own refusals name what they do not know, but not where to look.
    const unknown = error instanceof Error && error.name === 'CACError';
    process.stderr.write(`alcove: ${messageOf(error)}${unknown ? '. See: alcove --help' : ''}\n`);
    process.exitCode = unknown || error instanceof UsageError ? 2 : 1;
  }
}

await main();
