/** Conversation -> the row that lists show. A projection: the same for a session that is open, closed, or only looked at. */
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { stateOf, titleOf } from '#protocol/conversation/status.ts';
import type { DriverState, SessionSummary } from '#protocol/commands/session-values.ts';
import type { ProjectId, SessionId } from '#protocol/values/ids.ts';
import type { Project } from '#protocol/values/project.ts';

/** What a row needs that stands in no log. */
export interface RowFacts {
  defaultModel(): string;
  /** The project as it is known on this machine: a run in a terminal may have named the same folder by another id. */
  projectIdOf(project: Project): ProjectId;
}

/** Not in the list of sessions: deleted, or a sub-agent's, which is reached from the session that started it. */
export function isHidden({ session }: Conversation): boolean {
  return session !== null && (session.deleted || session.spawned !== null);
}

/** US2: with what waits for a person in the sub-agents below it, each naming who asks. */
export function withRequestsBelow(own: SessionSummary, below: readonly SessionSummary[]): SessionSummary {
  if (below.length === 0) return own;
  const named = <One extends { sessionId?: SessionId | undefined; agent?: string | undefined }>(
    child: SessionSummary,
    open: readonly One[],
  ) =>
    open.map((one) => ({
      ...one,
      sessionId: one.sessionId ?? child.sessionId,
      agent: one.agent ?? child.spawned?.agent ?? child.title,
    }));
  const questions = [...(own.questions ?? []), ...below.flatMap((child) => named(child, child.questions ?? []))];
  return {
    ...own,
    state: 'waiting',
    requests: [...own.requests, ...below.flatMap((child) => named(child, child.requests))],
    ...(questions.length === 0 ? {} : { questions }),
  };
}

export function summarise(
  sessionId: SessionId,
  conversation: Conversation,
  facts: RowFacts,
  now: { driver: DriverState; problem: string | null; owner: string | null },
): SessionSummary {
  const { session, settings } = conversation;
  return {
    sessionId,
    projectId: session === null ? null : facts.projectIdOf(session.project),
    title: titleOf(conversation),
    createdAt: session?.createdAt ?? conversation.at,
    updatedAt: conversation.at,
    seq: conversation.seq,
    state: stateOf(conversation, now.driver),
    driver: now.driver,
    model: settings.model ?? facts.defaultModel(),
    mode: settings.mode,
    lastOutcome: conversation.lastOutcome,
    activity: activityOf(conversation),
    requests: conversation.approvals.map((approval) => ({
      approvalId: approval.approvalId,
      at: approval.at,
      tool: approval.tool,
      title: approval.title,
      target: approval.target,
      reason: approval.reason,
      caution: approval.caution,
      rulePattern: approval.rulePattern,
      arguments: approval.arguments,
      preview: approval.preview,
    })),
    ...(conversation.questions.length === 0
      ? {}
      : {
          questions: conversation.questions.map(({ questionId, at, text, options }) => ({
            questionId,
            at,
            text,
            options: [...options],
          })),
        }),
    ...(session?.spawned == null
      ? {}
      : { spawned: { ...session.spawned, tokens: conversation.usage.input + conversation.usage.output } }),
    archived: session?.archived ?? false,
    problem: now.problem,
    owner: now.owner,
  };
}

/** The running tool and its target, else what the reply is doing, else what the last turn changed. */
function activityOf(conversation: Conversation): string | null {
  const step = conversation.active?.step;
  if (!step) {
    const changed = conversation.turns.at(-1)?.changed ?? [];
    if (changed.length === 0) return null;
    const added = changed.reduce((sum, file) => sum + file.added, 0);
    const removed = changed.reduce((sum, file) => sum + file.removed, 0);
    return `${changed.length} ${changed.length === 1 ? 'file' : 'files'} +${added} −${removed}`;
  }
  const call = step.calls.find((one) => one.state === 'running');
  if (call !== undefined) return [call.display.title, oneLine(call.display.target)].filter(Boolean).join(' ');
  if (step.reply !== null) return null;
  const part = step.parts.at(-1);
  if (part === undefined) return step.retries.length > 0 ? 'waits to try again' : 'asks the model';
  return part.kind === 'reasoning' ? 'thinks' : part.kind === 'text' ? 'writes' : `prepares ${part.tool ?? 'a tool'}`;
}

function oneLine(text: string | undefined): string {
  const line = text?.split('\n')[0]?.trim() ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
