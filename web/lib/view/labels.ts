/**
 * Words for what the conversation holds. Unknown is written "unknown", never zero; a sum with gaps says "at least".
 * Verbs of tools come from the daemon (`display.title`) and are not made here.
 */
import type { CallOutcome, TurnOutcome } from '#protocol/values/outcome.ts';
import type { InputPart } from '#protocol/values/content.ts';
import type { UsageTotals } from '#protocol/values/usage.ts';
import { amount, dollars, duration } from './time.ts';

export const turnOutcomeLabels: Record<TurnOutcome, string> = {
  completed: 'Done',
  aborted: 'Stopped',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

export const callOutcomeLabels: Record<CallOutcome, string> = {
  completed: 'done',
  failed: 'failed',
  denied: 'denied',
  interrupted: 'interrupted',
  skipped: 'skipped',
};

/** "1 file", "3 files". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** "950 bytes", "303 KB", "1.2 MB". */
export function sizeWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 999_500 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** "1 page", "12 pages". */
export function pageWords(pages: number): string {
  return pages === 1 ? '1 page' : `${pages} pages`;
}

/** What a person said, for a line: text as it is, files and pictures by name, what did not come by itself by its size. */
export function inputWords(parts: readonly InputPart[]): string {
  return parts
    .map((part) => {
      if (part.type !== 'image' && part.name !== undefined) return part.name;
      if (part.type === 'text') return part.text;
      return part.type === 'text-blob'
        ? `${sizeWords(part.blob.bytes)} of text`
        : (part.name ?? (part.type === 'image' ? 'a picture' : 'a PDF'));
    })
    .join('\n');
}

/** The beginning of a long text: few lines, and few characters where its lines are long. */
export function firstLines(text: string): string {
  const most = 800;
  const lines = text.slice(0, most).split('\n', 8).join('\n');
  return lines.length < text.length ? `${lines}…` : lines;
}

/** Input and output together; "tokens unknown" where no step said. */
export function tokenWords(usage: UsageTotals): string {
  if (usage.steps === 0 || usage.unknownSteps === usage.steps) return 'tokens unknown';
  const tokens = `${amount(usage.input + usage.output)} tok`;
  return usage.unknownSteps > 0 ? `at least ${tokens}` : tokens;
}

export function costWords(totals: { readonly cost: number; readonly unknownCost: number }): string {
  if (totals.unknownCost === 0) return dollars(totals.cost);
  return totals.cost > 0 ? `at least ${dollars(totals.cost)}` : 'cost unknown';
}

/** "18.4k tok", "$0.03"; where neither was said, that once. */
function usageWords(turn: {
  readonly usage: UsageTotals;
  readonly cost: number;
  readonly unknownCost: number;
}): string[] {
  const words = [tokenWords(turn.usage), costWords(turn)];
  return words[0] === 'tokens unknown' && words[1] === 'cost unknown' ? ['usage unknown'] : words;
}

/** The line that ends a turn, in its parts: "2 files +14 -3", "3 tools", "41 s", "18.4k tok", "$0.03". */
export function turnEndWords(turn: {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  readonly calls: number;
  readonly durationMs: number;
  readonly usage: UsageTotals;
  readonly cost: number;
  readonly unknownCost: number;
}): string[] {
  return [
    ...(turn.files > 0 ? [`${counted(turn.files, 'file')} +${turn.added} -${turn.removed}`] : []),
    ...(turn.calls > 0 ? [counted(turn.calls, 'tool')] : []),
    duration(turn.durationMs),
    // A turn without a single model call has neither.
    ...(turn.usage.steps > 0 ? usageWords(turn) : []),
  ];
}
