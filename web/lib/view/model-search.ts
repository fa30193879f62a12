/**
 * Finding a model by what somebody types: the words of the query, in any order, each as letters that follow one another in the label, the
 * name or the provider. Better places come first; where nothing fits, the nearest name answers a slip of the fingers.
 */
import type { ModelChoice } from '#protocol/commands/model.ts';
import { nearest } from '#protocol/values/nearest.ts';
import { modelName } from '#protocol/values/model.ts';
import { z } from '#protocol/schema.ts';

export interface ModelSearch {
  /** Best first; all of them, in their own order, where nothing was typed. */
  readonly found: readonly ModelChoice[];
  /** Where nothing was found: the model whose name is nearest to what was typed. */
  readonly nearest: ModelChoice | null;
  /** What was typed, where it is a whole name that is not in the list and may be used all the same. */
  readonly unlisted: string | null;
}

export function searchModels(models: readonly ModelChoice[], query: string): ModelSearch {
  const typed = query.trim();
  if (typed === '') return { found: models, nearest: null, unlisted: null };
  const words = typed.toLowerCase().split(/\s+/);
  const found = models
    .map((choice, place) => ({ choice, place, score: scoreOf(choice, words) }))
    .filter((one) => one.score > 0)
    .sort((a, b) => b.score - a.score || a.place - b.place)
    .map((one) => one.choice);
  const listed = models.some((choice) => choice.name === typed);
  return {
    found,
    nearest: found.length === 0 ? nearestTo(models, typed) : null,
    unlisted: !listed && z.safeParse(modelName, typed).success ? typed : null,
  };
}

/** By its whole name, its id alone, or its label: people type any of them. */
function nearestTo(models: readonly ModelChoice[], typed: string): ModelChoice | null {
  const byWord = new Map<string, ModelChoice>();
  for (const choice of models)
    for (const word of [choice.name, idOf(choice), choice.label]) byWord.set(word.toLowerCase(), choice);
  const word = nearest(typed.toLowerCase(), [...byWord.keys()]);
  return word === null ? null : (byWord.get(word) ?? null);
}

function idOf(choice: ModelChoice): string {
  return choice.name.slice(choice.name.indexOf('/') + 1);
}

/** 0: some word is not in it. What can be used comes before what cannot, where both fit alike. */
function scoreOf(choice: ModelChoice, words: readonly string[]): number {
  const texts = [choice.label, choice.name, choice.providerLabel].map((text) => text.toLowerCase());
  let sum = 0;
  for (const word of words) {
    const best = Math.max(...texts.map((text, place) => fit(text, word) * (place === 0 ? 1.1 : 1)));
    if (best === 0) return 0;
    sum += best;
  }
  return sum + (choice.available ? 0.5 : 0) + (choice.shortlisted ? 0.5 : 0);
}

/** How well a word fits a text: whole at a beginning, whole inside, or letter by letter close together; else 0. */
function fit(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at >= 0) return at === 0 || /[^a-z0-9]/.test(text[at - 1] ?? '') ? 10 : 7;
  const best = Math.max(0, ...[...text].map((letter, start) => (letter === word[0] ? spread(text, word, start) : 0)));
  // Letters scattered over the whole name are chance.
  return best > 0.5 ? best * 4 : 0;
}

/** From `start` on: which part of what the letters span is theirs; 0 where one is missing. */
function spread(text: string, word: string, start: number): number {
  let at = start - 1;
  for (const letter of word) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return 0;
  }
  return word.length / (at + 1 - start);
}
