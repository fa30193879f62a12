/**
 * What the next request holds, part by part (CX3). Counted on the request itself, as it would be sent: a picture that became a note counts as
 * a note. Pure. Promises: the parts add up to the estimate, and their shares to a thousand, whatever they are.
 */
import { contextParts, type ContextPart, type ContextReport } from '#protocol/values/context-report.ts';
import type { Item, ItemPart, ToolOffer } from '../../llm/item.ts';
import { estimateTokens, pageTokens, pictureTokens } from './estimate.ts';
import type { PromptPart } from './prompt.ts';

type Row = ContextReport['parts'][number];

export interface Reported {
  readonly model: string;
  readonly limit: number | null;
  readonly measured: number | null;
  readonly prompt: readonly PromptPart[];
  readonly tools: readonly ToolOffer[];
  readonly items: readonly Item[];
  /** What the first item begins with, where a summary stands for old steps. */
  readonly memory: string | null;
}

const names: Readonly<Record<Exclude<ContextPart, 'prompt' | 'instructions'>, string>> = {
  tools: 'Tools',
  summary: 'Summary of older steps',
  tasks: 'Task list',
  inputs: 'What you said',
  replies: 'Replies',
  reasoning: 'Reasoning',
  calls: 'Tool calls',
  results: 'Tool results',
  pictures: 'Pictures',
  documents: 'PDFs',
};

/** The one whose calls and results are the task list. */
const taskListTool = 'todo';

export function contextReport({ model, limit, measured, prompt, tools, items, memory }: Reported): ContextReport {
  const rows = prompt.map(({ name, text, instructions }) => ({
    part: instructions === true ? ('instructions' as const) : ('prompt' as const),
    name,
    tokens: estimateTokens(text.length),
    text,
  }));
  const sums = new Map<ContextPart, number>();
  const add = (part: ContextPart, tokens: number) => sums.set(part, (sums.get(part) ?? 0) + tokens);
  for (const tool of tools) add('tools', estimateTokens(JSON.stringify(tool).length));
  for (const [place, item] of items.entries()) countItem(item, place === 0 ? memory : null, add);
  const counted = contextParts.flatMap((part): Omit<Row, 'share'>[] => {
    if (part === 'prompt' || part === 'instructions') return rows.filter((row) => row.part === part);
    const tokens = sums.get(part) ?? 0;
    return tokens === 0 ? [] : [{ part, name: names[part], tokens }];
  });
  const shares = sharesOf(counted.map(({ tokens }) => tokens));
  return {
    model,
    limit,
    measured,
    estimated: counted.reduce((sum, { tokens }) => sum + tokens, 0),
    parts: counted.map((row, place) => ({ ...row, share: shares[place] ?? 0 })),
  };
}

function countItem(item: Item, memory: string | null, add: (part: ContextPart, tokens: number) => void): void {
  switch (item.type) {
    case 'person':
      for (const [place, part] of item.parts.entries()) {
        const isMemory = place === 0 && part.type === 'text' && part.text === memory;
        countPart(part, isMemory ? 'summary' : 'inputs', add);
      }
      return;
    case 'result':
      for (const part of item.parts) countPart(part, item.tool === taskListTool ? 'tasks' : 'results', add);
      return;
    case 'reply':
      for (const piece of item.pieces) {
        if (piece.type === 'text') add('replies', estimateTokens(piece.text.length));
        // Some vendors give their reasoning sealed: then the seal is what is sent.
        else if (piece.type === 'reasoning')
          add('reasoning', estimateTokens(Math.max(piece.text.length, piece.signature?.length ?? 0)));
        else
          add(
            piece.tool === taskListTool ? 'tasks' : 'calls',
            estimateTokens(piece.tool.length + piece.argumentsText.length),
          );
      }
  }
}

function countPart(part: ItemPart, words: ContextPart, add: (part: ContextPart, tokens: number) => void): void {
  switch (part.type) {
    case 'text':
      return add(words, estimateTokens(part.text.length));
    case 'image':
      return add('pictures', pictureTokens);
    case 'document':
      return add('documents', part.pages * pageTokens);
  }
}

/** Tenths of a percent that add up to 1000: what rounding leaves goes to those who lost most by it. All zero where there is nothing. */
export function sharesOf(amounts: readonly number[]): number[] {
  const sum = amounts.reduce((one, other) => one + other, 0);
  if (sum === 0) return amounts.map(() => 0);
  const exact = amounts.map((amount) => (amount * 1000) / sum);
  const shares = exact.map(Math.floor);
  const left = 1000 - shares.reduce((one, other) => one + other, 0);
  const byLoss = exact
    .map((value, place) => ({ place, loss: value - Math.floor(value) }))
    .sort((one, other) => other.loss - one.loss || one.place - other.place);
  for (const { place } of byLoss.slice(0, left)) shares[place] = (shares[place] ?? 0) + 1;
  return shares;
}
