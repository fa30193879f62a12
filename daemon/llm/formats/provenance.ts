/** Who made a reply, as far as its reasoning may go back: signed and encrypted reasoning is read by the model family that wrote it, and refused by others (US6). */
import type { Item } from '../item.ts';

export function madeBy(reply: Item & { type: 'reply' }, provider: string, model: string): boolean {
  return reply.provider === provider && familyOf(reply.model) === familyOf(model);
}

/** An alias and its dated versions are one family: `claude-sonnet-4-5`, `claude-sonnet-4-5-20250929`, `gpt-5.1-2025-11-13`. */
function familyOf(model: string): string {
  return model.toLowerCase().replace(/[-@](latest|\d{8}|\d{4}-\d{2}-\d{2})$/, '');
}
