/**
 * THE FOLD: the only code that turns events into state. Invariants:
 *   F1  pure and clockless: time is `event.at`, ids are in the event
 *   F2  total: never throws; an unknown kind changes nothing but the place
 *   F3  a known event that does not fit is recorded in `anomalies` and changes nothing else
 *   F4  folding a prefix and then the rest equals folding the whole; folding condensed events equals folding plain ones
 *   F5  the cost of a token does not grow with the history or with the length of the turn
 */
import {
  isKnown,
  type CommandMark,
  type EventKind,
  type EventOf,
  type KnownEvent,
  type SessionEvent,
} from '../event.ts';
import type { InputPart } from '../values/content.ts';
import { changesIn } from '../values/display.ts';
import { addTotals, addUsage, noUsage, type Usage } from '../values/usage.ts';
import {
  commandMemoryMs,
  maxAnomalies,
  maxChangedFiles,
  maxCompactionMarks,
  maxWarnings,
  type CompactionMark,
  type Conversation,
  type OpenApproval,
  type Part,
  type SessionFacts,
  type Step,
  type Turn,
} from './conversation.ts';
import { attach, edit, move, queue, remove } from './inbox.ts';
import { endJob, startJob, told, untold } from './jobs.ts';
import { failedCheckOf, isPlanReview } from './open.ts';
import { openingWords } from './opening.ts';
import { addOutput, noOutput, refuseTransition, type ToolCall } from './tool-call.ts';

/** What is other after the event, besides the place; a string says why the event does not fit. */
type Folded = Change | string;
type Change = Partial<Omit<Conversation, 'seq' | 'at'>> & { readonly seq?: never; readonly at?: never };

export function reduce(conversation: Conversation, event: SessionEvent): Conversation {
  const { seq, at, from: first = seq } = event;
  if (first <= conversation.seq) {
    const anomalies = misfit(conversation, event, `seq ${first} was folded already`);
    return conversationWith(conversation, conversation.seq, conversation.at, { anomalies });
  }
  const folded = first === conversation.seq + 1 ? change(conversation, event) : missing(conversation, first);
  if (typeof folded !== 'string') return conversationWith(conversation, seq, at, folded);
  return conversationWith(conversation, seq, at, { anomalies: misfit(conversation, event, folded) });
}

function missing({ seq }: Conversation, first: number): string {
  return `events ${seq + 1} to ${first - 1} are missing`;
}

function change(conversation: Conversation, event: SessionEvent): Folded {
  if (!isKnown(event)) return {};
  const folded = (reducers[event.type] as (c: Conversation, e: KnownEvent) => Folded)(conversation, event);
  if (event.command === undefined || typeof folded === 'string') return folded;
  return { ...folded, commands: remember(conversation, event, event.command) };
}

function misfit({ anomalies }: Conversation, event: SessionEvent, problem: string): Conversation['anomalies'] {
  return [...anomalies, { seq: event.seq, type: event.type, problem }].slice(-maxAnomalies);
}

function remember(
  { commands }: Conversation,
  { seq, at }: KnownEvent,
  { id, digest }: CommandMark,
): Conversation['commands'] {
  const known = commands.filter((one) => one.at > at - commandMemoryMs && one.id !== id);
  return [...known, { id, digest, seq, at }];
}

// ---- copies ----
// Each kind of state is copied in one place of the code. V8 gives the copies of every place a hidden class of their own: with many places each
// of them meets too many classes, and a copy costs ten times as much.

function conversationWith(conversation: Conversation, seq: number, at: number, change: Change): Conversation {
  return Object.assign({ ...conversation, seq, at }, change);
}

function turnWith(turn: Turn, change: Partial<Turn>): Turn {
  return Object.assign({ ...turn }, change);
}

function stepWith(step: Step, change: Partial<Step>): Step {
  return Object.assign({ ...step }, change);
}

function partWith(part: Part, change: Partial<Part>): Part {
  return Object.assign({ ...part }, change);
}

function callWith(call: ToolCall, change: Partial<ToolCall>): ToolCall {
  return Object.assign({ ...call }, change);
}

const reducers: { [Kind in EventKind]: (conversation: Conversation, event: EventOf<Kind>) => Folded } = {
  'session.created': (c, e) =>
    c.session !== null
      ? 'the session exists already'
      : {
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
            spawned: e.spawned ?? null,
            archived: false,
            deleted: false,
          },
        },
  'session.forked': (c, e) =>
    withSession(c, (session) => ({
      ...session,
      sessionId: e.sessionId,
      parent: e.parent,
      spawned: null,
      createdAt: e.at,
      title: null,
      titledBy: null,
      archived: false,
      deleted: false,
    })),
  'session.configured': (c, e) => ({
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
    if (session === null || session.opening !== null) return { inbox, attached };
    return { inbox, attached, session: { ...session, opening: openingWords(e.parts) } };
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
        return { inputs: [...step.inputs, ...claimed] };
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
      besides: { tokens: 0, cost: 0, unknownCost: 0 },
      calls: 0,
      check: null,
      changed: [],
      endedAt: null,
      endedSeq: null,
      outcome: null,
      failure: null,
    };
    return { active: turn, counts: { ...c.counts, turns: c.counts.turns + 1 } };
  },
  'turn.paused': (c, e) =>
    withTurn(c, e.turnId, (turn) => (turn.paused ? 'the turn is paused already' : { paused: true })),
  'turn.resumed': (c, e) =>
    withTurn(c, e.turnId, (turn) => (turn.paused ? { paused: false } : 'the turn is not paused')),
  'turn.ended': (c, e) => {
    const turn = c.active;
    if (turn === null || turn.turnId !== e.turnId) return `turn ${e.turnId} is not open`;
    if (turn.step !== null) return `step ${turn.step.stepId} is still open`;
    const closed = turnWith(turn, {
      paused: false,
      endedAt: e.at,
      endedSeq: e.seq,
      outcome: e.outcome,
      failure: e.failure ?? null,
    });
    return { turns: [...c.turns, closed], active: null, lastOutcome: e.outcome };
  },

  'step.started': (c, e) => {
    const turn = c.active;
    if (turn === null || turn.turnId !== e.turnId) return `turn ${e.turnId} is not open`;
    if (turn.step !== null) return `step ${turn.step.stepId} is still open`;
    const endedJobs = untold(c.jobs);
    const step: Step = {
      stepId: e.stepId,
      startedAt: e.at,
      startedSeq: e.seq,
      model: e.model,
      effort: e.effort,
      mode: e.mode,
      inputs: [],
      endedJobs,
      failedCheck: failedCheckOf(turn),
      parts: [],
      calls: [],
      retries: [],
      reply: null,
      endedAt: null,
      endedSeq: null,
      outcome: null,
      failure: null,
    };
    const check = turn.check === null ? null : { ...turn.check, told: true };
    const begun = { active: turnWith(turn, { step, check }), counts: { ...c.counts, steps: c.counts.steps + 1 } };
    return endedJobs.length === 0 ? begun : { ...begun, jobs: told(c.jobs) };
  },
  'step.retried': (c, e) =>
    withStep(
      c,
      e.stepId,
      (step) =>
        step.reply !== null
          ? 'the reply is complete'
          : {
              retries: [...step.retries, { attempt: e.attempt, at: e.at, delayMs: e.delayMs, reason: e.reason }],
            },
      spend(c, e.usage, null),
      (turn) => spend(turn, e.usage, null),
    ),
  'step.replied': (c, e) =>
    withStep(
      c,
      e.stepId,
      (step) =>
        step.reply !== null
          ? 'the reply is complete already'
          : {
              reply: { stop: e.stop, usage: e.usage, cost: e.cost, firstTokenMs: e.firstTokenMs, totalMs: e.totalMs },
            },
      spend(c, e.usage, e.cost),
      (turn) => spend(turn, e.usage, e.cost),
    ),
  'step.ended': (c, e) => {
    const turn = c.active;
    const step = turn?.step;
    if (!turn || !step || step.stepId !== e.stepId) return `step ${e.stepId} is not open`;
    const open = step.parts.find((part) => part.endedAt === null);
    if (open !== undefined) return `part ${open.partId} is still open`;
    const call = step.calls.find((one) => one.state !== 'ended');
    if (call !== undefined) return `call ${call.callId} has no end`;
    const closed = stepWith(step, {
      endedAt: e.at,
      endedSeq: e.seq,
      outcome: e.outcome,
      failure: e.failure ?? null,
    });
    const ended = { step: null, steps: [...turn.steps, closed] };
    // A reply that never completed counts here, once: its usage where it came, else as unknown.
    if (step.reply !== null || e.usage === undefined) return { active: turnWith(turn, ended) };
    return { ...spend(c, e.usage, null), active: turnWith(turn, { ...ended, ...spend(turn, e.usage, null) }) };
  },

  'part.started': (c, e) =>
    withStep(
      c,
      e.stepId,
      (step) =>
        step.reply !== null
          ? 'the reply is complete'
          : {
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
  'part.delta': (c, e) => withPart(c, e.partId, (part) => ({ text: part.text + e.text })),
  'part.ended': (c, e) => withPart(c, e.partId, () => ({ endedAt: e.at, signature: e.signature ?? null })),
  'part.reclassified': (c, e) => {
    const step = c.active?.step;
    if (!step?.parts.some((part) => part.partId === e.partId)) return `part ${e.partId} is not in the open step`;
    return withStep(c, step.stepId, (open) => ({
      parts: open.parts.map((part) => (part.partId === e.partId ? partWith(part, { kind: e.kind }) : part)),
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
          child: null,
          approval: null,
          requestedAt: e.at,
          startedAt: null,
          output: noOutput,
          endedAt: null,
          outcome: null,
          content: [],
          details: null,
        };
        return { calls: [...step.calls, call] };
      },
      { counts: { ...c.counts, calls: c.counts.calls + 1 } },
      (turn) => ({ calls: turn.calls + 1 }),
    ),
  'tool-call.started': (c, e) => withCall(c, e.callId, 'running', () => ({ state: 'running', startedAt: e.at })),
  'tool-call.output': (c, e) =>
    withCall(c, e.callId, 'output', (call) => ({
      output: addOutput(call.output, e.text, e.skippedBytes ?? 0),
    })),
  'tool-call.ended': (c, e) => {
    const ended = withCall(c, e.callId, 'ended', () => ({
      state: 'ended',
      endedAt: e.at,
      outcome: e.outcome,
      content: e.content,
      details: e.details ?? null,
    }));
    if (typeof ended === 'string' || !ended.active) return ended;
    const changed = changesIn(e.details).reduce(addChange, ended.active.changed);
    if (changed === ended.active.changed) return ended;
    // What was changed after a check that passed has not been checked.
    const check = ended.active.check?.outcome === 'completed' ? null : ended.active.check;
    return { active: turnWith(ended.active, { changed, check }) };
  },

  'job.started': (c, e) => {
    const jobs = startJob(c.jobs, e);
    return typeof jobs === 'string' ? jobs : { jobs, counts: { ...c.counts, jobs: c.counts.jobs + 1 } };
  },
  'job.ended': (c, e) => {
    const jobs = endJob(c.jobs, e);
    return typeof jobs === 'string' ? jobs : { jobs };
  },

  'check.started': (c, e) =>
    withTurn(c, e.turnId, ({ step, check }) => {
      if (step !== null) return `step ${step.stepId} is still open`;
      if (check?.outcome === null) return 'a check runs already';
      const runs = (check?.runs ?? 0) + 1;
      return { check: { runs, title: e.title, startedAt: e.at, outcome: null, text: '', told: false } };
    }),
  'check.ended': (c, e) =>
    withTurn(c, e.turnId, ({ check }) =>
      check?.outcome !== null ? 'no check runs' : { check: { ...check, outcome: e.outcome, text: e.text } },
    ),

  'approval.requested': (c, e) => {
    const call = findCall(c, e.callId);
    if (call === undefined) return `call ${e.callId} is not in the open step`;
    const asked = withCall(c, e.callId, 'waiting', () => ({
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
      approvals: [...c.approvals, open],
      counts: { ...c.counts, approvals: c.counts.approvals + 1 },
    };
  },
  'approval.resolved': (c, e) => {
    const open = c.approvals.find((one) => one.approvalId === e.approvalId);
    if (open === undefined) return `approval ${e.approvalId} is not open`;
    // Allowed: free to start. Denied: still without an end, which the calls' loop writes.
    const answered = withCall(c, open.callId, 'allowed', (call) => ({
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
      state: 'requested',
      approval: call.approval === null ? null : { ...call.approval, decision: 'withdrawn', at: e.at, note: e.reason },
    }));
    return typeof withdrawn === 'string'
      ? withdrawn
      : { ...withdrawn, approvals: c.approvals.filter((one) => one !== open) };
  },

  'question.requested': (c, e) => ({
    questions: [
      ...c.questions,
      { questionId: e.questionId, callId: e.callId ?? null, at: e.at, text: e.text, options: e.options },
    ],
    counts: { ...c.counts, questions: c.counts.questions + 1 },
  }),
  'question.resolved': (c, e) => closeQuestion(c, e.questionId),
  'question.withdrawn': (c, e) => {
    const asked = c.questions.find((one) => one.questionId === e.questionId);
    const closed = closeQuestion(c, e.questionId);
    if (typeof closed === 'string' || asked === undefined || !isPlanReview(asked)) return closed;
    return c.plan?.decision === null ? { ...closed, plan: { ...c.plan, decision: 'withdrawn' } } : closed;
  },

  'context.measured': (c, e) => ({ context: { used: e.used, limit: e.limit, estimated: false } }),
  'compaction.requested': () => ({ compactionWanted: true }),
  'compaction.started': (c, e) => ({ compacting: { at: e.at, trigger: e.trigger }, compactionWanted: false }),
  'compaction.ended': (c, e) => {
    const mark: CompactionMark = {
      seq: e.seq,
      at: e.at,
      trigger: c.compacting?.trigger ?? 'threshold',
      outcome: e.outcome,
      summary: e.summary ?? null,
      before: e.before ?? null,
      after: e.after ?? null,
      reason: e.reason ?? null,
    };
    const ended = {
      compacting: null,
      compactions: [...c.compactions, mark].slice(-maxCompactionMarks),
      ...(e.usage === undefined ? {} : spend(c, e.usage, e.cost ?? null)),
      ...(e.usage === undefined ? {} : spentBesides(c, e.usage, e.cost ?? 0, e.cost == null ? 1 : 0)),
    };
    if (e.outcome !== 'completed' || e.summary === undefined || e.firstKeptSeq === undefined) return ended;
    return {
      ...ended,
      compaction: {
        summary: e.summary,
        firstKeptSeq: e.firstKeptSeq,
        filesRead: e.filesRead ?? [],
        filesChanged: e.filesChanged ?? [],
      },
      context: e.after === undefined ? null : { used: e.after, limit: c.context?.limit ?? null, estimated: true },
    };
  },

  'warning.raised': (c, e) => ({
    warnings: [...c.warnings, { seq: e.seq, at: e.at, code: e.code, message: e.message }].slice(-maxWarnings),
  }),
  'annotation.pinned': (c, e) => ({
    pins: [...c.pins.filter((pin) => pin.seq !== e.eventSeq), { seq: e.eventSeq, note: e.note ?? null }],
  }),
  'annotation.unpinned': (c, e) => ({ pins: c.pins.filter((pin) => pin.seq !== e.eventSeq) }),
  'annotation.reviewed': () => ({}),

  'plan.proposed': (c, e) => ({ plan: { text: e.text, decision: null } }),
  'plan.decided': (c, e) => (c.plan === null ? 'no plan was proposed' : { plan: { ...c.plan, decision: e.decision } }),
  'todo.replaced': (c, e) => ({ todos: e.todos }),
  // Other facts for the run record and the timeline, which read the log themselves; the state of the conversation does not depend on them.
  'agent.started': (c, e) => {
    const { callId, sessionId, agent } = e;
    if (callId === undefined || sessionId === undefined) return {};
    return withCall(c, callId, 'output', () => ({ child: { agent, sessionId } }));
  },
  'agent.intent-stated': () => ({}),
  'agent.handed-off': () => ({}),
  'agent.ended': (c, e) => ({
    delegated: {
      usage: addTotals(c.delegated.usage, e.usage ?? noUsage),
      cost: c.delegated.cost + (e.cost ?? 0),
      unknownCost: c.delegated.unknownCost + (e.unknownCost ?? 0),
    },
    ...spentBesides(c, e.usage ?? null, e.cost ?? 0, e.unknownCost ?? 0),
  }),
  'skill.applied': () => ({}),
  'hook.started': () => ({}),
  'hook.ended': () => ({}),
  'checkpoint.made': () => ({}),
  'checkpoint.restored': () => ({}),
  'change.baseline-taken': () => ({}),
  'change.summarised': () => ({}),
};

function withSession(c: Conversation, change: (session: SessionFacts) => SessionFacts): Folded {
  return c.session === null ? 'there is no session yet' : { session: change(c.session) };
}

function withInbox(c: Conversation, inbox: Conversation['inbox'] | string, attached = c.attached): Folded {
  return typeof inbox === 'string' ? inbox : { inbox, attached };
}

function waitingParts(c: Conversation, inputId: string): readonly InputPart[] {
  return c.inbox.find((one) => one.inputId === inputId)?.parts ?? [];
}

function withTurn(c: Conversation, turnId: string, change: (turn: Turn) => Partial<Turn> | string): Folded {
  if (c.active === null || c.active.turnId !== turnId) return `turn ${turnId} is not open`;
  const changed = change(c.active);
  return typeof changed === 'string' ? changed : { active: turnWith(c.active, changed) };
}

/** Changes the open step, and with it, where given, the turn and the conversation: all of it, or nothing where `change` says why not. */
function withStep(
  c: Conversation,
  stepId: string,
  change: (step: Step) => Partial<Step> | string,
  also?: Change,
  changeTurn?: (turn: Turn) => Partial<Turn>,
): Folded {
  const turn = c.active;
  const step = turn?.step;
  if (!turn || !step || step.stepId !== stepId) return `step ${stepId} is not open`;
  const changed = change(step);
  if (typeof changed === 'string') return changed;
  const next = stepWith(step, changed);
  const active = turnWith(turn, changeTurn === undefined ? { step: next } : { ...changeTurn(turn), step: next });
  return also === undefined ? { active } : { ...also, active };
}

/** In the open turn; between turns it is nobody's. */
function spentBesides(
  { active }: Conversation,
  used: Pick<Usage, 'input' | 'output' | 'cacheRead'> | null,
  cost: number,
  unknownCost: number,
): { active: Turn | null } {
  if (active === null) return { active };
  const { besides } = active;
  return {
    active: {
      ...active,
      besides: {
        tokens: besides.tokens + (used === null ? 0 : (used.input ?? 0) - (used.cacheRead ?? 0) + (used.output ?? 0)),
        cost: besides.cost + cost,
        unknownCost: besides.unknownCost + unknownCost,
      },
    },
  };
}

type Spending = Pick<Conversation, 'usage' | 'cost' | 'unknownCost'>;

/** Adds one attempt to a turn's or the session's totals; null is what nobody told. */
function spend({ usage, cost, unknownCost }: Spending, used: Usage | null, paid: number | null): Spending {
  return { usage: addUsage(usage, used), cost: cost + (paid ?? 0), unknownCost: unknownCost + (paid === null ? 1 : 0) };
}

function withPart(c: Conversation, partId: string, change: (part: Part) => Partial<Part>): Folded {
  const step = c.active?.step;
  if (!step) return 'no step is open';
  // The part that streams is nearly always the last one.
  const place = step.parts.findLastIndex((part) => part.partId === partId);
  const part = step.parts[place];
  if (part === undefined) return `part ${partId} is not in the open step`;
  if (part.endedAt !== null) return `part ${partId} has ended`;
  return withStep(c, step.stepId, (open) => ({ parts: open.parts.with(place, partWith(part, change(part))) }));
}

function findCall(c: Conversation, callId: string): ToolCall | undefined {
  return c.active?.step?.calls.find((call) => call.callId === callId);
}

function withCall(
  c: Conversation,
  callId: string,
  to: Parameters<typeof refuseTransition>[1],
  change: (call: ToolCall) => Partial<ToolCall>,
): Folded {
  const step = c.active?.step;
  const place = step?.calls.findIndex((call) => call.callId === callId) ?? -1;
  const call = step?.calls[place];
  if (!step || call === undefined) return `call ${callId} is not in the open step`;
  const refusal = refuseTransition(call, to);
  if (refusal !== null) return refusal;
  return withStep(c, step.stepId, (open) => ({ calls: open.calls.with(place, callWith(call, change(call))) }));
}

function closeQuestion(c: Conversation, questionId: string): Folded {
  const questions = c.questions.filter((question) => question.questionId !== questionId);
  return questions.length === c.questions.length ? `question ${questionId} is not open` : { questions };
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
