/**
 * What a model needs to mend an edit whose old text was not found: the lines of the file that come closest, with their numbers, and in
 * what they differ (line-difference.ts). Bounded work: it runs on failure only, over files of at most the edit limit.
 */
import { difference } from './line-difference.ts';

/** One or more sentences; never throws. Both texts have LF line ends. `called` is what the wanted text is to the model. */
export function describeNearest(file: string, wanted: string, called = 'oldText'): string {
  if (file === '') return 'The file is empty.';
  const wantedLines = linesOf(wanted);
  if (wantedLines.every((line) => /^\s*\d+\t/.test(line))) {
    return 'It seems to hold the line numbers that read puts before each line: leave those out.';
  }
  const escaped = unescaped(wanted);
  if (escaped !== null && file.includes(escaped))
    return `It was escaped twice: ${called} has \\n, \\t or \\" as two characters where the file has one. Give it as it stands in the file.`;
  if (file.includes('\r') && !file.includes('\n') && wantedLines.length > 1)
    return 'The lines of the file end with a carriage return alone (\\r), so all of it is one line: give \\r where its lines end.';
  const lines = linesOf(file);
  const start = nearestStart(lines, wantedLines);
  if (start === null) return 'No line of the file comes close to it; read the file again.';
  const window = lines.slice(start, start + wantedLines.length + 1);
  return `${difference(window, wantedLines, start + 1, called)} Nearest text:\n${numbered(window.slice(0, wantedLines.length), start)}`;
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

/** More lines than this tell nothing new about where a text belongs. */
const comparedLines = 40;
/** Bounds the slower comparison of parts of lines. */
const comparedCharacters = 160;
const shownLines = 20;

/**
 * The places where most lines are equal (spaces at both ends aside), and those where the most telling line has its like; of these the one whose lines
 * are most alike altogether. A lone bracket is equal everywhere, and tells nothing.
 */
function nearestStart(lines: string[], wanted: string[]): number | null {
  const trimmed = lines.map((line) => line.trim());
  const wantedTrimmed = wanted.slice(0, comparedLines).map((line) => line.trim());
  const equal = new Best();
  for (let start = 0; start < lines.length; start++) {
    let score = 0;
    for (const [offset, line] of wantedTrimmed.entries()) {
      if (line !== '' && trimmed[start + offset] === line) score += Math.min(line.length, comparedCharacters);
    }
    equal.add(start, score);
  }
  const telling = wantedTrimmed.reduce(
    (longest, line, index) => (line.length > (wantedTrimmed[longest] as string).length ? index : longest),
    0,
  );
  const likeness = likenessTo(wantedTrimmed[telling] as string);
  const alike = new Best();
  for (const [index, line] of trimmed.entries()) {
    const score = likeness(line);
    if (score >= leastLikeness) alike.add(Math.max(0, index - telling), score);
  }
  const likenesses = wantedTrimmed.map(likenessTo);
  const whole = new Best();
  // A line too many or too few moves what is equal behind it.
  const starts = [...equal.starts, ...alike.starts].flatMap((start) => [start, start + 1, start - 1]);
  for (const start of new Set(starts))
    if (start >= 0) whole.add(start, alikeFrom(start, trimmed, wantedTrimmed, likenesses));
  return whole.starts[0] ?? null;
}

/** How much of what is wanted the lines from a start on have: where one of the two has a line that the other has not, that is passed over. */
function alikeFrom(
  start: number,
  lines: readonly string[],
  wanted: readonly string[],
  likenesses: readonly ((line: string) => number)[],
): number {
  let score = 0;
  for (let [at, index] = [start, 0]; index < wanted.length; at++, index++) {
    const [there, here] = [lines[at] ?? '', wanted[index] as string];
    // Not before the first: that is where it would begin.
    if (index > 0 && there !== here && here !== '' && lines[at + 1] === here) at++;
    else if (there !== here && there !== '' && wanted[index + 1] === there) index++;
    // Empty lines weigh nothing else; of two places that are as near the one with all of them is meant.
    if (lines[at] === wanted[index]) score += 1;
    score +=
      (likenesses[index]?.(lines[at] ?? '') ?? 0) * Math.min((wanted[index] as string).length, comparedCharacters);
  }
  return score;
}

/** What two lines must have in common to be taken for the same line, changed. */
const leastLikeness = 0.4;

/** The few starts with the highest scores above zero, the highest first, of equal ones the earlier. */
class Best {
  readonly #found: { start: number; score: number }[] = [];

  get starts(): number[] {
    return this.#found.map(({ start }) => start);
  }

  add(start: number, score: number): void {
    if (score <= 0) return;
    const at = this.#found.findIndex((one) => one.score < score);
    if (at === -1 && this.#found.length >= candidates) return;
    this.#found.splice(at === -1 ? this.#found.length : at, 0, { start, score });
    if (this.#found.length > candidates) this.#found.pop();
  }
}

const candidates = 8;

/** Dice coefficient over pairs of characters: 1 for equal lines, 0 for lines with nothing in common. */
function likenessTo(wanted: string): (line: string) => number {
  const [places, counts] = [new Map<number, number>(), [] as number[]];
  for (const pair of pairsOf(wanted)) {
    const place = places.get(pair) ?? counts.length;
    places.set(pair, place);
    counts[place] = (counts[place] ?? 0) + 1;
  }
  const all = counts.reduce((sum, count) => sum + count, 0);
  const left = new Int32Array(counts.length);
  return (line) => {
    left.set(counts);
    const pairs = pairsOf(line);
    let shared = 0;
    for (const pair of pairs) {
      const place = places.get(pair);
      if (place === undefined || left[place] === 0) continue;
      left[place] = (left[place] as number) - 1;
      shared++;
    }
    return all + pairs.length === 0 ? 0 : (2 * shared) / (all + pairs.length);
  };
}

function pairsOf(line: string): number[] {
  const text = line.slice(0, comparedCharacters).normalize('NFC').toLowerCase();
  const pairs: number[] = [];
  for (let at = 0; at + 1 < text.length; at++) pairs.push((text.charCodeAt(at) << 16) | text.charCodeAt(at + 1));
  return pairs;
}

function numbered(lines: string[], start: number): string {
  const shown = lines.slice(0, shownLines).map((line, index) => {
    const text = line.length > 400 ? `${line.slice(0, 400)}…` : line;
    return `${start + index + 1}\t${text}`;
  });
  if (lines.length > shownLines) shown.push('…');
  return shown.join('\n');
}

/** Null where nothing in it is escaped. */
function unescaped(text: string): string | null {
  if (!/\\[nrt"'\\]/.test(text)) return null;
  return text.replace(/\\([nrt"'\\])/g, (_, sign: string) => ({ n: '\n', r: '', t: '\t' })[sign] ?? sign);
}
