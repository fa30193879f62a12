/**
 * One model call: stream events -> session events. A reply counts as complete only with its finish reason; then `step.replied` and every
 * `tool-call.requested` stand in one frame, so after a crash either all its calls are known or none was asked for. Retries are events, made
 * only while nothing of the reply has been used.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelPrice } from '#protocol/commands/model.ts';
import type { Draft } from '#protocol/event.ts';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { CallId, PartId, StepId } from '#protocol/values/ids.ts';
import type { JsonObject } from '#protocol/values/json.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import type { Usage } from '#protocol/values/usage.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import { messageOf } from '../base/errors.ts';
import { firstRetryMs, longestRetryMs, maxAttempts, maxInlineFieldBytes } from '../base/limits.ts';
import { costOf } from '../llm/catalogue/cost.ts';
import type { ModelCall, ModelRequest, StreamEnd } from '../llm/item.ts';
import type { ModelClient } from '../llm/model-stream.ts';
import type { Tool } from '../tools/tool.ts';
import { displayOf } from './call-display.ts';
import { DeltaWriter } from './delta-writer.ts';

export interface StepPorts {
  conversation(): Conversation;
  append(events: Draft[]): Promise<unknown>;
  storeBlob(bytes: Uint8Array): Promise<BlobRef>;
  tools: readonly Tool[];
  client: ModelClient;
  contextWindow: number | null;
  price: ModelPrice | null;
}

export type StepEnd =
  | { end: 'replied' }
  | { end: 'failed'; failure: Failure; usage: Usage | null }
  /** `asked`: a request was under way, whose usage came or is unknown. */
  | { end: 'aborted'; usage: Usage | null; asked: boolean };

/** Rejects only where the log cannot be written. */
export async function runStep(
  ports: StepPorts,
  stepId: StepId,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<StepEnd> {
  for (let attempt = 1; ; attempt += 1) {
    const end = await runAttempt(ports, stepId, request, signal);
    if (end.end !== 'failed' || !end.retryable) return end;
    const delayMs = waitBeforeRetry(attempt, end.retryAfterMs);
    if (attempt >= maxAttempts || delayMs > longestRetryMs) return end;
    await ports.append([
      { type: 'step.retried', stepId, attempt: attempt + 1, delayMs, reason: end.failure, usage: end.usage },
    ]);
    await delay(delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return { end: 'aborted', usage: null, asked: false };
  }
}

/** Retry-After where the provider says one, else exponential with jitter (the upper half of the interval). */
export function waitBeforeRetry(attempt: number, retryAfterMs: number | null): number {
  if (retryAfterMs !== null) return retryAfterMs;
  const whole = Math.min(longestRetryMs, firstRetryMs * 2 ** (attempt - 1));
  return Math.round(whole / 2 + (Math.random() * whole) / 2);
}

type AttemptEnd =
  | { end: 'replied' }
  | { end: 'failed'; failure: Failure; usage: Usage | null; retryable: boolean; retryAfterMs: number | null }
  | { end: 'aborted'; usage: Usage | null; asked: boolean };

async function runAttempt(
  ports: StepPorts,
  stepId: StepId,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const writer = new DeltaWriter((events) => ports.append(events));
  const parts = new Map<string, PartId>();
  const open = new Set<PartId>();
  let made = ports.conversation().counts.parts;
  const startedAt = performance.now();
  let firstTokenMs: number | null = null;
  let end: StreamEnd | null = null;
  for await (const event of guarded(ports.client, request, signal)) {
    if (event.type === 'part-started') {
      firstTokenMs ??= Math.round(performance.now() - startedAt);
      const partId = `prt_${(made += 1)}` as PartId;
      parts.set(event.key, partId);
      open.add(partId);
      writer.add({
        type: 'part.started',
        stepId,
        partId,
        kind: event.kind,
        ...(event.kind === 'tool-call' ? { tool: event.tool } : {}),
      });
    } else if (event.type === 'part-delta') {
      const partId = parts.get(event.key);
      if (partId !== undefined && event.text !== '') writer.add({ type: 'part.delta', partId, text: event.text });
    } else if (event.type === 'part-ended') {
      const partId = parts.get(event.key);
      if (partId === undefined || !open.delete(partId)) continue;
      writer.add({
        type: 'part.ended',
        partId,
        ...(event.signature === undefined ? {} : { signature: event.signature }),
      });
    } else {
      end = event;
      break;
    }
  }
  const closing = [...open].map((partId): Draft => ({ type: 'part.ended', partId }));
  if (end?.type === 'done') {
    const totalMs = Math.round(performance.now() - startedAt);
    const requested = await requestedCalls(ports, stepId, end.calls, parts);
    await writer.finish([
      ...closing,
      {
        type: 'step.replied',
        stepId,
        stop: end.stop,
        usage: end.usage,
        cost: costOf(end.usage, ports.price),
        firstTokenMs,
        totalMs,
      },
      ...measured(end.usage, ports.contextWindow),
      ...requested,
    ]);
    return { end: 'replied' };
  }
  await writer.finish(closing);
  if (end?.type === 'failed') {
    const { failure, usage, retryAfterMs } = end;
    return { end: 'failed', failure, usage, retryable: end.retryable && parts.size === 0, retryAfterMs };
  }
  if (end?.type === 'aborted' || signal.aborted) return { end: 'aborted', usage: end?.usage ?? null, asked: true };
  const failure: Failure = {
    code: 'fault',
    message: 'The model adapter ended without a final record. What came is kept; send again.',
  };
  return { end: 'failed', failure, usage: null, retryable: false, retryAfterMs: null };
}

/** An adapter must not throw; one that does fails its step, not the session. */
async function* guarded(client: ModelClient, request: ModelRequest, signal: AbortSignal) {
  try {
    yield* client.stream(request, signal);
  } catch (error) {
    const failure: Failure = {
      code: 'fault',
      message: `The model adapter failed: ${messageOf(error)}. What came is kept; send again.`,
    };
    yield { type: 'failed', failure, usage: null, retryable: false, retryAfterMs: null } as const satisfies StreamEnd;
  }
}

function measured(usage: Usage | null, limit: number | null): Draft[] {
  if (usage?.input == null || usage.output == null) return [];
  return [{ type: 'context.measured', used: usage.input + usage.output, limit }];
}

async function requestedCalls(
  ports: StepPorts,
  stepId: StepId,
  calls: readonly ModelCall[],
  parts: Map<string, PartId>,
): Promise<Draft[]> {
  const conversation = ports.conversation();
  const drafts: Draft[] = [];
  const ended: Draft[] = [];
  for (const [place, call] of calls.entries()) {
    const callId = `cal_${conversation.counts.calls + place + 1}` as CallId;
    const partId = parts.get(call.key);
    const text = JSON.stringify(call.arguments);
    const long = Buffer.byteLength(text) > maxInlineFieldBytes;
    drafts.push({
      type: 'tool-call.requested',
      callId,
      stepId,
      ...(partId === undefined ? {} : { partId }),
      providerCallId: call.providerCallId,
      tool: call.tool,
      arguments: long ? null : (call.arguments as JsonObject),
      ...(long ? { argumentsBlob: await ports.storeBlob(Buffer.from(text)) } : {}),
      display: displayOf(ports.tools, call),
    });
    // What the model wrote could not be read: there is nothing to run, and the call has its end at once (PR21).
    if (call.problem !== null) ended.push(unreadable(callId, call.problem));
  }
  return [...drafts, ...ended];
}

function unreadable(callId: CallId, problem: string): Draft {
  return { type: 'tool-call.ended', callId, outcome: 'failed', content: [{ type: 'text', text: problem }] };
}
