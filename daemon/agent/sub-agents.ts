/**
 * How a call is carried out by a sub-agent: an agent in a session of its own, whose last reply is the call's result. Promises:
 *   W1  the call names the sub-agent's session before that session exists, so that no sub-agent works that nobody knows
 *   W2  the call has its end, with what the sub-agent spent, once the sub-agent's turn and its jobs have ended, also where that ended badly or out of tokens
 *   W3  an abort ends the sub-agent first; a shutdown leaves one that rests as it is, and the call with it
 */
import type { Conversation, Turn } from '#protocol/conversation/conversation.ts';
import { openWork } from '#protocol/conversation/open.ts';
import type { ToolCall } from '#protocol/conversation/tool-call.ts';
import type { Draft } from '#protocol/event.ts';
import type { CallId, SessionId } from '#protocol/values/ids.ts';
import type { Effort, Mode } from '#protocol/values/model.ts';
import type { CallOutcome } from '#protocol/values/outcome.ts';
import type { Project } from '#protocol/values/project.ts';
import { addTotals } from '#protocol/values/usage.ts';
import { RequestError } from '#protocol/errors.ts';
import { LOG_VERSION } from '#protocol/version.ts';
import { maxAgentDepth } from '../base/limits.ts';
import type { Ids } from '../base/ids.ts';
import type { InputId } from '#protocol/values/ids.ts';
import type { Assignment } from '../tools/tool.ts';

export interface SubAgentStart {
  readonly sessionId: SessionId;
  readonly parent: SessionId;
  readonly callId: CallId;
  readonly agent: string;
  readonly depth: number;
  readonly project: Project;
  readonly folder: string;
  readonly prompt: string;
  readonly model: string | null;
  readonly effort: Effort | null;
  readonly mode: Mode;
}

/** What is needed of an agent that carries a call out. */
export interface SubAgent {
  readonly conversation: Conversation;
  changed(seq: number, signal: AbortSignal): Promise<void>;
  /** Ends its turn, and what it started itself. */
  stop(): Promise<void>;
  /** Ends what it let run in the background. */
  endJobs(): Promise<void>;
  hold(): Promise<void>;
  goOn(): Promise<void>;
}

/** Where sub-agents live: the home's agents, or one run in a terminal. */
export interface SubAgents {
  newSessionId(): SessionId;
  begin(start: SubAgentStart): Promise<SubAgent>;
  /** One that was begun before, opened where it has to be; null where it cannot be had. */
  find(sessionId: SessionId): Promise<SubAgent | null>;
  /** The model that the settings name for sub-agents; null: their parent's. */
  model(): string | null;
}

export interface DelegationPorts {
  conversation(): Conversation;
  transact<T>(decide: (conversation: Conversation) => { events: Draft[]; result: T }): Promise<{ result: T }>;
  subAgents: SubAgents | null;
  mode(): Mode;
}

/** The first events of a sub-agent's session. */
export function beginningOf(start: SubAgentStart, ids: Ids): Draft[] {
  const { sessionId, parent, callId, agent, depth, project, folder, prompt, model, effort, mode } = start;
  return [
    {
      type: 'session.created',
      logVersion: LOG_VERSION,
      sessionId,
      project,
      folder,
      spawned: { sessionId: parent, callId, agent, depth },
    },
    {
      type: 'session.configured',
      mode,
      ...(model === null ? {} : { model }),
      ...(effort === null ? {} : { effort }),
    },
    { type: 'session.titled', title: agent, by: 'agent' },
    {
      type: 'input.queued',
      inputId: ids.uuid7() as InputId,
      target: 'next-turn',
      parts: [{ type: 'text', text: prompt }],
      origin: 'agent',
    },
  ];
}

export interface Delegated {
  outcome: CallOutcome;
  text: string;
  /** Written with the call's end. */
  spent: Draft[];
}

/** Rejects with the signal's reason. `spent` is written by the caller, together with the end. */
export async function delegate(
  ports: DelegationPorts,
  call: ToolCall,
  assignment: Assignment,
  signal: AbortSignal,
): Promise<Delegated> {
  const { subAgents } = ports;
  if (subAgents === null)
    return { outcome: 'failed', text: 'There are no sub-agents here: do it yourself.', spent: [] };
  const started =
    call.child === null ? await begin(ports, subAgents, call, assignment) : await find(subAgents, call.child);
  if ('text' in started) return started;
  const { child, agent, sessionId } = started;
  try {
    // After a restart it rests, and goes on with the turn that waits for it.
    if (call.child !== null && child.conversation.active !== null) await child.goOn();
    while (!hasEnded(child.conversation, call.child !== null)) await child.changed(child.conversation.seq, signal);
  } catch (error) {
    if (signal.reason !== 'abort') throw error;
    await child.stop();
    const spent = spentBy(child.conversation, { agent, callId: call.callId, sessionId }, 'aborted');
    await ports.transact(() => ({ events: [spent], result: undefined }));
    throw error;
  }
  await child.endJobs();
  const { conversation } = child;
  const outcome = conversation.lastOutcome ?? 'interrupted';
  return {
    ...resultOf(conversation),
    spent: [spentBy(conversation, { agent, callId: call.callId, sessionId }, outcome)],
  };
}

interface Started {
  child: SubAgent;
  agent: string;
  sessionId: SessionId;
}

async function begin(
  ports: DelegationPorts,
  subAgents: SubAgents,
  { callId }: ToolCall,
  assignment: Assignment,
): Promise<Started | Delegated> {
  const { session, settings, active } = ports.conversation();
  const depth = (session?.spawned?.depth ?? 0) + 1;
  if (session === null || depth > maxAgentDepth) {
    const text = `Sub-agents may stand ${maxAgentDepth} deep at most (maxAgentDepth): do it yourself.`;
    return { outcome: 'failed', text, spent: [] };
  }
  const sessionId = subAgents.newSessionId();
  const { agent } = assignment;
  await ports.transact(() => ({
    events: [
      { type: 'tool-call.started', callId },
      { type: 'agent.started', agent, callId, sessionId },
    ],
    result: undefined,
  }));
  try {
    const child = await subAgents.begin({
      sessionId,
      parent: session.sessionId,
      callId,
      agent,
      depth,
      project: session.project,
      folder: session.folder,
      prompt: assignment.prompt,
      model: assignment.model ?? subAgents.model() ?? active?.step?.model ?? settings.model,
      effort: settings.effort,
      mode: ports.mode(),
    });
    return { child, agent, sessionId };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { outcome: 'failed', text: `The sub-agent could not be started: ${error.message}`, spent: [] };
  }
}

async function find(
  subAgents: SubAgents,
  { agent, sessionId }: NonNullable<ToolCall['child']>,
): Promise<Started | Delegated> {
  const child = await subAgents.find(sessionId);
  if (child !== null) return { child, agent, sessionId };
  return { outcome: 'interrupted', text: 'The session of the sub-agent cannot be had any more.', spent: [] };
}

/** One that was begun before and has no turn was killed before it began. */
function hasEnded(conversation: Conversation, before: boolean): boolean {
  return conversation.active === null && (before || conversation.counts.turns > 0);
}

/** What its turn came to, in words for the agent that asked. */
function resultOf(conversation: Conversation): { outcome: CallOutcome; text: string } {
  const turn = conversation.turns.at(-1);
  const last = turn?.steps.at(-1);
  const said = last === undefined ? '' : textOf([last]);
  const soFar = turn === undefined ? '' : textOf(turn.steps);
  const work = soFar === '' ? ' It had said nothing.' : ` Its work so far:\n\n${soFar}`;
  switch (turn?.outcome) {
    case 'completed':
      return { outcome: 'completed', text: said === '' ? 'The sub-agent ended without a word.' : said };
    case 'failed':
      if (turn.failure?.code === 'token_limit')
        return { outcome: 'completed', text: `[${turn.failure.message}]${work}` };
      return {
        outcome: 'failed',
        text: `The sub-agent failed: ${turn.failure?.message ?? 'for no known reason'}${work}`,
      };
    case 'aborted':
      return { outcome: 'failed', text: `The person stopped the sub-agent.${work}` };
    case 'interrupted':
    case null:
    case undefined:
      return { outcome: 'interrupted', text: `The sub-agent was interrupted.${work}` };
  }
}

function textOf(steps: Turn['steps']): string {
  return steps
    .flatMap((step) => step.parts.filter((part) => part.kind === 'text' && part.text.trim() !== ''))
    .map((part) => part.text.trim())
    .join('\n\n');
}

export function spentBy(
  { usage, delegated, cost, unknownCost }: Conversation,
  of: { agent: string; callId: CallId; sessionId: SessionId },
  outcome: string,
): Draft {
  return {
    type: 'agent.ended',
    ...of,
    outcome,
    usage: addTotals(usage, delegated.usage),
    cost: cost + delegated.cost,
    unknownCost: unknownCost + delegated.unknownCost,
  };
}

/** Sub-agents that calls of the open step wait for. */
export function childrenOf(conversation: Conversation): { callId: CallId; agent: string; sessionId: SessionId }[] {
  const calls = openWork(conversation)?.calls ?? [];
  return calls.flatMap(({ callId, child }) => (child === null ? [] : [{ callId, ...child }]));
}

const strictness: readonly Mode[] = ['plan', 'ask', 'auto'];

/** Of two modes the one that lets less happen by itself. */
export function stricter(one: Mode, other: Mode): Mode {
  return strictness[Math.min(strictness.indexOf(one), strictness.indexOf(other))] ?? 'plan';
}
