/**
 * A patch as Codex models write it, from text to what it asks for: files to add, delete, update or move, with the hunks of each. Pure; knows
 * no file. Lenient where models commonly err and it is plain what they mean (a heredoc or a fence around it, CRLF, a missing first or last
 * marker, line numbers after `@@`); what is not plain is thrown as a PatchProblem that names the line.
 */

/** A sentence for the model. */
export class PatchProblem extends Error {
  override readonly name = 'PatchProblem';
}

export type FilePatch =
  | { readonly kind: 'add'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly movedTo: string | null;
      readonly hunks: readonly Hunk[];
    };

export interface Hunk {
  /** Lines named after `@@`, outermost first: the hunk lies below them. */
  readonly anchors: readonly string[];
  readonly lines: readonly HunkLine[];
  /** It ends where the file ends. */
  readonly atEnd: boolean;
}

export interface HunkLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
  /** An empty line without its sign: meant as an empty line of the file, or as space before the next hunk. */
  readonly bare?: true;
}

const begin = '*** Begin Patch';
const end = '*** End Patch';
const headers = { add: '*** Add File:', delete: '*** Delete File:', update: '*** Update File:' } as const;
const moveTo = '*** Move to:';
const endOfFile = '*** End of File';

export function parsePatch(text: string): FilePatch[] {
  if (text.includes('\0')) throw new PatchProblem('The patch holds a NUL character, which no text file does.');
  const { lines, first } = bodyOf(text.replace(/^\ufeff/, '').split(/\r?\n/));
  const files = new Reader(lines, first).files();
  if (files.length === 0)
    throw new PatchProblem(`The patch changes nothing: it has no "${headers.update} PATH", Add File or Delete File.`);
  return files;
}

/** What stands between the markers, and the number of its first line. */
function bodyOf(all: readonly string[]): { lines: string[]; first: number } {
  const from = all.findIndex((line) => line.trim() !== '' && !isOpening(line));
  if (from === -1) throw new PatchProblem(`The patch is empty: it begins with "${begin}".`);
  const word = all.slice(0, from).flatMap((line) => heredoc.exec(line.trim())?.[1] ?? [])[0];
  const marked = all[from]?.trim() === begin;
  if (!marked && !isHeader(all[from] ?? ''))
    throw new PatchProblem(`The patch begins with ${quoted(all[from] ?? '')}, but must begin with "${begin}".`);
  const first = marked ? from + 1 : from;
  const closed = all.findIndex((line, index) => index >= first && line.trimEnd() === end);
  if (closed === -1) {
    const lines = all.slice(first);
    while (lines.length > 0 && isClosing(lines.at(-1) ?? '', word)) lines.pop();
    return { lines, first: first + 1 };
  }
  const after = all.slice(closed + 1).find((line) => !isClosing(line, word));
  if (after !== undefined)
    throw new PatchProblem(`After "${end}" stands ${quoted(after)}: put all files into one patch.`);
  return { lines: all.slice(first, closed), first: first + 1 };
}

const heredoc = /^(?:(?:apply_patch|cat)\s*)?<<-?\s*["']?(\w+)["']?$/;
const fence = /^```[\w-]*$/;

function isOpening(line: string): boolean {
  return heredoc.test(line.trim()) || fence.test(line.trim());
}

function isClosing(line: string, word: string | undefined): boolean {
  const trimmed = line.trim();
  return trimmed === '' || trimmed === '```' || trimmed === (word ?? 'EOF');
}

function isHeader(line: string): boolean {
  return Object.values(headers).some((header) => line.startsWith(header));
}

class Reader {
  readonly #lines: readonly string[];
  readonly #first: number;
  #at = 0;

  constructor(lines: readonly string[], first: number) {
    this.#lines = lines;
    this.#first = first;
  }

  files(): FilePatch[] {
    const files: FilePatch[] = [];
    for (;;) {
      while (this.#line?.trim() === '') this.#at += 1;
      const line = this.#line;
      if (line === undefined) return files;
      const path = (header: string) => this.#path(line, header);
      if (line.startsWith(headers.add)) files.push({ kind: 'add', path: path(headers.add), content: this.#content() });
      else if (line.startsWith(headers.delete)) files.push({ kind: 'delete', path: path(headers.delete) });
      else if (line.startsWith(headers.update)) files.push(this.#update(path(headers.update)));
      else throw this.#problem(`a file's header is expected ("${headers.update} PATH", Add File or Delete File)`);
    }
  }

  get #line(): string | undefined {
    return this.#lines[this.#at];
  }

  #path(line: string, header: string): string {
    const path = line.slice(header.length).trim();
    if (path === '') throw this.#problem(`"${header}" names no path`);
    this.#at += 1;
    return path;
  }

  #content(): string {
    const lines: string[] = [];
    let finalNewline = true;
    for (let line = this.#line; line !== undefined && !isHeader(line); line = this.#line) {
      if (line.startsWith('+')) lines.push(line.slice(1));
      else if (line === '') lines.push('');
      else if (isNoNewline(line)) finalNewline = false;
      else if (line.trimEnd() !== endOfFile) throw this.#problem('every line of a new file begins with "+"');
      this.#at += 1;
    }
    // An empty line without its sign is one of the file only where more of the file follows.
    for (let back = this.#at - 1; lines.at(-1) === '' && this.#lines[back] === ''; back -= 1) lines.pop();
    return lines.length === 0 ? '' : lines.join('\n') + (finalNewline ? '\n' : '');
  }

  #update(path: string): FilePatch {
    let movedTo: string | null = null;
    if (this.#line?.startsWith(moveTo) === true) movedTo = this.#path(this.#line, moveTo);
    const hunks: Hunk[] = [];
    for (;;) {
      const line = this.#line;
      if (line === undefined || isHeader(line)) break;
      // Space between two hunks, or before the next file.
      if (line === '' && this.#nothingFollows()) this.#at += 1;
      else hunks.push(this.#hunk());
    }
    if (hunks.length === 0 && movedTo === null)
      throw new PatchProblem(`"${headers.update} ${path}" has no hunk: give "@@" and the lines that change.`);
    return { kind: 'update', path, movedTo, hunks };
  }

  #nothingFollows(): boolean {
    const next = this.#lines.slice(this.#at).find((line) => line !== '');
    return next === undefined || isHeader(next) || next.startsWith('@@');
  }

  #hunk(): Hunk {
    const anchors: string[] = [];
    while (this.#line?.startsWith('@@') === true) {
      const anchor = anchorOf(this.#line);
      if (anchor !== null) anchors.push(anchor);
      this.#at += 1;
    }
    const lines: HunkLine[] = [];
    let atEnd = false;
    for (let line = this.#line; line !== undefined && !isHeader(line); line = this.#line) {
      if (line.startsWith('@@')) break;
      const sign = line[0];
      if (line.trimEnd() === endOfFile) {
        atEnd = true;
        this.#at += 1;
        break;
      }
      if (sign === ' ' || sign === '-' || sign === '+') lines.push({ sign, text: line.slice(1) });
      else if (line === '') lines.push({ sign: ' ', text: '', bare: true });
      else if (!isNoNewline(line))
        throw this.#problem('a line of a hunk begins with a space, "-" or "+"; an unchanged one with a space');
      this.#at += 1;
    }
    if (!lines.some((line) => line.sign !== ' '))
      throw this.#problem('the hunk before this changes nothing: it has no line with "-" or "+"');
    return { anchors, lines, atEnd };
  }

  #problem(expected: string): PatchProblem {
    const line = this.#line;
    const there = line === undefined ? 'at its end' : `in line ${this.#first + this.#at} (${quoted(line)})`;
    return new PatchProblem(`The patch cannot be read ${there}: ${expected}. Nothing was changed.`);
  }
}

/** Unified diffs say so of a last line; here the file's own final newline is kept in any case. */
function isNoNewline(line: string): boolean {
  return line.startsWith('\\ No newline');
}

/** What follows `@@`: a line of the file. The numbers of a unified diff say nothing certain, and what stands behind them is shortened. */
function anchorOf(line: string): string | null {
  if (/^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/.test(line)) return null;
  const text = line.slice(2).replace(/^ /, '');
  return text.trim() === '' ? null : text;
}

function quoted(line: string): string {
  return JSON.stringify(line.length > 120 ? `${line.slice(0, 120)}…` : line);
}
