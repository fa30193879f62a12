/**
 * What a model needs to mend an edit whose old text was not found: the lines of the file that come closest, with their numbers, and in
 * what they differ. Bounded work: it runs on failure only, over files of at most the edit limit.
 */

/** One or more sentences; never throws. Both texts have LF line ends. `called` is what the wanted text is to the model. */
export function describeNearest(file: string, wanted: string, called = 'oldText'): string {
  if (file === '') return 'The file is empty.';
  const wantedLines = linesOf(wanted);
  if (wantedLines.every((line) => /^\s*\d+\t/.test(line))) {
    return 'It seems to hold the line numbers that read puts before each line: leave those out.';
  }
  const lines = linesOf(file);
  const start = nearestStart(lines, wantedLines);
  if (start === null) return 'No line of the file comes close to it; read the file again.';
  const window = lines.slice(start, start + wantedLines.length);
  return `${difference(window, wantedLines, start, called)} Nearest text:\n${numbered(window, start)}`;
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

/** First by equal lines (spaces at both ends aside), then by the likeness of its most telling line. */
function nearestStart(lines: string[], wanted: string[]): number | null {
  const trimmed = lines.map((line) => line.trim());
  const wantedTrimmed = wanted.slice(0, comparedLines).map((line) => line.trim());
  let best = { start: 0, score: 0 };
  for (let start = 0; start < lines.length; start++) {
    let score = 0;
    for (const [offset, line] of wantedTrimmed.entries()) {
      if (line !== '' && trimmed[start + offset] === line) score += Math.min(line.length, comparedCharacters);
    }
    if (score > best.score) best = { start, score };
  }
  if (best.score > 0) return best.start;
  const telling = wantedTrimmed.reduce(
    (longest, line, index) => (line.length > (wantedTrimmed[longest] as string).length ? index : longest),
    0,
  );
  const likeness = likenessTo(wantedTrimmed[telling] as string);
  for (const [index, line] of trimmed.entries()) {
    const score = likeness(line);
    if (score > best.score) best = { start: Math.max(0, index - telling), score };
  }
  return best.score >= 0.4 ? best.start : null;
}

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

const forms: readonly { name: string; fold: (text: string) => string }[] = [
  { name: 'spaces at the ends of lines', fold: (text) => text.trimEnd() },
  { name: 'indentation or spaces at the ends of lines', fold: (text) => text.trim() },
  { name: 'spaces', fold: (text) => text.replace(/\s+/g, '') },
  { name: 'the Unicode form of a character (é as one or as two code points)', fold: (text) => text.normalize('NFC') },
  {
    name: 'quotes, dashes or special spaces',
    fold: (text) =>
      text
        .replace(/[‘’‚‛]/g, "'")
        .replace(/[“”„‟]/g, '"')
        .replace(/[‐‑‒–—−]/g, '-')
        .replace(/[\u00a0\u2007\u202f]/g, ' '),
  },
  { name: 'upper and lower case', fold: (text) => text.toLowerCase() },
];

function difference(window: string[], wanted: string[], start: number, called: string): string {
  const only = forms.find(({ fold }) => wanted.every((line, index) => fold(window[index] ?? '') === fold(line)));
  if (only !== undefined && window.length === wanted.length) return `It differs from the file only in ${only.name}.`;
  const index = wanted.findIndex((line, at) => window[at] !== line);
  if (index === -1) return 'Its last line goes on differently in the file.';
  const there = window[index];
  if (there === undefined) return `The file ends before line ${index + 1} of ${called}.`;
  return `Line ${start + index + 1} of the file is ${quoted(there)} where ${called} has ${quoted(wanted[index] as string)}.`;
}

function quoted(line: string): string {
  return JSON.stringify(line.length > comparedCharacters ? `${line.slice(0, comparedCharacters)}…` : line);
}

function numbered(lines: string[], start: number): string {
  const shown = lines.slice(0, shownLines).map((line, index) => {
    const text = line.length > 400 ? `${line.slice(0, 400)}…` : line;
    return `${start + index + 1}\t${text}`;
  });
  if (lines.length > shownLines) shown.push('…');
  return shown.join('\n');
}
