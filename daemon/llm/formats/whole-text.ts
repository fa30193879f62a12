/** The text of one reply while it comes, kept only as long as it may be a tool call that leaked into it (PR20); leaked-call.ts judges it. */
import { maxInlineFieldBytes } from '../../base/limits.ts';
import type { ModelCall, ModelRequest, StreamEvent } from '../item.ts';
import { readArguments } from './call-arguments.ts';
import { leakedCall, mayBeCall } from './leaked-call.ts';

/** Fed with every event of a reply; forgets a text that cannot be a call any more. */
export class WholeText {
  text: string | null = '';
  readonly #texts = new Set<string>();

  take(event: StreamEvent): void {
    if (event.type === 'part-started' && event.kind === 'text') this.#texts.add(event.key);
    if (event.type !== 'part-delta' || this.text === null || !this.#texts.has(event.key)) return;
    this.text += event.text;
    if (!mayBeCall(this.text.slice(0, 64)) || this.text.length > maxInlineFieldBytes) this.text = null;
  }
}

export function leakedIn(prose: WholeText, last: StreamEvent[], { tools }: ModelRequest): ModelCall | null {
  for (const event of last) prose.take(event);
  const found = prose.text === null ? null : leakedCall(prose.text, tools);
  if (found === null) return null;
  const { tool, argumentsText } = found;
  return { key: 'leaked', providerCallId: null, tool, argumentsText, ...readArguments(argumentsText) };
}
