/**
 * Asks the session's model for the summary that a compaction needs, and says how the compaction ends. Where the question itself is too long for
 * the model, it is asked again with shorter results; nothing is asked without end. Throws only the signal's reason.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { Draft } from '#protocol/event.ts';
import type { Usage } from '#protocol/values/usage.ts';
import {
  longestRetryMs,
  maxAttempts,
  maxSummaryCharacters,
  summaryQuestionShare,
  summaryQuestionTokens,
} from '../../base/limits.ts';
import { costOf } from '../../llm/catalogue/cost.ts';
import type { ModelRequest, StreamEnd } from '../../llm/item.ts';
import type { ModelClient } from '../../llm/model-stream.ts';
import type { ResolveModel } from '../../llm/resolved-model.ts';
import {
  failedEnd,
  planCompaction,
  resultCharacters,
  summaryEnd,
  summaryQuestion,
  summarySystem,
} from './compaction.ts';
import { waitBeforeRetry } from '../step.ts';

type CompactionEnd = Extract<Draft, { type: 'compaction.ended' }>;

/** `model`: by its whole name. The conversation holds every step that is not summarised yet. */
export async function summarise(
  conversation: Conversation,
  model: string,
  resolveModel: ResolveModel,
  signal: AbortSignal,
): Promise<CompactionEnd> {
  const resolved = await resolveModel(model);
  if ('failure' in resolved) return failedEnd(conversation, resolved.failure.message);
  const limit = resolved.contextWindow ?? conversation.context?.limit ?? null;
  const plan = planCompaction(conversation, limit);
  if (plan === null)
    return failedEnd(
      conversation,
      'There is nothing yet that a summary could stand for: the latest steps stay as they are.',
    );
  const tokens = limit === null ? summaryQuestionTokens : limit * summaryQuestionShare;
  let refused = '';
  for (const ofResult of resultCharacters) {
    const text = summaryQuestion(conversation, plan, ofResult, 4 * tokens);
    const request: ModelRequest = {
      model: resolved.model,
      effort: null,
      system: summarySystem,
      items: [{ type: 'person', parts: [{ type: 'text', text }] }],
      tools: [],
    };
    const { said, end } = await ask(resolved.client, request, signal);
    const spent = { usage: end.usage, cost: costOf(end.usage, resolved.price) };
    if (end.type === 'done') return { ...summaryEnd(conversation, plan, said), ...spent };
    if (end.type === 'aborted')
      return { ...failedEnd(conversation, 'The answer ended early for no known reason.'), ...spent };
    refused = end.failure.message;
    if (end.failure.code !== 'context_full') return { ...failedEnd(conversation, refused), ...spent };
  }
  return failedEnd(conversation, `What is to be summarised is itself too long for ${model}. ${refused}`);
}

async function ask(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<{ said: string; end: StreamEnd }> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await once(client, request, signal);
    signal.throwIfAborted();
    const { end } = answer;
    if (end.type !== 'failed' || !end.retryable || attempt >= maxAttempts) return answer;
    const delayMs = waitBeforeRetry(attempt, end.retryAfterMs);
    if (delayMs > longestRetryMs) return answer;
    await delay(delayMs, undefined, { signal });
  }
}

async function once(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<{ said: string; end: StreamEnd }> {
  const texts = new Set<string>();
  let said = '';
  for await (const event of client.stream(request, signal)) {
    if (event.type === 'part-started' && event.kind === 'text') texts.add(event.key);
    else if (event.type === 'part-delta' && texts.has(event.key))
      said = `${said}${event.text}`.slice(0, maxSummaryCharacters);
    else if (event.type === 'done' || event.type === 'failed' || event.type === 'aborted') return { said, end: event };
  }
  const usage: Usage | null = null;
  return { said, end: { type: 'aborted', usage } };
}
