/**
 * What of a request a person can see at a glance, decided without knowing any tool by name. The rule behind it: nobody is offered
 * "Allow" beside something that is not wholly in view.
 */
import type { OpenApproval } from '#protocol/conversation/conversation.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import { changesIn } from '#protocol/values/display.ts';
import type { JsonValue } from '#protocol/values/json.ts';

/** The fields that both a conversation and a row of a list hold of an open approval. */
export type Request = Pick<
  OpenApproval,
  'approvalId' | 'at' | 'tool' | 'title' | 'target' | 'reason' | 'caution' | 'rulePattern' | 'arguments' | 'preview'
> & {
  /** Where the arguments are too long to come by themselves. A row of a list does not say. */
  readonly argumentsBlob?: BlobRef | null;
};

/** The name of the argument that the target repeats word for word (a command, a path), or null. */
export function targetArgument(request: Request): string | null {
  const found = Object.entries(request.arguments ?? {}).find(([, value]) => value === request.target);
  return found === undefined ? null : found[0];
}

/** Arguments that neither the target nor the preview shows, in the order the model gave them. */
export function otherArguments(request: Request): readonly [name: string, value: string][] {
  if (changesIn(request.preview).length > 0) return [];
  const shown = targetArgument(request);
  return Object.entries(request.arguments ?? {}).flatMap(([name, value]) =>
    name === shown ? [] : [[name, asText(value)] as [string, string]],
  );
}

/** True where the target and a line of short arguments say everything: then a list may offer the answer. */
export function isBrief(request: Request): boolean {
  if (request.arguments === null || changesIn(request.preview).length > 0) return false;
  if (request.target === null || targetArgument(request) === null) return false;
  return otherArguments(request).every(([, value]) => value.length <= 60 && !value.includes('\n'));
}

/** "Run this command?", "Edit src/cart.ts?" */
export function headingOf(request: Request, isCommand: boolean): string {
  if (isCommand) return `${request.title} this command?`;
  if (request.target !== null && request.target.length <= 80) return `${request.title} ${request.target}?`;
  return `${request.title}?`;
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
