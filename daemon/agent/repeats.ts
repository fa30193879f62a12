/**
 * TL28: whether a call has been made too often. The same call with the same arguments for the third time in a turn, one after the other or with the
 * same result each time, gets nowhere: its result says so, since models do not notice by themselves. Pure.
 */
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { ToolCall } from '#protocol/conversation/tool-call.ts';
import type { ResultPart } from '#protocol/values/content.ts';
import { canonicalJson } from '../base/digest.ts';

const often = 3;

/** What stands behind the result of a call, of the open step, that is about to end; null: nothing. */
export function repeatNote(conversation: Conversation, call: ToolCall, content: readonly ResultPart[]): string | null {
  const turn = conversation.active;
  if (turn === null) return null;
  const calls = [...turn.steps, ...(turn.step === null ? [] : [turn.step])].flatMap((step) => step.calls);
  const before = calls.slice(
    0,
    calls.findIndex((one) => one.callId === call.callId),
  );
  const same = sameness(call);
  const others = before.findLastIndex((one) => sameness(one) !== same);
  const inARow = before.length - (others + 1);
  const result = JSON.stringify(content);
  const alike = before.filter((one) => sameness(one) === same && sameResult(one, result)).length;
  const times = Math.max(inARow, alike) + 1;
  if (times < often) return null;
  return `[This very call was made ${times} times in this turn${alike + 1 >= times ? ', with the same result each time' : ''}. Making it again will not help: do something else, or say what keeps you.]`;
}

/** A reminder that stands there already does not make it another result. */
function sameResult({ content, state }: ToolCall, result: string): boolean {
  if (state !== 'ended') return false;
  const last = content.at(-1);
  const reminded = last?.type === 'text' && last.text.startsWith('[This very call was made ');
  return JSON.stringify(reminded ? content.slice(0, -1) : content) === result;
}

function sameness({ tool, arguments: args, argumentsBlob }: ToolCall): string {
  return `${tool} ${argumentsBlob === null ? canonicalJson(args) : argumentsBlob.sha256}`;
}
