/** A question to the person, as its components take it and hand the answer on: the fields that a conversation and a row of a list both hold. */
import type { OpenQuestion } from '#protocol/conversation/conversation.ts';

export type Ask = Pick<OpenQuestion, 'questionId' | 'at' | 'text' | 'options'>;

export interface Said {
  /** The place of an option. */
  readonly option?: number;
  readonly text?: string;
}

/** What the words are for, where none of the options is. */
export function wordsLabel(ask: Ask): string {
  if (ask.options.some((option) => option.plan !== undefined)) return 'What should be other?';
  return ask.options.length === 0 ? 'Your answer' : 'Or in your own words';
}
