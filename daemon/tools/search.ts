/**
 * Looking through the files below a folder: what is asked, what is found. There are several ways to do it (ripgrep, our own), and each gives the
 * same answers in the same order: depth first, names by their bytes. Links are not followed; binary files (a NUL anywhere), ignored files
 * and, unless asked for, hidden ones are passed over.
 */
import { maxFoundLineBytes } from '../base/limits.ts';
import type { ToolEnvironment } from './tool.ts';

export interface SearchRequest {
  /** Absolute, judged, without links. */
  readonly folder: string;
  /** The name of the one file in it that is wanted, hidden or ignored as it may be; null for all below. */
  readonly only: string | null;
  /** Of the lines to find, in ripgrep's syntax; null to find files. */
  readonly pattern: string | null;
  readonly ignoreCase: boolean;
  readonly hidden: boolean;
  /** Most lines of one file that are wanted. */
  readonly maxLines: number;
  /** Asked for every file, with its path relative to the folder. */
  wants(path: string): boolean;
}

/** Called for each file, in order; false ends the search. `lines` is empty where files are looked for. */
export type OnFound = (path: string, lines: readonly FoundLine[]) => boolean;

export type SearchEnd =
  | { kind: 'complete' }
  /** By the caller or by the signal. */
  | { kind: 'stopped' }
  /** What is wrong with the pattern, as a sentence. */
  | { kind: 'refused'; problem: string };

export interface Search {
  readonly name: string;
  /** Throws PlaceMoved and system errors of the folder itself. */
  run(request: SearchRequest, environment: ToolEnvironment, signal: AbortSignal, onFound: OnFound): Promise<SearchEnd>;
}

/** A line that matches: as much of it as is shown. */
export interface FoundLine {
  readonly number: number;
  readonly text: string;
}

const bytesBeforeMatch = 100;

/** Where the shown part of a line begins whose first match is at `column`; both in bytes from 0. */
export function windowStart(column: number): number {
  return column < maxFoundLineBytes - bytesBeforeMatch ? 0 : column - bytesBeforeMatch;
}

/** `part` is what stands from `start` on, at least as much as is shown; `length` is the whole line's. No line end in either. */
export function foundLine(number: number, part: Uint8Array, start: number, length: number): FoundLine {
  const shown = part.subarray(0, maxFoundLineBytes);
  const whole = start === 0 && length <= maxFoundLineBytes;
  const decoded = new TextDecoder().decode(shown);
  if (whole) return { number, text: decoded };
  // Bytes of a character that was cut in two.
  const clean = decoded.replace(/^\ufffd{1,3}|\ufffd$/g, '');
  return { number, text: `${start === 0 ? '' : '…'}${clean}… [cut: the line has ${length} bytes]` };
}
