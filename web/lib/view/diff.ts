/**
 * A unified diff as rows for the screen, with line numbers and with the words marked that differ between a line and the one that replaces
 * it. The text comes from the daemon; what is not a diff line is shown as it is.
 */
import { diffWordsWithSpace } from 'diff';

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

/** Lines taken out and put in at one place. Where they are as many, each is compared with its counterpart. */
function changeRows(removed: readonly string[], added: readonly string[], before: number, after: number): DiffRow[] {
  const pairs =
    removed.length === added.length ? removed.map((line, index) => compare(line, added[index] ?? '')) : null;
  return [
    ...removed.map((line, index): DiffRow => ({
      type: 'removed',
      before: before + index,
      after: null,
      marks: pairs?.[index]?.removed ?? [{ text: line, changed: false }],
    })),
    ...added.map((line, index): DiffRow => ({
      type: 'added',
      before: null,
      after: after + index,
      marks: pairs?.[index]?.added ?? [{ text: line, changed: false }],
    })),
  ];
}

/** Null where the lines have too little in common for marks to help. */
function compare(removed: string, added: string): { removed: DiffMark[]; added: DiffMark[] } | null {
  if (removed.length > maxMarkedLine || added.length > maxMarkedLine) return null;
  const changes = diffWordsWithSpace(removed, added);
  const common = changes.reduce(
    (sum, change) => sum + (change.added || change.removed ? 0 : change.value.trim().length),
    0,
  );
  if (common * 3 < Math.max(removed.trim().length, added.trim().length)) return null;
  const side = (not: 'added' | 'removed', mine: 'added' | 'removed'): DiffMark[] =>
    changes.filter((change) => !change[not]).map((change) => ({ text: change.value, changed: change[mine] }));
  return { removed: side('added', 'removed'), added: side('removed', 'added') };
}
