/**
 * Compaction, as far as it is decided: which steps a summary may stand for, what the model is asked for it, and what comes of its answer. Pure.
 * Cuts are at complete steps only, so that no result is ever parted from its call; the newest steps stay word for word; nothing leaves the log.
 */
import type { Compaction, CompactionMark, Conversation, Step } from '#protocol/conversation/conversation.ts';
import type { ToolCall } from '#protocol/conversation/tool-call.ts';
import type { Draft } from '#protocol/event.ts';
import type { InputPart, ResultPart } from '#protocol/values/content.ts';
import { changesIn } from '#protocol/values/display.ts';
import {
  keptContextShare,
  keptContextTokens,
  leastCompactedShare,
  maxSummaryFiles,
  recompactShare,
} from '../../base/limits.ts';
import { estimateTokens, pictureTokens } from './estimate.ts';

export interface CompactionPlan {
  /** Complete steps that the summary will stand for, oldest first. */
  readonly steps: readonly Step[];
  readonly firstKeptSeq: number;
  /** Estimates, in tokens. */
  readonly compacted: number;
  readonly kept: number;
}

/** What can be summarised now; null where there is nothing: no complete step stands before those that are kept. */
export function planCompaction(conversation: Conversation, limit: number | null): CompactionPlan | null {
  const from = conversation.compaction?.firstKeptSeq ?? 0;
  const steps = completeSteps(conversation).filter((step) => step.startedSeq >= from);
  const room = limit === null ? keptContextTokens : Math.min(keptContextTokens, limit * keptContextShare);
  let kept = 0;
  let first = steps.length;
  while (first > 0) {
    const tokens = tokensOf(steps[first - 1] as Step);
    if (kept + tokens > room) break;
    kept += tokens;
    first -= 1;
  }
  const old = steps.slice(0, first);
  if (old.length === 0) return null;
  const firstKeptSeq = steps[first]?.startedSeq ?? conversation.active?.step?.startedSeq ?? conversation.seq + 1;
  return { steps: old, firstKeptSeq, compacted: old.reduce((sum, step) => sum + tokensOf(step), 0), kept };
}

export interface DueOptions {
  /** The share of the window at which a compaction is made by itself; null: never. */
  readonly compactAt: number | null;
}

/**
 * Whether the window is so full that a compaction comes before the next step. Only what a provider has measured counts, and what has come since;
 * one that failed is tried again when the context has grown; one that would gain little is not made. So it cannot follow upon itself.
 */
export function isCompactionDue(conversation: Conversation, { compactAt }: DueOptions): boolean {
  const { context } = conversation;
  if (compactAt === null || context === null || context.estimated || context.limit === null) return false;
  const used = context.used + tokensSince(conversation);
  if (used < compactAt * context.limit) return false;
  const last: CompactionMark | undefined = conversation.compactions.at(-1);
  if (last?.outcome === 'failed' && last.before !== null && used < last.before + recompactShare * context.limit)
    return false;
  const plan = planCompaction(conversation, context.limit);
  return plan !== null && plan.compacted >= leastCompactedShare * context.limit;
}

/** Results and inputs that the last measured request did not hold yet. */
function tokensSince({ active, inbox }: Conversation): number {
  const results = active?.steps.at(-1)?.calls ?? [];
  const characters =
    results.reduce((sum, call) => sum + lengthOf(call.content), 0) +
    inbox.reduce((sum, input) => sum + lengthOf(input.parts), 0);
  return estimateTokens(characters);
}

function completeSteps(conversation: Conversation): Step[] {
  const turns = conversation.active === null ? conversation.turns : [...conversation.turns, conversation.active];
  return turns.flatMap((turn) => turn.steps);
}

export function tokensOf(step: Step): number {
  let characters = 0;
  for (const input of step.inputs) characters += lengthOf(input.parts);
  for (const part of step.parts) characters += part.text.length;
  for (const call of step.calls)
    characters += (call.argumentsBlob?.bytes ?? JSON.stringify(call.arguments ?? {}).length) + lengthOf(call.content);
  return estimateTokens(characters);
}

function lengthOf(parts: readonly (InputPart | ResultPart)[]): number {
  return parts.reduce((sum, part) => {
    if (part.type === 'text') return sum + part.text.length;
    if (part.type === 'document') return sum + part.text.bytes;
    return sum + (part.type === 'image' ? 4 * pictureTokens : part.blob.bytes);
  }, 0);
}

// ---- what the model is asked ----

export const summarySystem =
  'You keep the memory of a coding agent whose context is full. You are given what has happened so far; you answer with a summary from which the agent can go on as if it remembered, and with nothing else.';

const summaryTask = `Write the summary of the work above, for the agent that goes on with it and sees nothing of it any more. Keep, in this order and under these headings, whatever is true of it:
## Goal: what the person wants, in their own words where these matter, and every condition they set
## Done: what was done and found out, with the names of files, functions, commands and their results
## State: what works, what is broken, what was being done just now
## Next: what remains, in order
## To remember: decisions with their reasons, mistakes not to repeat, exact values that are still needed
Write what is in the work, invent nothing, leave out what no longer matters. At most 1,200 words.`;

/** How long a tool's result may stand in what the summary is made from: the first that fits is taken, then the next ones down. */
export const resultCharacters: readonly number[] = [4_000, 1_000, 200];

/** The whole question as one text: no call stands in it that a provider would want the tool of, and no reasoning that it would want signed. */
export function summaryQuestion(
  conversation: Pick<Conversation, 'compaction'>,
  plan: CompactionPlan,
  ofResult: number,
  maxCharacters: number,
): string {
  const before =
    conversation.compaction === null ? [] : [`# Summary of what came before\n${conversation.compaction.summary}`];
  const told = plan.steps.map((step) => tell(step, ofResult));
  let left = maxCharacters - summaryTask.length - before.join('').length;
  let first = told.length;
  while (first > 0 && left >= (told[first - 1]?.length ?? 0)) {
    first -= 1;
    left -= told[first]?.length ?? 0;
  }
  const gap = first === 0 ? [] : [`[The ${first} oldest steps have no room here.]`];
  return [...before, '# What has happened', ...gap, ...told.slice(first), '# Your task', summaryTask].join('\n\n');
}

function tell(step: Step, ofResult: number): string {
  const lines: string[] = [];
  for (const input of step.inputs) lines.push(`Person: ${clip(textOf(input.parts), 4 * ofResult)}`);
  for (const part of step.parts)
    if (part.kind === 'text' && part.text !== '') lines.push(`Agent: ${clip(part.text, 4 * ofResult)}`);
  for (const call of step.calls) lines.push(tellCall(call, ofResult));
  return lines.join('\n');
}

function tellCall(call: ToolCall, ofResult: number): string {
  const args = call.arguments === null ? '(long arguments)' : JSON.stringify(call.arguments);
  return `Tool ${call.tool} ${clip(args, ofResult)}\n→ ${call.outcome ?? call.state}: ${clip(textOf(call.content), ofResult)}`;
}

function textOf(parts: readonly (InputPart | ResultPart)[]): string {
  return parts
    .map((part) =>
      part.type === 'text'
        ? part.text
        : part.type === 'image'
          ? '[picture]'
          : part.type === 'document'
            ? `[PDF ${part.name ?? ''}]`
            : '[long text]',
    )
    .join('\n');
}

/** Head and tail: the end of an output says how it went. */
function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = Math.floor(length / 2);
  return `${text.slice(0, head)}\n[… ${text.length - length} characters left out …]\n${text.slice(head - length)}`;
}

// ---- what comes of it ----

/** The end of a compaction whose summary came, with the task list and the plan as they stand; failed where it would not make the context smaller. */
export function summaryEnd(
  conversation: Conversation,
  plan: CompactionPlan,
  summary: string,
): Extract<Draft, { type: 'compaction.ended' }> {
  const tokens = estimateTokens(summary.length);
  const before = conversation.context?.used ?? plan.compacted + plan.kept;
  if (summary.trim() === '') return failedEnd(conversation, 'The model answered without a summary.');
  const earlier = estimateTokens(conversation.compaction?.summary.length ?? 0);
  if (tokens >= plan.compacted + earlier)
    return failedEnd(conversation, 'The summary was as long as what it should stand for, so it was not used.');
  const { filesRead, filesChanged } = touchedFiles(conversation, plan.steps);
  const { todos, plan: proposed } = conversation;
  const kept = [
    summary.trim(),
    ...(proposed?.decision === 'accepted' ? [`## Plan that the person accepted\n${proposed.text}`] : []),
    ...(todos.length === 0
      ? []
      : [`## Task list\n${todos.map(({ text, state }) => `- [${state}] ${text}`).join('\n')}`]),
  ];
  return {
    type: 'compaction.ended',
    outcome: 'completed',
    summary: kept.join('\n\n'),
    firstKeptSeq: plan.firstKeptSeq,
    before,
    after: Math.max(tokens + plan.kept, before - plan.compacted - earlier + tokens),
    filesRead,
    filesChanged,
  };
}

export function failedEnd(conversation: Conversation, reason: string): Extract<Draft, { type: 'compaction.ended' }> {
  const { context } = conversation;
  return {
    type: 'compaction.ended',
    outcome: 'failed',
    reason,
    ...(context === null ? {} : { before: context.used + tokensSince(conversation) }),
  };
}

/** From the calls themselves, not from what a model says of them; a file that was changed is not told as read, too. */
export function touchedFiles(
  { compaction }: Pick<Conversation, 'compaction'>,
  steps: readonly Step[],
): { filesRead: string[]; filesChanged: string[] } {
  const read = new Set(compaction?.filesRead);
  const changed = new Set(compaction?.filesChanged);
  const again = (files: Set<string>, path: string) => {
    files.delete(path);
    files.add(path);
  };
  for (const { details } of steps.flatMap((step) => step.calls)) {
    if (details?.type === 'file-read') again(read, details.path);
    for (const { path } of changesIn(details)) again(changed, path);
  }
  return {
    filesRead: [...read].filter((path) => !changed.has(path)).slice(-maxSummaryFiles),
    filesChanged: [...changed].slice(-maxSummaryFiles),
  };
}

/** What a request begins with, once steps have been left out. The same until the next compaction: a provider's cache holds it. */
export function memoryText({ summary, filesRead, filesChanged }: Compaction): string {
  const parts = [
    `The beginning of this session no longer fits; this is its summary, and the latest steps follow word for word.\n\n${summary}`,
    filesChanged.length === 0 ? null : `Files changed so far: ${filesChanged.join(', ')}`,
    filesRead.length === 0 ? null : `Files read so far: ${filesRead.join(', ')}`,
  ];
  return parts.filter((part) => part !== null).join('\n\n');
}
