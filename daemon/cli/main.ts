#!/usr/bin/env node
/**
 * The command line. Reads the arguments and the environment, here and nowhere else. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped
 * by the person.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../base/errors.ts';
import { homeFolder } from '../base/files.ts';
import { commandLine } from './command-line.ts';
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

async function main(): Promise<void> {
  const around = surroundings();
  const cli = commandLine(around.version, () => around);
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
