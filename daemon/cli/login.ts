/**
 * `alcove login PROVIDER`, `alcove logout PROVIDER`: a key in and out. The key is read without echo on a terminal, else from standard input; it is
 * never an argument, since those are seen by everybody on the machine and kept by shells. Exit code 0 where it works, 1 where it was refused
 * or could not be tried, 2 where no provider is called so.
 */
import { text as textOf } from 'node:stream/consumers';
import type { Provider } from '#protocol/commands/provider.ts';
import { RequestError } from '#protocol/errors.ts';
import { openDesk } from './desk.ts';
import { endWithReader } from './reader.ts';
import type { Surroundings } from './surroundings.ts';
import { UsageError } from './usage-error.ts';
import { visible } from './visible.ts';

export async function login(around: Surroundings, name: string | undefined, untried: boolean): Promise<number> {
  endWithReader();
  const desk = await openDesk(around, name !== undefined);
  try {
    const providers = await desk.providers();
    if (name === undefined) {
      for (const one of providers) process.stdout.write(visible(`${lineOf(one)}\n`));
      process.stdout.write('\nGive a key with: alcove login PROVIDER\n');
      return 0;
    }
    const row = providers.find((one) => one.name === name);
    if (row?.key.page != null) process.stderr.write(`Keys are made at ${row.key.page}\n`);
    const inForce = row?.key.from ?? null;
    const blank = inForce === null ? '' : ', blank to try the one that is there';
    // One that is not listed is written wrong, or a server that is away: no key helps either, so none is asked for.
    const key =
      row === undefined
        ? ''
        : process.stdin.isTTY
          ? await askSecretly(`Key of ${row.label} (it is not shown${blank}): `)
          : await textOf(process.stdin);
    if (key === null) return 130;
    const end = await named(desk.connect({ provider: name, key: key.trim(), untried }));
    const next =
      end.answer === 'unreachable' && !end.stored
        ? ` It was not kept; to keep it all the same: alcove login ${name} --untried`
        : '';
    const stream = end.answer === 'accepted' ? process.stdout : process.stderr;
    stream.write(visible(`${end.message}${next}\n`));
    if (end.answer === 'accepted')
      process.stdout.write(visible(`${lineOf(end.provider)}\nSee its models with: alcove models ${name}\n`));
    return end.answer === 'accepted' ? 0 : 1;
  } finally {
    await desk.close();
  }
}

export async function logout(around: Surroundings, name: string): Promise<number> {
  const desk = await openDesk(around, true);
  try {
    const { provider } = await named(desk.disconnect(name));
    const still =
      provider.key.from === 'environment' ? ` The key in ${provider.key.variable ?? ''} stays in force.` : '';
    process.stdout.write(`No key of ${provider.label} is kept by Alcove any more.${still}\n`);
    return 0;
  } finally {
    await desk.close();
  }
}

/** A name that no provider has is wrong usage. */
async function named<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RequestError && error.code === 'not_found') throw new UsageError(error.message);
    throw error;
  }
}

function lineOf({ name, label, origin, key, connected, models }: Provider): string {
  const from =
    key.from === 'stored'
      ? 'key kept by Alcove'
      : key.from === 'environment'
        ? `key from ${key.variable ?? 'the environment'}`
        : origin === 'found'
          ? 'runs on this machine'
          : key.needed
            ? `no key (${key.variable ?? 'none'} is not set)`
            : 'needs no key';
  const count = connected ? `${models} ${models === 1 ? 'model' : 'models'}` : 'not connected';
  return `${name.padEnd(12)} ${label.padEnd(16)} ${count.padEnd(14)} ${from}`;
}

/** Null where the person stopped. */
async function askSecretly(question: string): Promise<string | null> {
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.setEncoding('utf8');
  let typed = '';
  try {
    for await (const piece of stdin as AsyncIterable<string>) {
      for (const one of piece) {
        if (one === '\r' || one === '\n' || one === '\u0004') return typed;
        if (one === '\u0003') return null;
        if (one === '\u007f' || one === '\b') typed = typed.slice(0, -1);
        else if (one === '\u0015') typed = '';
        else if (one >= ' ') typed += one;
      }
    }
    throw new UsageError('The terminal ended before a key was given.');
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}
