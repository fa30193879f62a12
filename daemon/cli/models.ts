/** `alcove models [words]`: what can be used now, with window and prices as far as they are known. Fetches the catalogue only where it is told to. */
import type { ModelChoice } from '#protocol/commands/model.ts';
import { systemClock } from '../base/clock.ts';
import { makeOwnerOnlyFolder } from '../base/files.ts';
import { refreshCatalogue } from '../model-access.ts';
import { openDesk } from './desk.ts';
import { inHome } from './home-refusal.ts';
import { endWithReader } from './reader.ts';
import type { Surroundings } from './surroundings.ts';
import { visible } from './visible.ts';

export async function models(
  around: Surroundings,
  words: readonly string[],
  options: { all?: boolean; json?: boolean; refresh?: boolean | string },
): Promise<number> {
  endWithReader();
  if (options.refresh !== undefined && options.refresh !== false) {
    await inHome(around.home, makeOwnerOnlyFolder(around.home));
    const address = typeof options.refresh === 'string' ? options.refresh : null;
    const { models: count, from } = await inHome(around.home, refreshCatalogue(around.home, address, systemClock));
    process.stderr.write(
      `The catalogue is new: ${count} ${count === 1 ? 'model' : 'models'} of the known vendors, from ${from}.\n`,
    );
  }
  const desk = await openDesk(around, false);
  try {
    const { models: all, default: chosen } = await desk.models();
    const search = words.join(' ').trim();
    const found = search === '' ? all.filter((one) => one.shortlisted || options.all === true) : matching(search, all);
    if (options.json === true) {
      process.stdout.write(`${JSON.stringify({ models: found, default: chosen }, null, 2)}\n`);
      return 0;
    }
    if (found.length === 0) {
      process.stderr.write(visible(`No model matches “${search}”. See them all with: alcove models --all\n`));
      return 1;
    }
    const width = Math.min(52, Math.max(...found.map(({ name }) => name.length)));
    for (const one of found) process.stdout.write(visible(`${lineOf(one, width, one.name === chosen)}\n`));
    const rest = all.length - found.length;
    if (search === '' && rest > 0)
      process.stdout.write(`\n${rest} more: alcove models --all, or alcove models WORDS\n`);
    process.stdout.write('\n* is what new sessions take. Prices are US dollars for a million tokens, in and out.\n');
    return 0;
  } finally {
    await desk.close();
  }
}

function lineOf(one: ModelChoice, width: number, chosen: boolean): string {
  const window = one.contextWindow === null ? 'window unknown' : `${thousands(one.contextWindow)} window`;
  const reason = one.available ? '' : `  not available: ${one.reason ?? ''}`;
  return `${chosen ? '*' : ' '} ${one.name.padEnd(width)}  ${window.padEnd(14)}  ${priceOf(one)}${reason}`;
}

/** "unknown" is not "free". */
function priceOf({ price }: ModelChoice): string {
  const { input, output } = price ?? { input: null, output: null };
  if (input === null && output === null) return 'price unknown';
  if (input === 0 && output === 0) return 'free';
  return `${dollars(input)} in, ${dollars(output)} out`;
}

function dollars(amount: number | null): string {
  return amount === null ? 'unknown' : `$${Number(amount.toFixed(4))}`;
}

function thousands(tokens: number): string {
  return tokens >= 1_000_000 ? `${Number((tokens / 1_000_000).toFixed(1))}M` : `${Math.round(tokens / 1000)}k`;
}

/** Each word stands in the name, whole or as letters in this order; whole ones first. */
function matching(search: string, all: readonly ModelChoice[]): ModelChoice[] {
  const words = search.toLowerCase().split(/\s+/);
  return all
    .map((one) => ({ one, score: scoreOf(words, `${one.name} ${one.label} ${one.providerLabel}`.toLowerCase()) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ one }) => one);
}

function scoreOf(words: readonly string[], text: string): number {
  let sum = 0;
  for (const word of words) {
    if (text.includes(word)) sum += 2;
    else if (word.length > 2 && inOrder(word, text.split(' ')[0] ?? '')) sum += 1;
    else return 0;
  }
  return sum;
}

function inOrder(letters: string, text: string): boolean {
  let place = 0;
  for (const letter of text) if (letter === letters[place]) place += 1;
  return place === letters.length;
}
