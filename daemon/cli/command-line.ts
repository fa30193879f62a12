/**
 * The verbs of the command line, as one table: the parser reads it, `--help` prints it, and the reference in docs/ is made from it. Each verb
 * loads only what it needs when it runs: `alcove run` must not pay for the server.
 */
import { cac } from 'cac';
import type { Surroundings } from './surroundings.ts';
import { variables } from './variables.ts';

/** `around` is asked only by a verb that runs. */
export function commandLine(version: string, around: () => Surroundings) {
  const cli = cac('alcove');
  cli
    .command('', 'Serve the app on this machine and open it')
    .option('--port <port>', 'Port on the loopback interface; 0 finds a free one', { default: 7717 })
    .option('--no-open', 'Do not open a browser; without this one is opened where there is a display')
    .action(async (options: { port: unknown; open: boolean }) => {
      const { serve } = await import('./serve.ts');
      return serve(around(), options);
    });
  cli
    .command('run [prompt]', 'Run one prompt in this folder and print the answer; - reads it from standard input')
    .option('--model <model>', 'provider/model')
    .option(
      '--effort <effort>',
      'How much the model may think: off, low, medium, high or xhigh, as far as it takes them',
    )
    .option('--reasoning <effort>', 'The same as --effort')
    .option('--mode <mode>', 'ask, plan or auto')
    .option('--yolo', 'The same as --mode auto')
    .option('--continue', 'Go on with the newest session of this folder')
    .option('--resume <session>', 'Go on with this session of the home, by its id')
    .option('--system-prompt-file <file>', 'The text of this file in the place of how the system prompt begins')
    .option('--compact-threshold <share>', 'How full the window is, 0.1 to 0.95, before old steps are summarised')
    .option('--no-compact', 'Never summarise')
    .option(
      '--strategy <strategy>',
      'react: until no tool is called; single: one step, no tools; plan: plan, review and execution',
    )
    .option('--yes', 'With --strategy plan: accept the plan beforehand')
    .option('--cwd <folder>', 'Work in this folder')
    .option('--json', 'Print each event as a line of JSON')
    .option('--record <file>', 'Record what the model and the tools say in a new file, for "alcove replay"')
    .option('--session <file>', 'Keep the session in this file (.jsonl.zst or .jsonl), or go on with it')
    .action(async (prompt: string | undefined, options: Record<string, unknown>) => {
      const { run } = await import('./run.ts');
      return run(around(), prompt, options);
    });
  cli
    .command(
      'replay <recording>',
      'Run a recording once more, offline: exit code 1, and what differs, where it goes another way',
    )
    .option('--json', 'Print each event as a line of JSON')
    .action(async (file: string, options: { json?: boolean }) => {
      const verbs = await import('./replay.ts');
      return verbs.replay(file, options.json === true);
    });
  cli
    .command('login [provider]', 'Give Alcove the key of a provider, once it was tried; without a name, list them')
    .option('--untried', 'Keep the key where the provider cannot be reached to try it')
    .action(async (provider: string | undefined, options: { untried?: boolean }) => {
      const { login } = await import('./login.ts');
      return login(around(), provider, options.untried === true);
    });
  cli.command('logout <provider>', 'Delete the key that was given for a provider').action(async (provider: string) => {
    const { logout } = await import('./login.ts');
    return logout(around(), provider);
  });
  cli
    .command('models [...words]', 'List the models of connected providers, with window and price; words search')
    .option('--all', 'All of them, not only the newest of each provider')
    .option('--json', 'Print JSON')
    .option('--refresh [address]', 'Fetch the catalogue anew first, from models.dev or another address')
    .action(async (words: string[], options: { all?: boolean; json?: boolean; refresh?: boolean | string }) => {
      const { models } = await import('./models.ts');
      return models(around(), words, options);
    });
  cli.command('status', 'Say whether Alcove runs, where, and what it does').action(async () => {
    const { status } = await import('./status.ts');
    return status(around());
  });
  cli
    .command('stop', 'End the daemon; refuses while work runs')
    .option('--wait', 'Wait until no work runs, then end it')
    .option('--force', 'Close what runs as interrupted')
    .action(async (options: { wait?: boolean; force?: boolean }) => {
      const { stop } = await import('./stop.ts');
      return stop(around(), options);
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
    .command(
      'rules <action> [...words]',
      '"rules list", "rules add allow|ask|deny TOOL PATTERN", "rules remove ID", in this folder',
    )
    .action(async (action: string, words: string[]) => {
      const { rules } = await import('./rules.ts');
      return rules(around(), action, words);
    });
  cli
    .command(
      'jobs [action] [...words]',
      'Background jobs: "jobs list [SESSION]", "jobs read SESSION JOB", "jobs stop SESSION JOB"',
    )
    .action(async (action: string | undefined, words: string[]) => {
      const { jobs } = await import('./jobs.ts');
      return jobs(around(), action ?? 'list', words);
    });
  cli
    .command(
      'session <action> [session] [file]',
      '"session list", "session inspect ID|FILE", "session diagnose ID|FILE", "session context ID|FILE", "session dump ID|FILE", "session export ID|FILE FILE", "session import FILE"',
    )
    .option('--json', 'Print JSON')
    .action(
      async (action: string, session: string | undefined, file: string | undefined, options: { json?: boolean }) => {
        const verbs = await import('./session.ts');
        return verbs.session(around(), action, session, file, options);
      },
    );
  cli
    .command('storage [action]', 'Say what the home holds on the disk; "storage free" removes what nobody needs')
    .option('--dry-run', 'Say what would go, and remove nothing')
    .option('--outputs', 'Also the whole outputs of commands, of every session that rests')
    .option('--torn', 'Also the cut ends of logs that were kept aside')
    .option('--json', 'Print JSON')
    .action(
      async (
        action: string | undefined,
        options: { dryRun?: boolean; outputs?: boolean; torn?: boolean; json?: boolean },
      ) => {
        const { storage } = await import('./storage.ts');
        return storage(around(), action, options);
      },
    );
  cli.help((sections) => [
    ...sections,
    { title: 'Environment', body: variables.map(({ name, meaning }) => `  ${name.padEnd(22)}${meaning}`).join('\n') },
  ]);
  cli.version(version);
  return cli;
}
