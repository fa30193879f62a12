/**
 * States of a tool call and the allowed transitions:
 *   requested -> waiting (for a person) -> requested (allowed) -> running -> ended
 *   requested | waiting -> ended (denied, skipped: it never started)
 * Exactly one end; nothing leaves `ended`.
 */
import type { ResultPart } from '../values/content.ts';
import type { BlobRef } from '../values/blob.ts';
import type { CallDetails, CallDisplay } from '../values/display.ts';
import type { ApprovalId, CallId, PartId, SessionId } from '../values/ids.ts';
import type { JsonObject } from '../values/json.ts';
import type { CallOutcome } from '../values/outcome.ts';
import type { ApprovalScope } from '../events/approval.ts';

export interface ToolCall {
  readonly callId: CallId;
  readonly partId: PartId | null;
  readonly providerCallId: string | null;
  readonly tool: string;
  /** As the model asked, or as the person changed them; null where they stand in `argumentsBlob`. */
  readonly arguments: JsonObject | null;
  readonly argumentsBlob: BlobRef | null;
  readonly display: CallDisplay;
  readonly state: 'requested' | 'waiting' | 'running' | 'ended';
  /** The sub-agent that carries it out. */
  readonly child: { readonly agent: string; readonly sessionId: SessionId } | null;
  readonly approval: CallApproval | null;
  readonly requestedAt: number;
  readonly startedAt: number | null;
  readonly output: CallOutput;
  readonly endedAt: number | null;
  readonly outcome: CallOutcome | null;
  readonly content: readonly ResultPart[];
  readonly details: CallDetails | null;
}

export interface CallApproval {
  readonly approvalId: ApprovalId;
  readonly decision: 'open' | 'allow' | 'deny' | 'withdrawn';
  /** The request said that it is destructive, protected or not understood. */
  readonly caution: boolean;
  readonly scope: ApprovalScope | null;
  readonly by: string | null;
  readonly at: number;
  readonly note: string | null;
  readonly changedArguments: boolean;
}

/** Live output, bounded: the beginning, the end, and how many characters between them are not here. */
export interface CallOutput {
  readonly head: string;
  readonly tail: string;
  /** Characters that came and are in neither. */
  readonly omitted: number;
  /** Bytes that the writer itself left out. */
  readonly skippedBytes: number;
}

export const noOutput: CallOutput = { head: '', tail: '', omitted: 0, skippedBytes: 0 };

/** What a screen keeps of a running command: a long scroll back, and the newest lines. */
const maxHead = 64 * 1024;
const maxTail = 16 * 1024;

/** Depends only on the whole text so far, not on how it was cut into events: so condensed events fold to the same. */
export function addOutput(output: CallOutput, text: string, skippedBytes: number): CallOutput {
  const room = maxHead - output.head.length;
  const head = room > 0 ? output.head + text.slice(0, room) : output.head;
  const rest = room > 0 ? output.tail + text.slice(room) : output.tail + text;
  const over = Math.max(0, rest.length - maxTail);
  return {
    head,
    tail: over > 0 ? rest.slice(over) : rest,
    omitted: output.omitted + over,
    skippedBytes: output.skippedBytes + skippedBytes,
  };
}

/** Says why a call in this state may not make the transition, or null where it may. */
export function refuseTransition(
  call: ToolCall,
  to: 'waiting' | 'allowed' | 'running' | 'output' | 'ended',
): string | null {
  const allowed: Record<typeof to, readonly ToolCall['state'][]> = {
    waiting: ['requested'],
    allowed: ['waiting'],
    running: ['requested'],
    output: ['running'],
    ended: ['requested', 'waiting', 'running'],
  };
  return allowed[to].includes(call.state) ? null : `call ${call.callId} is ${call.state}, it cannot become ${to}`;
}
