/**
 * Who stands below whom: the agents that are open, what of them rests, how freely each may act, and what waits for a person below each session.
 * Knows nothing of how they are opened; whoever opens and closes them says so.
 */
import type { SessionSummary } from '#protocol/commands/session-values.ts';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { atRest } from '#protocol/conversation/open.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import type { Mode } from '#protocol/values/model.ts';
import { childrenOf, stricter } from './sub-agents.ts';

export class AgentTree<One extends { readonly conversation: Conversation }> {
  readonly #agents = new Map<SessionId, One>();
  /** The last rows of sub-agents that have something open, by who started them. */
  readonly #below = new Map<SessionId, Map<SessionId, SessionSummary>>();

  put(sessionId: SessionId, agent: One): void {
    this.#agents.set(sessionId, agent);
  }

  drop(sessionId: SessionId): void {
    this.#agents.delete(sessionId);
  }

  get(sessionId: SessionId): One | undefined {
    return this.#agents.get(sessionId);
  }

  get all(): readonly One[] {
    return [...this.#agents.values()];
  }

  /** Whether a sub-agent of an open call works just now, or has ended without that call knowing. */
  anyMovesBelow(conversation: Conversation): boolean {
    return childrenOf(conversation).some((child) => !this.#rests(child.sessionId));
  }

  /** Its turn is open, and nothing in it or below moves. */
  #rests(sessionId: SessionId): boolean {
    const conversation = this.#agents.get(sessionId)?.conversation;
    if (conversation === undefined || conversation.active === null || !atRest(conversation)) return false;
    return !this.anyMovesBelow(conversation);
  }

  /** What a sub-agent of this session may do at most. A session that is not open just now lets nothing run by itself. */
  modeOf(sessionId: SessionId): Mode {
    const conversation = this.#agents.get(sessionId)?.conversation;
    if (conversation === undefined) return 'ask';
    const above = conversation.session?.spawned?.sessionId;
    return above === undefined ? conversation.settings.mode : stricter(conversation.settings.mode, this.modeOf(above));
  }

  /** US2: keeps what a sub-agent has open for those above it. False where that says nothing new. */
  hear(child: SessionSummary): boolean {
    const above = child.spawned?.sessionId;
    if (above === undefined) return false;
    const waiting = this.#below.get(above) ?? new Map<SessionId, SessionSummary>();
    this.#below.set(above, waiting);
    if (child.requests.length + (child.questions?.length ?? 0) === 0) return waiting.delete(child.sessionId);
    waiting.set(child.sessionId, child);
    return true;
  }

  waitingBelow(sessionId: SessionId): readonly SessionSummary[] {
    return [...(this.#below.get(sessionId)?.values() ?? [])];
  }
}
