/** Projections of a conversation that lists show: its name, and which of the states of the arch it is in. */
import type { Conversation } from './conversation.ts';

/** What a session is doing, as every list shows it. Only `waiting` ever is amber. */
export type SessionState = 'idle' | 'running' | 'waiting' | 'pausing' | 'paused' | 'failed' | 'interrupted' | 'queued';

export function titleOf(conversation: Conversation): string {
  return conversation.session?.title ?? conversation.session?.opening ?? 'New session';
}

/** `driver`: what the driver does just now, which no event says until it is done. */
export function stateOf(
  conversation: Conversation,
  driver: 'idle' | 'running' | 'pausing' | 'paused' | 'aborting',
): SessionState {
  if (conversation.approvals.length > 0 || conversation.questions.length > 0) return 'waiting';
  if (driver === 'running' || driver === 'aborting') return 'running';
  if (driver === 'pausing') return 'pausing';
  if (conversation.active !== null) return 'paused';
  if (conversation.inbox.length > 0) return 'queued';
  if (conversation.lastOutcome === 'failed') return 'failed';
  if (conversation.lastOutcome === 'interrupted') return 'interrupted';
  return 'idle';
}
