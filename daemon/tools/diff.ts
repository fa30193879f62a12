/** The difference of two contents of a file as a unified diff with its counts: for the screen and for people who decide. Bounded in time and size. */
import { formatPatch, structuredPatch } from 'diff';
import { maxDiffBytes, maxDiffEdits } from '../base/limits.ts';

export interface Diff {
  readonly added: number;
  readonly removed: number;
  /** Null for a binary file, and where comparing would take too long. */
  readonly text: string | null;
}

/** `before` is null for a file that is new. */
export function diffOf(path: string, before: Uint8Array | null, after: Uint8Array): Diff {
  const old = before ?? new Uint8Array();
  if (old.includes(0) || after.includes(0)) return { added: 0, removed: 0, text: null };
  const [oldText, newText] = [Buffer.from(old).toString('utf8'), Buffer.from(after).toString('utf8')];
  if (old.length + after.length > maxDiffBytes) return { ...roughCounts(oldText, newText), text: null };
  const [from, to] = [before === null ? '/dev/null' : `a/${path}`, `b/${path}`];
  const patch = structuredPatch(from, to, oldText, newText, undefined, undefined, {
    context: 3,
    maxEditLength: maxDiffEdits,
  });
  if (patch === undefined) return { ...roughCounts(oldText, newText), text: null };
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
    text: lines.length === 0 ? '' : withoutRule(formatPatch(patch)),
  };
}

/** The package opens with a rule of equal signs, which is of another dialect. */
function withoutRule(text: string): string {
  return text.slice(text.indexOf('--- '));
}

/** What lies between the common start and the common end counts as replaced. */
function roughCounts(before: string, after: string): { added: number; removed: number } {
  const [old, now] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  return { added: now.length - start - end, removed: old.length - start - end };
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
