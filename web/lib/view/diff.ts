/**
 * A unified diff as rows for the screen, with line numbers and with the words marked that differ between a line and the one that replaces
 * it. The text comes from the daemon; what is not a diff line is shown as it is.
 */

export interface DiffMark {
  readonly text: string;
  readonly changed: boolean;
}

export type DiffRow =
  | { readonly type: 'hunk'; readonly text: string }
  | { readonly type: 'note'; readonly text: string }
  | {
      readonly type: 'context' | 'added' | 'removed';
      readonly before: number | null;
      readonly after: number | null;
      readonly marks: readonly DiffMark[];
    };

/** Longer lines are machine-made; finding their words costs more than it tells. */
const maxMarkedLine = 600;

/** Words of what was removed times words of what was added at one place: some milliseconds. Beyond, much was written anew and marks tell little. */
const maxComparisons = 1_000_000;

/** Lines that share less than this do not follow from each other. */
const leastSimilar = 1 / 3;

export function diffRows(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let before = 0;
  let after = 0;
  /** Lines that the header of the hunk still announces: only within them are + and - signs of a change. */
  let leftBefore = 0;
  let leftAfter = 0;
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    rows.push(...changeRows(removed, added, before - removed.length, after - added.length));
    removed = [];
    added = [];
  };
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk !== null && leftBefore <= 0 && leftAfter <= 0) {
      flush();
      before = Number(hunk[1]);
      after = Number(hunk[3]);
      leftBefore = Number(hunk[2] ?? 1);
      leftAfter = Number(hunk[4] ?? 1);
      rows.push({ type: 'hunk', text: line });
    } else if (line.startsWith('\\')) {
      flush();
      rows.push({ type: 'note', text: line.slice(1).trim() });
    } else if (leftBefore <= 0 && leftAfter <= 0) {
      // The head of the file: its name stands above the rows.
    } else if (line.startsWith('-')) {
      if (added.length > 0) flush();
      removed.push(line.slice(1));
      before++;
      leftBefore--;
    } else if (line.startsWith('+')) {
      added.push(line.slice(1));
      after++;
      leftAfter--;
    } else {
      flush();
      const marks = [{ text: line.slice(1), changed: false }];
      rows.push({ type: 'context', before: before++, after: after++, marks });
      leftBefore--;
      leftAfter--;
    }
  }
  flush();
  return rows;
}

/** Lines taken out and put in at one place. Each is compared with its counterpart, where it has one. */
function changeRows(removed: readonly string[], added: readonly string[], before: number, after: number): DiffRow[] {
  const pairs = counterparts(removed, added);
  const plain = (text: string): DiffMark[] => [{ text, changed: false }];
  return [
    ...removed.map((line, index): DiffRow => ({
      type: 'removed',
      before: before + index,
      after: null,
      marks: pairs.find((pair) => pair.removed === index)?.marks.removed ?? plain(line),
    })),
    ...added.map((line, index): DiffRow => ({
      type: 'added',
      before: null,
      after: after + index,
      marks: pairs.find((pair) => pair.added === index)?.marks.added ?? plain(line),
    })),
  ];
}

interface Pair {
  /** Places among the lines. */
  readonly removed: number;
  readonly added: number;
  readonly marks: Comparison;
}

/** Which line became which: those pairs, in order and without crossing, that are most similar together. */
function counterparts(removed: readonly string[], added: readonly string[]): Pair[] {
  const before = removed.map(wordsOf);
  const after = added.map(wordsOf);
  const count = (lines: readonly string[][]): number => lines.reduce((sum, words) => sum + words.length, 0);
  if (count(before) * count(after) > maxComparisons) return [];
  const compared = before.map((words) => after.map((others) => compare(words, others)));
  /** `best[r][a]`: the similarity that the lines from r and from a on can reach. */
  const best = longest(removed.length, added.length, (r, a) => compared[r]?.[a]?.similarity ?? 0);
  const pairs: Pair[] = [];
  for (let r = 0, a = 0; r < removed.length && a < added.length;) {
    const marks = compared[r]?.[a] ?? null;
    if (marks !== null && at(best, r, a) === at(best, r + 1, a + 1) + marks.similarity)
      pairs.push({ removed: r++, added: a++, marks });
    else if (at(best, r + 1, a) >= at(best, r, a + 1)) r++;
    else a++;
  }
  return pairs;
}

interface Comparison {
  /** Up to 1: the share of the longer line that stands in the other one too. */
  readonly similarity: number;
  readonly removed: readonly DiffMark[];
  readonly added: readonly DiffMark[];
}

/** Null where the lines have too little in common for marks to help. */
function compare(removed: readonly string[], added: readonly string[]): Comparison | null {
  const best = longest(removed.length, added.length, (r, a) => (removed[r] === added[a] ? lettersOf(removed[r]) : 0));
  const letters = (words: readonly string[]): number => words.reduce((sum, word) => sum + lettersOf(word), 0);
  const similarity = at(best, 0, 0) / Math.max(letters(removed), letters(added), 1);
  if (similarity < leastSimilar) return null;
  const marks = { removed: [] as DiffMark[], added: [] as DiffMark[] };
  let r = 0;
  let a = 0;
  while (r < removed.length || a < added.length) {
    if (r < removed.length && removed[r] === added[a]) {
      mark(marks.removed, removed[r++] ?? '', false);
      mark(marks.added, added[a++] ?? '', false);
    } else if (a === added.length || (r < removed.length && at(best, r + 1, a) >= at(best, r, a + 1)))
      mark(marks.removed, removed[r++] ?? '', true);
    else mark(marks.added, added[a++] ?? '', true);
  }
  return { similarity, ...marks };
}

/** Words, runs of space, and every other sign by itself. A line that is too long for marks is one word. */
function wordsOf(line: string): string[] {
  return line.length > maxMarkedLine ? [line] : (line.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? []);
}

/** Space that both lines hold is no change, and hardly makes them similar. */
function lettersOf(word = ''): number {
  return word.trim().length || 0.01;
}

function mark(marks: DiffMark[], text: string, changed: boolean): void {
  const last = marks.at(-1);
  if (last?.changed === changed) marks[marks.length - 1] = { text: last.text + text, changed };
  else marks.push({ text, changed });
}

/** `[x][y]`: the most that pairs from x and from y on are worth together, none of which crosses another. */
function longest(width: number, height: number, worth: (x: number, y: number) => number): Float64Array[] {
  const best = Array.from({ length: width + 1 }, () => new Float64Array(height + 1));
  for (let x = width - 1; x >= 0; x--)
    for (let y = height - 1; y >= 0; y--) {
      const worthHere = worth(x, y);
      const paired = worthHere === 0 ? 0 : worthHere + at(best, x + 1, y + 1);
      (best[x] as Float64Array)[y] = Math.max(paired, at(best, x + 1, y), at(best, x, y + 1));
    }
  return best;
}

function at(best: readonly Float64Array[], x: number, y: number): number {
  return best[x]?.[y] ?? 0;
}
