/** The difference of two contents of a file as a unified diff with its counts: for the screen and for people who decide. Bounded in time and size. */
import { formatPatch, structuredPatch, type StructuredPatchHunk } from 'diff';
import { maxDiffBytes, maxDiffEdits } from '../base/limits.ts';

export interface Diff {
  readonly added: number;
  readonly removed: number;
  /** Null for a binary file and a very large one. */
  readonly text: string | null;
}

/** `before` is null for a file that is new, `after` for one that is gone; `oldPath` is where it stood before. */
export function diffOf(path: string, before: Uint8Array | null, after: Uint8Array | null, oldPath = path): Diff {
  const [old, now] = [before ?? new Uint8Array(), after ?? new Uint8Array()];
  if (old.includes(0) || now.includes(0)) return { added: 0, removed: 0, text: null };
  const [oldText, newText] = [Buffer.from(old).toString('utf8'), Buffer.from(now).toString('utf8')];
  const rough = roughly(linesOf(oldText), linesOf(newText));
  if (old.length + now.length > maxDiffBytes) return { ...countsOf([rough]), text: null };
  const [from, to] = [before === null ? '/dev/null' : `a/${oldPath}`, after === null ? '/dev/null' : `b/${path}`];
  const patch = structuredPatch(from, to, oldText, newText, undefined, undefined, {
    context,
    maxEditLength: maxDiffEdits,
  });
  const shown = patch ?? { ...noHeaders, oldFileName: from, newFileName: to, hunks: [rough] };
  return { ...countsOf(shown.hunks), text: shown.hunks.length === 0 ? '' : withoutRule(formatPatch(shown)) };
}

const context = 3;
const noHeaders = { oldHeader: undefined, newHeader: undefined };

function countsOf(hunks: readonly StructuredPatchHunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const starting = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { added: starting('+'), removed: starting('-') };
}

/** The package opens with a rule of equal signs, which is of another dialect. */
function withoutRule(text: string): string {
  return text.slice(text.indexOf('--- '));
}

/** Where comparing would take too long: what lies between the common start and the common end, as replaced. */
function roughly(old: readonly string[], now: readonly string[]): StructuredPatchHunk {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const first = Math.max(0, start - context);
  const kept = Math.max(0, end - context);
  return {
    oldStart: first + 1,
    oldLines: old.length - first - kept,
    newStart: first + 1,
    newLines: now.length - first - kept,
    lines: [
      ...signed(' ', old.slice(first, start)),
      ...signed('-', old.slice(start, old.length - end)),
      ...signed('+', now.slice(start, now.length - end)),
      ...signed(' ', old.slice(old.length - end, old.length - kept)),
    ],
  };
}

function signed(sign: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file'],
  );
}

/** With their line feeds, so that a last line without one differs from the same with one. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}
