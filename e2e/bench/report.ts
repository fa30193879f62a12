/**
 * The results as people read them: a table for each part, as Markdown, with what was left out and why. The same text stands on the screen and
 * between the two marks of docs/performance.md.
 */
import { format } from 'prettier';
import { partNames, rows, type PartName, type Row, type Target, type Unit } from './rows.ts';
import { figureOf, ratioTo, type PartResult, type Results } from './results.ts';

export const tableBegins = '<!-- The bench writes from here: npm run bench -- --write -->';
export const tableEnds = '<!-- to here. -->';

const titles: Readonly<Record<PartName, string>> = {
  headless: 'A task without a person',
  serve: 'The server at rest',
  streaming: 'Replies as they come',
  pixels: 'From a token to the pixel',
  history: 'Opening a long session',
  list: 'The list of sessions',
  load: 'The app in the browser',
  kills: 'Killed in the middle',
  micro: 'Hot paths against their limits',
};

/** In the order of the columns. */
const labels: Readonly<Record<string, string>> = {
  alcove: 'Alcove',
  floor: 'floor',
  direct: 'direct',
  limit: 'limit',
  codex: 'Codex',
  'claude-code': 'Claude Code',
  pi: 'pi',
  opencode: 'opencode',
  qwen: 'Qwen Code',
};

/** With columns that stand under each other, for the screen. */
export async function tablesOf(results: Results): Promise<string> {
  return await format(markdownOf(results), { parser: 'markdown' });
}

/** The page with its table replaced; throws where it has no place for one. */
export function pageWith(page: string, results: Results): string {
  const [begin, end] = [page.indexOf(tableBegins), page.indexOf(tableEnds)];
  if (begin < 0 || end < begin) throw new Error('The page has no place for the table: it lacks the two marks.');
  return `${page.slice(0, begin)}${tableBegins}\n\n${markdownOf(results)}\n${page.slice(end)}`;
}

function markdownOf(results: Results): string {
  const parts = partNames.flatMap((name) => {
    const result = results[name];
    return result === undefined ? [] : [partText(name, result)];
  });
  return parts.join('\n');
}

function partText(part: PartName, result: PartResult): string {
  const shown = rows.filter((row) => row.part === part && result.measured.some(({ id }) => id === row.id));
  const contestants = Object.keys(labels).filter((name) =>
    result.measured.some(({ contestant }) => contestant === name),
  );
  const head = [
    '',
    'target',
    ...contestants.flatMap((name) => [label(name), ...(name === 'alcove' ? ['reached'] : [])]),
  ];
  const lines = shown.map((row) => [
    `${row.words}${unitWords(row.unit)}`,
    row.target === null ? '' : targetWords(row.target, row.unit),
    ...contestants.flatMap((name) => [cell(result, row, name), ...(name === 'alcove' ? [verdict(result, row)] : [])]),
  ]);
  const table = [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return `### ${titles[part]}\n\n${origin(result)}\n\n${table}\n${remarks(result, shown)}`;
}

function origin({ date, machine, runs, quick, versions }: PartResult): string {
  const { processor, cores, memoryGiB, system, node } = machine;
  const taking = Object.keys(labels).flatMap((name) =>
    versions[name] === undefined ? [] : [`${label(name)} ${versions[name]}`],
  );
  return [
    `${date.slice(0, 10)}, ${quick ? 'a quick run, ' : ''}medians of ${runs} (least–most).`,
    `${cores} × ${processor}, ${memoryGiB} GiB, ${system}, Node ${node}.`,
    `${taking.join(', ')}.`,
  ].join(' ');
}

function cell(result: PartResult, row: Row, contestant: string): string {
  const figure = figureOf(result, row.id, contestant);
  if (figure === null) return '–';
  const { median, least, most } = figure;
  const same = least === most;
  return `${numeral(median, row.unit)}${same ? '' : ` (${numeral(least, row.unit)}–${numeral(most, row.unit)})`}`;
}

/** Whether Alcove reaches the target of a row: null where it cannot be said. */
export function reached(result: PartResult, row: Row): { readonly met: boolean; readonly value: number } | null {
  if (row.target === null) return null;
  const { of } = row.target;
  const own = figureOf(result, row.id, 'alcove');
  const value = of === undefined ? own?.median : ratioTo(result, row, 'alcove', of);
  if (value === undefined || value === null) return null;
  return { met: 'most' in row.target ? value <= row.target.most : value >= row.target.least, value };
}

function verdict(result: PartResult, row: Row): string {
  if (row.target === null) return '';
  const found = reached(result, row);
  if (found === null) return 'not compared';
  const value = row.target.of === undefined ? '' : `${trimmed(found.value, 2)} ×, `;
  return `${value}${found.met ? 'yes' : '**no**'}`;
}

function targetWords(target: Target, unit: Unit): string {
  const [sign, bound] = 'most' in target ? ['≤', target.most] : ['≥', target.least];
  if (target.of === undefined) return `${sign} ${numeral(bound, unit)}${unit === 'x' ? ' ×' : ''}`;
  const { contestant, row } = target.of;
  const words = row === undefined ? label(contestant) : (rows.find(({ id }) => id === row)?.words ?? row);
  return `${sign} ${bound} × ${words}`;
}

function remarks(result: PartResult, shown: readonly Row[]): string {
  const notes = shown.flatMap((row) => {
    const told = new Map<string, string[]>();
    for (const { id, contestant, note } of result.measured)
      if (id === row.id && note !== undefined && note !== '')
        told.set(note, [...(told.get(note) ?? []), label(contestant)]);
    const words = [...told].map(([note, names]) => (told.size === 1 ? note : `${names.join(', ')}: ${note}`));
    return words.length === 0 ? [] : [`- ${row.words}: ${words.join('; ')}.`];
  });
  const skipped = result.skipped.map(
    ({ contestant, row, reason }) => `- Left out: ${label(contestant)} in ${row}: ${reason.replace(/\s+/g, ' ')}.`,
  );
  const lines = [...notes, ...skipped];
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n`;
}

function label(contestant: string): string {
  return labels[contestant] ?? contestant;
}

function unitWords(unit: Unit): string {
  switch (unit) {
    case 'x':
    case 'count':
    case 'share':
      return '';
    case 'ms':
    case 's':
    case 'MiB':
    case 'kB':
    case 'bytes':
    case '%':
      return `, ${unit}`;
  }
}

function numeral(value: number, unit: Unit): string {
  switch (unit) {
    case 'bytes':
    case 'count':
      return Math.round(value).toLocaleString('en');
    case 'share':
      return `${Math.round(value * 100)} %`;
    case 'ms':
    case 's':
    case 'MiB':
    case 'kB':
    case '%':
    case 'x':
      return trimmed(value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
  }
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}
