/**
 * The hunks of a patch put into the bytes of one file: all or none, pure.
 *
 * P1 Every hunk is located in the file as it is: exactly, else but for spaces at the ends of lines, else but for spaces around them, else with
 *    typographic signs read as plain ones. The first of these that finds it counts.
 * P2 Hunks that are in more than one place are decided by what stands above them (`@@`) and by their order, and refused where that leaves
 *    a choice.
 * P3 Only lines with `-` and `+` change: every other line keeps its bytes, as do the byte order mark and the line ends; new lines end as those
 *    around them, and the file ends with a newline afterwards if it did before.
 */
import { describeNearest } from './nearest.ts';
import type { Hunk, HunkLine } from './patch-text.ts';

export type Patched = { ok: true; bytes: Buffer } | { ok: false; problem: string };

export function applyHunks(file: Uint8Array, hunks: readonly Hunk[]): Patched {
  if (file.includes(0))
    return { ok: false, problem: 'The file holds NUL bytes, so it is not text that can be patched.' };
  const lines = new FileLines(file);
  const finds = hunks.map((hunk) => placesOf(lines, hunk));
  const missing = finds.findIndex((places) => places.length === 0);
  const nameOf = (index: number) => (hunks.length === 1 ? 'Its hunk' : `Hunk ${index + 1} of ${hunks.length}`);
  if (missing !== -1) return { ok: false, problem: `${nameOf(missing)} ${whyMissing(lines, hunks[missing] as Hunk)}` };
  const chosen = choose(finds);
  if (typeof chosen === 'number') {
    const starts = (finds[chosen] ?? []).slice(0, 5).map((place) => place.start + 1);
    const problem =
      starts.length > 1
        ? `fits in several places (from lines ${starts.join(', ')}${(finds[chosen]?.length ?? 0) > 5 ? ', …' : ''}). Add unchanged lines around it, or "@@" with a line above it, until it is the only one.`
        : `fits only from line ${starts[0]}, which overlaps another hunk or is out of order: make one hunk of the two.`;
    return { ok: false, problem: `${nameOf(chosen)} ${problem}` };
  }
  return { ok: true, bytes: lines.with(chosen.toSorted((a, b) => a.start - b.start)) };
}

/** Where a hunk fits: its old lines are those from `start` on. */
interface Fit {
  readonly start: number;
  readonly length: number;
  readonly lines: readonly HunkLine[];
}

interface FileLine {
  /** One character a byte, without its end. */
  readonly bytes: string;
  readonly end: '' | '\n' | '\r\n';
}

const byteOrderMark = '\u00ef\u00bb\u00bf';

class FileLines {
  readonly #mark: string;
  readonly #lines: readonly FileLine[];
  readonly #folded = new Map<Fold, readonly string[]>();

  constructor(file: Uint8Array) {
    const all = Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString('latin1');
    this.#mark = all.startsWith(byteOrderMark) ? byteOrderMark : '';
    const parts = all.slice(this.#mark.length).split('\n');
    const last = parts.pop() ?? '';
    const lines = parts.map((part): FileLine =>
      part.endsWith('\r') ? { bytes: part.slice(0, -1), end: '\r\n' } : { bytes: part, end: '\n' },
    );
    this.#lines = last === '' ? lines : [...lines, { bytes: last, end: '' }];
  }

  get count(): number {
    return this.#lines.length;
  }

  text(): string {
    return this.#lines.map((line) => decoded(line.bytes)).join('\n');
  }

  /** All lines in the form in which they are compared; made once for each form. */
  as(fold: Fold): readonly string[] {
    let made = this.#folded.get(fold);
    if (made === undefined) {
      made = this.#lines.map((line) => fold.ofFile(line.bytes));
      this.#folded.set(fold, made);
    }
    return made;
  }

  /** `fits` ascend and do not overlap. */
  with(fits: readonly Fit[]): Buffer {
    const result: FileLine[] = [];
    let from = 0;
    for (const fit of fits) {
      for (; from < fit.start; from += 1) result.push(this.#lines[from] as FileLine);
      for (const line of fit.lines) {
        if (line.sign === '+') result.push({ bytes: bytesOf(line.text), end: this.#endNear(from) });
        else if (line.sign === ' ') result.push(this.#lines[from++] as FileLine);
        else from += 1;
      }
    }
    for (; from < this.#lines.length; from += 1) result.push(this.#lines[from] as FileLine);
    return Buffer.from(this.#mark + this.#joined(result), 'latin1');
  }

  /** An end is missing of the file's last line alone: of what is last now it stays so, within the file it is given one. */
  #joined(lines: readonly FileLine[]): string {
    const open = this.#lines.at(-1)?.end === '';
    const texts = lines.map((line, index) => {
      if (index === lines.length - 1) return open ? line.bytes : line.bytes + line.end;
      return line.bytes + (line.end === '' ? this.#endNear(this.#lines.length - 1) : line.end);
    });
    return texts.join('');
  }

  /** Of the line before, else of the next that has one. */
  #endNear(at: number): '\n' | '\r\n' {
    for (const line of [this.#lines[at - 1], this.#lines[at], this.#lines[0]]) {
      if (line !== undefined && line.end !== '') return line.end;
    }
    return '\n';
  }
}

function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function decoded(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** A form in which lines are compared. */
interface Fold {
  ofFile(bytes: string): string;
  ofPatch(text: string): string;
}

function foldOf(fold: (text: string) => string): Fold {
  return { ofFile: (bytes) => fold(decoded(bytes)), ofPatch: fold };
}

const exactly: Fold = { ofFile: (bytes) => bytes, ofPatch: bytesOf };
const folds: readonly Fold[] = [
  exactly,
  foldOf((text) => text.trimEnd()),
  foldOf((text) => text.trim()),
  foldOf((text) =>
    text
      .trim()
      .replace(/[‐‑‒–—―−]/g, '-')
      .replace(/[‘’‚‛]/g, "'")
      .replace(/[“”„‟]/g, '"')
      .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' '),
  ),
];

/** All places that the hunk's own lines and what it names above them allow, ascending; of the strictest comparison that finds any. */
function placesOf(file: FileLines, hunk: Hunk): readonly Fit[] {
  for (const lines of formsOf(hunk.lines)) {
    const old = lines.filter((line) => line.sign !== '+').map((line) => line.text);
    for (const fold of folds) {
      const starts = startsOf(file, old, fold, hunk);
      if (starts.length > 0) return starts.map((start) => ({ start, length: old.length, lines }));
    }
  }
  return [];
}

/** As given, and without empty lines at its end that had no sign: they may be space in the patch, and not lines of the file. */
function formsOf(lines: readonly HunkLine[]): readonly (readonly HunkLine[])[] {
  const shorter = lines.slice(0, lines.findLastIndex((line) => line.bare !== true) + 1);
  if (shorter.length === lines.length) return [lines];
  // An empty line alone says nothing about where the new ones belong.
  return shorter.every((line) => line.sign === '+') ? [shorter] : [lines, shorter];
}

function startsOf(file: FileLines, old: readonly string[], fold: Fold, hunk: Hunk): readonly number[] {
  const below = anchored(file, hunk.anchors);
  if (below === null) return [];
  // Lines that only come new stand below what is named above them, or else at the end.
  if (old.length === 0) return hunk.anchors.length > 0 && !hunk.atEnd ? below : [file.count];
  const lines = file.as(fold);
  const wanted = old.map((text) => fold.ofPatch(text));
  const fits: number[] = [];
  for (
    let start = hunk.atEnd ? Math.max(0, lines.length - wanted.length) : 0;
    start + wanted.length <= lines.length;
    start++
  ) {
    if (wanted.every((text, offset) => lines[start + offset] === text)) fits.push(start);
  }
  if (hunk.anchors.length === 0) return fits;
  // Of each place that the anchors may mean, the next fit below it.
  const next = below.flatMap((from) => fits.find((start) => start >= from) ?? []);
  return [...new Set(next)].toSorted((a, b) => a - b);
}

/** Lines from which on the hunk may stand: below each place where the last anchor is found below those before it. Null: one of them is nowhere. */
function anchored(file: FileLines, anchors: readonly string[]): readonly number[] | null {
  let earliest = 0;
  let below: number[] = [];
  for (const anchor of anchors) {
    below =
      anchorForms
        .map(({ fold, same }) => {
          const wanted = fold.ofPatch(anchor);
          return file.as(fold).flatMap((line, index) => (index >= earliest && same(line, wanted) ? [index + 1] : []));
        })
        .find((found) => found.length > 0) ?? [];
    if (below.length === 0) return null;
    earliest = below[0] as number;
  }
  return below;
}

const equal = (line: string, wanted: string) => line === wanted;
/** The whole line, or only how it begins: models shorten the line that they name. */
const anchorForms = [
  ...folds.map((fold) => ({ fold, same: equal })),
  { fold: folds[2] as Fold, same: (line: string, wanted: string) => line.startsWith(wanted) },
];

/**
 * One place for each hunk, or the number of one that is left a choice or has no room. Taken in the patch's order, as far up as possible
 * and as far down as possible: where both are the same, there is only one way.
 */
function choose(finds: readonly (readonly Fit[])[]): Fit[] | number {
  const up: Fit[] = [];
  let from = 0;
  for (const fits of finds) {
    const fit = fits.find((one) => one.start >= from);
    if (fit === undefined) break;
    up.push(fit);
    from = fit.start + fit.length;
  }
  if (up.length < finds.length) return inAnyOrder(finds, up.length);
  let until = Infinity;
  for (let index = finds.length - 1; index >= 0; index -= 1) {
    const limit = until;
    const fit = finds[index]?.findLast((one) => one.start + one.length <= limit);
    if (fit !== up[index]) return index;
    until = fit?.start ?? 0;
  }
  return up;
}

/** Not in the file's order, but each in the one place it has. */
function inAnyOrder(finds: readonly (readonly Fit[])[], stuck: number): Fit[] | number {
  const several = finds.findIndex((fits) => fits.length > 1);
  if (several !== -1) return several;
  const all = finds.flatMap((fits) => fits[0] ?? []);
  const sorted = all.toSorted((a, b) => a.start - b.start);
  const clash = sorted.some((fit, index) => {
    const next = sorted[index + 1];
    return next !== undefined && fit.start + fit.length > next.start;
  });
  return clash ? stuck : all;
}

function whyMissing(file: FileLines, hunk: Hunk): string {
  for (let count = 1; count <= hunk.anchors.length; count += 1) {
    if (anchored(file, hunk.anchors.slice(0, count)) === null) {
      const anchor = hunk.anchors[count - 1] as string;
      return `names a line after "@@" that is not there: ${JSON.stringify(anchor)}. ${describeNearest(file.text(), anchor, 'it')}`;
    }
  }
  const old = hunk.lines.filter((line) => line.sign !== '+').map((line) => line.text);
  const free: Hunk = { ...hunk, anchors: [], atEnd: false };
  const elsewhere = placesOf(file, free);
  if (elsewhere.length > 0) {
    const where = hunk.atEnd ? 'not at the end of the file' : 'not below the line that it names after "@@"';
    return `fits from line ${(elsewhere[0] as Fit).start + 1}, but ${where}.`;
  }
  return `was not found: its unchanged and removed lines must be in the file as they are. ${describeNearest(file.text(), old.join('\n'), 'the hunk')}`;
}
