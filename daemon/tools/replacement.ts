/**
 * A batch of text replacements on the bytes of a file: all or nothing, pure.
 *
 * R1 Every edit is located in the original, exactly once unless it asks for all places; a missing, ambiguous or overlapping one rejects the batch.
 * R2 New text is literal: `$&` and `$$` are text (trap C09).
 * R3 Line ends and a byte order mark are not compared, and the file's own are kept: what stays equal keeps its bytes, new line ends take
 *    the form of those around them (trap C08).
 * R4 Bytes outside the replaced text stay, valid UTF-8 or not: the file is handled as bytes (as a latin1 string, one character a byte).
 */
import { maxEditFileBytes } from '../base/limits.ts';
import { describeNearest } from './nearest.ts';

export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  readonly everywhere: boolean;
}

export type Replacement = { ok: true; bytes: Buffer; places: number } | { ok: false; problem: string };

export function replaceTexts(file: Uint8Array, edits: readonly TextEdit[]): Replacement {
  if (file.includes(0)) return refuse('The file holds NUL bytes, so it is not text that can be edited.');
  const original = new Original(file);
  const finds = edits.map((edit, index) =>
    find(original, edit, `Edit ${index + 1}${edits.length > 1 ? ` of ${edits.length}` : ''}`),
  );
  const problems = finds.flatMap((found) => (typeof found === 'string' ? [found] : []));
  if (problems.length > 0) return refuse(problems.slice(0, 3).join('\n\n'));
  const places = finds.flatMap((found) => (typeof found === 'string' ? [] : found)).sort((a, b) => a.start - b.start);
  for (const [index, place] of places.entries()) {
    const before = places[index - 1];
    if (before !== undefined && place.start < before.end) {
      return refuse(
        `${place.name} overlaps ${before.name.toLowerCase()} in line ${original.lineAt(place.start)}: make one edit of the two.`,
      );
    }
  }
  const bytes = original.with(places);
  if (bytes.equals(file)) return refuse('Nothing would change: oldText and newText are the same but for line ends.');
  if (bytes.length > maxEditFileBytes)
    return refuse(`The file would grow beyond ${maxEditFileBytes / 1024 / 1024} MiB, the limit of this tool.`);
  return { ok: true, bytes, places: places.length };
}

function refuse(problem: string): Replacement {
  return { ok: false, problem };
}

/** Offsets are those of the compared text. */
interface Found {
  name: string;
  start: number;
  end: number;
  /** As compared; `given` is what to write where the file has no line end to follow. */
  old: string;
  new: string;
  given: string;
}

function find(original: Original, edit: TextEdit, name: string): Found[] | string {
  const old = compared(withoutMark(edit.oldText));
  if (old === '')
    return `${name}: oldText is empty. Give the text to replace; a new file, or a whole one, is made by write.`;
  if (edit.newText.includes('\0')) return `${name}: newText holds a NUL character, which would make the file binary.`;
  const starts = original.placesOf(old, edit.everywhere);
  if (starts.length === 0) {
    return `${name}: oldText was not found. ${describeNearest(original.decoded(), edit.oldText.replaceAll('\r\n', '\n'))}`;
  }
  if (starts.length > 1 && !edit.everywhere) {
    const lines = starts.slice(0, 5).map((start) => original.lineAt(start));
    return (
      `${name}: oldText is there ${starts.length} times (lines ${lines.join(', ')}${starts.length > 5 ? ', …' : ''}). ` +
      'Add lines around it until it is the only one, or set replaceAll.'
    );
  }
  return starts.map((start) => {
    const given = bytesOf(start === 0 ? withoutMark(edit.newText) : edit.newText);
    return { name, start, end: start + old.length, old, new: given.replaceAll('\r\n', '\n'), given };
  });
}

const byteOrderMark = '\u00ef\u00bb\u00bf';

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function compared(text: string): string {
  return bytesOf(text).replaceAll('\r\n', '\n');
}

/** The file in two forms: as it is, and as compared (no mark, CRLF as LF), with the way from the second to the first. */
class Original {
  readonly #mark: string;
  readonly #text: string;
  readonly #compared: string;
  /** Where in the compared text a line feed had a carriage return before it; ascending. */
  readonly #returns: readonly number[];
  /** Line feeds of the compared text; only found when new text brings some. */
  #feeds: readonly number[] | undefined;

  constructor(file: Uint8Array) {
    const all = Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString('latin1');
    this.#mark = all.startsWith(byteOrderMark) ? byteOrderMark : '';
    this.#text = all.slice(this.#mark.length);
    this.#compared = this.#text.replaceAll('\r\n', '\n');
    this.#returns = positionsOf('\r\n', this.#text).map((at, before) => at - before);
  }

  /** All places, overlapping ones too, unless they are to be replaced one after the other. */
  placesOf(old: string, apart: boolean): number[] {
    const places: number[] = [];
    for (
      let at = this.#compared.indexOf(old);
      at !== -1;
      at = this.#compared.indexOf(old, at + (apart ? old.length : 1))
    )
      places.push(at);
    return places;
  }

  lineAt(offset: number): number {
    let line = 1;
    for (let at = this.#compared.indexOf('\n'); at !== -1 && at < offset; at = this.#compared.indexOf('\n', at + 1))
      line++;
    return line;
  }

  decoded(): string {
    return Buffer.from(this.#compared, 'latin1').toString('utf8');
  }

  with(places: readonly Found[]): Buffer {
    const pieces = [this.#mark];
    let from = 0;
    for (const place of places) {
      const core = coreOf(place);
      pieces.push(
        this.#text.slice(from, this.#toText(core.start)),
        this.#withLineEnds(place, core.text, core.givenText),
      );
      from = this.#toText(core.end);
    }
    pieces.push(this.#text.slice(from));
    return Buffer.from(pieces.join(''), 'latin1');
  }

  #withLineEnds(place: Found, text: string, given: string | null): string {
    if (!text.includes('\n')) return text;
    const end = this.#lineEndNear(place);
    if (end === null) return given ?? text;
    return end === '\n' ? text : text.replaceAll('\n', '\r\n');
  }

  /** The first within the replaced text, else the one before it, else the one behind it. */
  #lineEndNear(place: Found): '\n' | '\r\n' | null {
    this.#feeds ??= positionsOf('\n', this.#compared);
    const next = countBelow(this.#feeds, place.start);
    const within = (this.#feeds[next] ?? Infinity) < place.end;
    const at = (within ? undefined : this.#feeds[next - 1]) ?? this.#feeds[next];
    if (at === undefined) return null;
    return this.#returns[countBelow(this.#returns, at)] === at ? '\r\n' : '\n';
  }

  #toText(offset: number): number {
    return offset + countBelow(this.#returns, offset);
  }
}

function positionsOf(part: string, text: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) positions.push(at);
  return positions;
}

/** How many of the ascending numbers are below the limit: also the index of the first that is not. */
function countBelow(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What really differs: the common start and end of old and new keep the file's bytes, its line ends among them. */
function coreOf(place: Found): { start: number; end: number; text: string; givenText: string | null } {
  const shorter = Math.min(place.old.length, place.new.length);
  let head = 0;
  while (head < shorter && place.old.charCodeAt(head) === place.new.charCodeAt(head)) head++;
  let tail = 0;
  while (
    tail < shorter - head &&
    place.old.charCodeAt(place.old.length - 1 - tail) === place.new.charCodeAt(place.new.length - 1 - tail)
  ) {
    tail++;
  }
  // A text without any line end has equal offsets in both forms, so the given form can be cut by them.
  const plain = !place.old.includes('\n');
  return {
    start: place.start + head,
    end: place.end - tail,
    text: place.new.slice(head, place.new.length - tail),
    givenText: plain ? place.given.slice(head, place.given.length - tail) : null,
  };
}
