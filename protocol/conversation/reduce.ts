/**
 * THE FOLD: the only code that turns events into state. Invariants:
 *   F1  pure and clockless: time is `event.at`, ids are in the event
 *   F2  total: never throws; an unknown kind changes nothing but the place
 *   F3  a known event that does not fit is recorded in `anomalies` and changes nothing else
 *   F4  folding a prefix and then the rest equals folding the whole; folding condensed events equals folding plain ones
 *   F5  the cost of a token does not grow with the history or with the length of the turn
 */
import { isKnown, type EventKind, type EventOf, type KnownEvent, type SessionEvent } from '../event.ts';
import type { InputPart } from '../values/content.ts';
import { changesIn } from '../values/display.ts';
import { addUsage, noUsage, type Usage } from '../values/usage.ts';
import {
  commandMemoryMs,
  maxAnomalies,
  maxChangedFiles,
  maxWarnings,
  type Conversation,
  type OpenApproval,
  type Part,
  type SessionFacts,
  type Step,
  type Turn,
} from './conversation.ts';
import { attach, edit, move, queue, remove } from './inbox.ts';
import { openingWords } from './opening.ts';
import { addOutput, noOutput, refuseTransition, type ToolCall } from './tool-call.ts';

/** A string says why the event does not fit. */
type Folded = Conversation | string;

export function reduce(conversation: Conversation, event: SessionEvent): Conversation {
  const first = event.from ?? event.seq;
  if (first <= conversation.seq) return misfit(conversation, event, `seq ${first} was folded already`);
  const placed = { ...conversation, seq: event.seq, at: event.at };
  if (first !== conversation.seq + 1)
    return misfit(placed, event, `events ${conversation.seq + 1} to ${first - 1} are missing`);
  if (!isKnown(event)) return placed;
  const folded = (reducers[event.type] as (c: Conversation, e: KnownEvent) => Folded)(placed, event);
  if (typeof folded === 'string') return misfit(placed, event, folded);
  return event.command === undefined ? folded : remember(folded, event);
}

function misfit(conversation: Conversation, event: SessionEvent, problem: string): Conversation {
  const anomalies = [...conversation.anomalies, { seq: event.seq, type: event.type, problem }].slice(-maxAnomalies);
  return { ...conversation, anomalies };
}

function remember(conversation: Conversation, event: KnownEvent): Conversation {
  if (event.command === undefined) return conversation;
  const { id, digest } = event.command;
  const known = conversation.commands.filter((one) => one.at > event.at - commandMemoryMs && one.id !== id);
  return { ...conversation, commands: [...known, { id, digest, seq: event.seq, at: event.at }] };
}

const reducers: { [Kind in EventKind]: (conversation: Conversation, event: EventOf<Kind>) => Folded } = {
  'session.created': (c, e) =>
    c.session !== null
      ? 'the session exists already'
      : {
          ...c,
          session: {
            sessionId: e.sessionId,
            logVersion: e.logVersion,
            project: e.project,
            folder: e.folder,
            createdAt: e.at,
            title: null,
            titledBy: null,
            opening: null,
            parent: null,
            archived: false,
            deleted: false,
          },
        },
  'session.forked': (c, e) =>
    withSession(c, (session) => ({
      ...session,
      sessionId: e.sessionId,
      parent: e.parent,
      createdAt: e.at,
      title: null,
      titledBy: null,
      archived: false,
      deleted: false,
    })),
  'session.configured': (c, e) => ({
    ...c,
    settings: {
      model: e.model ?? c.settings.model,
      effort: e.effort === undefined ? c.settings.effort : e.effort,
      mode: e.mode ?? c.settings.mode,
    },
  }),
  'session.titled': (c, e) => withSession(c, (session) => ({ ...session, title: e.title, titledBy: e.by })),
  'session.archived': (c) => withSession(c, (session) => ({ ...session, archived: true })),
  'session.restored': (c) => withSession(c, (session) => ({ ...session, archived: false, deleted: false })),
  'session.deleted': (c) => withSession(c, (session) => ({ ...session, deleted: true })),

  'input.queued': (c, e) => {
    const inbox = queue(c.inbox, { inputId: e.inputId, target: e.target, parts: e.parts, origin: e.origin, at: e.at });
    if (typeof inbox === 'string') return inbox;
    const { session } = c;
    const attached = attach(c.attached, [], e.parts);
    if (session === null || session.opening !== null) return { ...c, inbox, attached };
    return { ...c, inbox, attached, session: { ...session, opening: openingWords(e.parts) } };
  },
  'input.edited': (c, e) =>
    withInbox(c, edit(c.inbox, e.inputId, e.parts), attach(c.attached, waitingParts(c, e.inputId), e.parts)),
  'input.moved': (c, e) => withInbox(c, move(c.inbox, e.inputId, e.target, e.before)),
  'input.withdrawn': (c, e) =>
    withInbox(c, remove(c.inbox, [e.inputId]), attach(c.attached, waitingParts(c, e.inputId), [])),
  'input.claimed': (c, e) => {
    const inbox = remove(c.inbox, e.inputIds);
    if (typeof inbox === 'string') return inbox;
    return withStep(
      c,
      e.stepId,
      (step) => {
        const claimed = c.inbox
          .filter((one) => e.inputIds.includes(one.inputId))
          .map((one) => ({ ...one, claimedAt: e.at }));
        return { ...step, inputs: [...step.inputs, ...claimed] };
      },
      { inbox },
    );
  },

  'turn.started': (c, e) => {
    if (c.active !== null) return `turn ${c.active.turnId} is still open`;
    const turn: Turn = {
      turnId: e.turnId,
      startedAt: e.at,
      startedSeq: e.seq,
      paused: false,
      steps: [],
      omittedSteps: 0,
      step: null,
      usage: noUsage,
      cost: 0,
      unknownCost: 0,
      calls: 0,
      changed: [],
      endedAt: null,
      endedSeq: null,
      outcome: null,
      failure: null,
    };
    return { ...c, active: turn, counts: { ...c.counts, turns: c.counts.turns + 1 } };
  },
  'turn.paused': (c, e) =>
    withTurn(c, e.turnId, (turn) => (turn.paused ? 'the turn is paused already' : { ...turn, paused: true })),
  'turn.resumed': (c, e) =>
    withTurn(c, e.turnId, (turn) => (turn.paused ? { ...turn, paused: false } : 'the turn is not paused')),
  'turn.ended': (c, e) => {
    const turn = c.active;
    if (turn === null || turn.turnId !== e.turnId) return `turn ${e.turnId} is not open`;
    if (turn.step !== null) return `step ${turn.step.stepId} is still open`;
    const closed: Turn = {
      ...turn,
      paused: false,
      endedAt: e.at,
      endedSeq: e.seq,
      outcome: e.outcome,
      failure: e.failure ?? null,
    };
    return { ...c, turns: [...c.turns, closed], active: null, lastOutcome: e.outcome };
  },

  'step.started': (c, e) => {
    const turn = c.active;
    if (turn === null || turn.turnId !== e.turnId) return `turn ${e.turnId} is not open`;
    if (turn.step !== null) return `step ${turn.step.stepId} is still open`;
    const step: Step = {
      stepId: e.stepId,
      startedAt: e.at,
      startedSeq: e.seq,
      model: e.model,
      effort: e.effort,
      mode: e.mode,
      inputs: [],
      parts: [],
      calls: [],
      retries: [],
      reply: null,
      endedAt: null,
      endedSeq: null,
      outcome: null,
      failure: null,
    };
    return { ...c, active: { ...turn, step }, counts: { ...c.counts, steps: c.counts.steps + 1 } };
  },
  'step.retried': (c, e) =>
    withStep(
      c,
      e.stepId,
      (step) =>
        step.reply !== null
          ? 'the reply is complete'
          : {
              ...step,
              retries: [...step.retries, { attempt: e.attempt, at: e.at, delayMs: e.delayMs, reason: e.reason }],
            },
      spend(c, e.usage, null),
      (turn) => ({ ...turn, ...spend(turn, e.usage, null) }),
    ),
  'step.replied': (c, e) =>
    withStep(
      c,
      e.stepId,
      (step) =>
        step.reply !== null
          ? 'the reply is complete already'
          : {
              ...step,
              reply: { stop: e.stop, usage: e.usage, cost: e.cost, firstTokenMs: e.firstTokenMs, totalMs: e.totalMs },
            },
      spend(c, e.usage, e.cost),
      (turn) => ({ ...turn, ...spend(turn, e.usage, e.cost) }),
    ),
  'step.ended': (c, e) => {
    const turn = c.active;
    const step = turn?.step;
    if (!turn || !step || step.stepId !== e.stepId) return `step ${e.stepId} is not open`;
    const open = step.parts.find((part) => part.endedAt === null);
    if (open !== undefined) return `part ${open.partId} is still open`;
    const call = step.calls.find((one) => one.state !== 'ended');
    if (call !== undefined) return `call ${call.callId} has no end`;
    const closed: Step = { ...step, endedAt: e.at, endedSeq: e.seq, outcome: e.outcome, failure: e.failure ?? null };
    const ended: Turn = { ...turn, step: null, steps: [...turn.steps, closed] };
    // A reply that never completed counts here, once: its usage where it came, else as unknown.
    if (step.reply !== null || e.usage === undefined) return { ...c, active: ended };
    return { ...c, ...spend(c, e.usage, null), active: { ...ended, ...spend(turn, e.usage, null) } };
  },

  'part.started': (c, e) =>
    withStep(
      c,
      e.stepId,
      (step) =>
        step.reply !== null
          ? 'the reply is complete'
          : {
              ...step,
              parts: [
                ...step.parts,
                {
                  partId: e.partId,
                  kind: e.kind,
                  tool: e.tool ?? null,
                  text: '',
                  startedAt: e.at,
                  endedAt: null,
                  signature: null,
                },
              ],
            },
      { counts: { ...c.counts, parts: c.counts.parts + 1 } },
    ),
  'part.delta': (c, e) => withPart(c, e.partId, (part) => ({ ...part, text: part.text + e.text })),
  'part.ended': (c, e) => withPart(c, e.partId, (part) => ({ ...part, endedAt: e.at, signature: e.signature ?? null })),
  'part.reclassified': (c, e) => {
    const step = c.active?.step;
    if (!step?.parts.some((part) => part.partId === e.partId)) return `part ${e.partId} is not in the open step`;
    return withStep(c, step.stepId, (open) => ({
      ...open,
      parts: open.parts.map((part) => (part.partId === e.partId ? { ...part, kind: e.kind } : part)),
    }));
  },

  'tool-call.requested': (c, e) =>
    withStep(
      c,
      e.stepId,
      (step) => {
        if (step.reply === null) return 'the reply is not complete';
        const call: ToolCall = {
          callId: e.callId,
          partId: e.partId ?? null,
          providerCallId: e.providerCallId,
          tool: e.tool,
          arguments: e.arguments,
          argumentsBlob: e.argumentsBlob ?? null,
          display: e.display,
          state: 'requested',
          approval: null,
          requestedAt: e.at,
          startedAt: null,
          output: noOutput,
          endedAt: null,
          outcome: null,
          content: [],
          details: null,
        };
        return { ...step, calls: [...step.calls, call] };
      },
      { counts: { ...c.counts, calls: c.counts.calls + 1 } },
      (turn) => ({ ...turn, calls: turn.calls + 1 }),
    ),
  'tool-call.started': (c, e) =>
    withCall(c, e.callId, 'running', (call) => ({ ...call, state: 'running', startedAt: e.at })),
  'tool-call.output': (c, e) =>
    withCall(c, e.callId, 'output', (call) => ({
      ...call,
      output: addOutput(call.output, e.text, e.skippedBytes ?? 0),
    })),
  'tool-call.ended': (c, e) => {
    const ended = withCall(c, e.callId, 'ended', (call) => ({
      ...call,
      state: 'ended',
      endedAt: e.at,
      outcome: e.outcome,
      content: e.content,
      details: e.details ?? null,
    }));
    if (typeof ended === 'string' || ended.active === null) return ended;
    const changed = changesIn(e.details).reduce(addChange, ended.active.changed);
    return changed === ended.active.changed ? ended : { ...ended, active: { ...ended.active, changed } };
  },

  'approval.requested': (c, e) => {
    const call = findCall(c, e.callId);
    if (call === undefined) return `call ${e.callId} is not in the open step`;
    const asked = withCall(c, e.callId, 'waiting', (one) => ({
      ...one,
      state: 'waiting',
      approval: {
        approvalId: e.approvalId,
        decision: 'open',
        caution: e.caution,
        scope: null,
        by: null,
        at: e.at,
        note: null,
        changedArguments: false,
      },
    }));
    if (typeof asked === 'string') return asked;
    const open: OpenApproval = {
      approvalId: e.approvalId,
      callId: e.callId,
      at: e.at,
      reason: e.reason,
      caution: e.caution,
      rulePattern: e.rulePattern,
      preview: e.preview ?? null,
      tool: call.tool,
      title: call.display.title,
      target: call.display.target ?? null,
      arguments: call.arguments,
      argumentsBlob: call.argumentsBlob,
    };
    return {
      ...asked,
      approvals: [...asked.approvals, open],
      counts: { ...asked.counts, approvals: asked.counts.approvals + 1 },
    };
  },
  'approval.resolved': (c, e) => {
    const open = c.approvals.find((one) => one.approvalId === e.approvalId);
    if (open === undefined) return `approval ${e.approvalId} is not open`;
    // Allowed: free to start. Denied: still without an end, which the calls' loop writes.
    const answered = withCall(c, open.callId, 'allowed', (call) => ({
      ...call,
      state: 'requested',
      arguments: e.arguments ?? call.arguments,
      argumentsBlob: e.arguments === undefined ? call.argumentsBlob : null,
      approval: {
        approvalId: e.approvalId,
        decision: e.decision,
        caution: open.caution,
        scope: e.scope,
        by: e.by,
        at: e.at,
        note: e.note ?? null,
        changedArguments: e.arguments !== undefined,
      },
    }));
    if (typeof answered === 'string') return answered;
    const granted = e.decision === 'allow' && e.scope !== 'once';
    return {
      ...answered,
      approvals: c.approvals.filter((one) => one !== open),
      grants: granted ? [...c.grants, { tool: open.tool, pattern: open.rulePattern, scope: e.scope }] : c.grants,
    };
  },
  'approval.withdrawn': (c, e) => {
    const open = c.approvals.find((one) => one.approvalId === e.approvalId);
    if (open === undefined) return `approval ${e.approvalId} is not open`;
    const withdrawn = withCall(c, open.callId, 'allowed', (call) => ({
      ...call,
      state: 'requested',
      approval: call.approval === null ? null : { ...call.approval, decision: 'withdrawn', at: e.at, note: e.reason },
    }));
    return typeof withdrawn === 'string'
      ? withdrawn
      : { ...withdrawn, approvals: c.approvals.filter((one) => one !== open) };
  },

  'question.requested': (c, e) => ({
    ...c,
    questions: [
      ...c.questions,
      { questionId: e.questionId, callId: e.callId ?? null, at: e.at, text: e.text, options: e.options },
    ],
    counts: { ...c.counts, questions: c.counts.questions + 1 },
  }),
  'question.resolved': (c, e) => closeQuestion(c, e.questionId),
  'question.withdrawn': (c, e) => closeQuestion(c, e.questionId),

  'context.measured': (c, e) => ({ ...c, context: { used: e.used, limit: e.limit } }),
  'compaction.started': (c) => c,
  'compaction.ended': (c, e) =>
    e.outcome === 'completed' && e.summary !== undefined && e.firstKeptSeq !== undefined
      ? { ...c, compaction: { summary: e.summary, firstKeptSeq: e.firstKeptSeq } }
      : c,

  'warning.raised': (c, e) => ({
    ...c,
    warnings: [...c.warnings, { seq: e.seq, at: e.at, code: e.code, message: e.message }].slice(-maxWarnings),
  }),
  'annotation.pinned': (c, e) => ({
    ...c,
    pins: [...c.pins.filter((pin) => pin.seq !== e.eventSeq), { seq: e.eventSeq, note: e.note ?? null }],
  }),
  'annotation.unpinned': (c, e) => ({ ...c, pins: c.pins.filter((pin) => pin.seq !== e.eventSeq) }),
  'annotation.reviewed': (c) => c,

  'plan.proposed': (c, e) => ({ ...c, plan: { text: e.text, decision: null } }),
  'plan.decided': (c, e) =>
    c.plan === null ? 'no plan was proposed' : { ...c, plan: { ...c.plan, decision: e.decision } },
  'todo.replaced': (c, e) => ({ ...c, todos: e.todos }),
  // Facts for the run record and the timeline, which read the log themselves; the state of the conversation does not depend on them.
  'agent.started': (c) => c,
  'agent.intent-stated': (c) => c,
  'agent.handed-off': (c) => c,
  'agent.ended': (c) => c,
  'skill.applied': (c) => c,
  'hook.started': (c) => c,
  'hook.ended': (c) => c,
  'checkpoint.made': (c) => c,
  'checkpoint.restored': (c) => c,
  'change.baseline-taken': (c) => c,
  'change.summarised': (c) => c,
};

function withSession(c: Conversation, change: (session: SessionFacts) => SessionFacts): Folded {
  return c.session === null ? 'there is no session yet' : { ...c, session: change(c.session) };
}

function withInbox(c: Conversation, inbox: Conversation['inbox'] | string, attached = c.attached): Folded {
  return typeof inbox === 'string' ? inbox : { ...c, inbox, attached };
}

function waitingParts(c: Conversation, inputId: string): readonly InputPart[] {
  return c.inbox.find((one) => one.inputId === inputId)?.parts ?? [];
}

function withTurn(c: Conversation, turnId: string, change: (turn: Turn) => Turn | string): Folded {
  if (c.active === null || c.active.turnId !== turnId) return `turn ${turnId} is not open`;
  const turn = change(c.active);
  return typeof turn === 'string' ? turn : { ...c, active: turn };
}

/** Changes the open step, and with it, where given, the turn and the conversation: all of it, or nothing where `change` says why not. */
function withStep(
  c: Conversation,
  stepId: string,
  change: (step: Step) => Step | string,
  also: Partial<Conversation> = {},
  changeTurn: (turn: Turn) => Turn = (turn) => turn,
): Folded {
  const turn = c.active;
  const step = turn?.step;
  if (!turn || !step || step.stepId !== stepId) return `step ${stepId} is not open`;
  const changed = change(step);
  return typeof changed === 'string' ? changed : { ...c, ...also, active: changeTurn({ ...turn, step: changed }) };
}

type Spending = Pick<Conversation, 'usage' | 'cost' | 'unknownCost'>;

/** Adds one attempt to a turn's or the session's totals; null is what nobody told. */
function spend({ usage, cost, unknownCost }: Spending, used: Usage | null, paid: number | null): Spending {
  return { usage: addUsage(usage, used), cost: cost + (paid ?? 0), unknownCost: unknownCost + (paid === null ? 1 : 0) };
}

function withPart(c: Conversation, partId: string, change: (part: Part) => Part): Folded {
  const step = c.active?.step;
  if (!step) return 'no step is open';
  // The part that streams is nearly always the last one.
  const place = step.parts.findLastIndex((part) => part.partId === partId);
  const part = step.parts[place];
  if (part === undefined) return `part ${partId} is not in the open step`;
  if (part.endedAt !== null) return `part ${partId} has ended`;
  return withStep(c, step.stepId, (open) => ({ ...open, parts: open.parts.with(place, change(part)) }));
}

function findCall(c: Conversation, callId: string): ToolCall | undefined {
  return c.active?.step?.calls.find((call) => call.callId === callId);
}

function withCall(
  c: Conversation,
  callId: string,
  to: Parameters<typeof refuseTransition>[1],
  change: (call: ToolCall) => ToolCall,
): Folded {
  const step = c.active?.step;
  const place = step?.calls.findIndex((call) => call.callId === callId) ?? -1;
  const call = step?.calls[place];
  if (!step || call === undefined) return `call ${callId} is not in the open step`;
  const refusal = refuseTransition(call, to);
  if (refusal !== null) return refusal;
  return withStep(c, step.stepId, (open) => ({ ...open, calls: open.calls.with(place, change(call)) }));
}

function closeQuestion(c: Conversation, questionId: string): Folded {
  const questions = c.questions.filter((question) => question.questionId !== questionId);
  return questions.length === c.questions.length ? `question ${questionId} is not open` : { ...c, questions };
}

function addChange(changed: Turn['changed'], file: { path: string; added: number; removed: number }): Turn['changed'] {
  const before = changed.find((one) => one.path === file.path);
  const after = {
    path: file.path,
    added: (before?.added ?? 0) + file.added,
    removed: (before?.removed ?? 0) + file.removed,
  };
  if (before !== undefined) return changed.map((one) => (one === before ? after : one));
  return changed.length < maxChangedFiles ? [...changed, after] : changed;
}
