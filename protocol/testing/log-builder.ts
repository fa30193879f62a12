/**
 * Writes session logs in the words of the domain, for tests of both programs: `new LogBuilder().session().asks('…').turn().step()…`. Seqs have
 * no gaps, the clock goes on by itself, and ids are the ones that the fold counts, so a log that is built twice is the same, byte for byte.
 * It checks nothing: a test may build what no session would write.
 */
import { type Draft, type SessionEvent } from '../event.ts';
import type { InputTarget } from '../events/input.ts';
import { emptyConversation, type Conversation } from '../conversation/conversation.ts';
import { reduce } from '../conversation/reduce.ts';
import type { CallDetails, CallDisplay } from '../values/display.ts';
import type {
  ApprovalId,
  CallId,
  CommandId,
  Id,
  InputId,
  JobId,
  PartId,
  ProjectId,
  QuestionId,
  SessionId,
  StepId,
  TurnId,
} from '../values/ids.ts';
import type { JsonObject } from '../values/json.ts';
import type { CallOutcome, TurnOutcome } from '../values/outcome.ts';
import type { Usage } from '../values/usage.ts';
import { LOG_VERSION } from '../version.ts';

const start = Date.UTC(2026, 0, 5, 9, 0, 0);
export const someUsage: Usage = { input: 1200, output: 80, cacheRead: 1000, cacheWrite: 0, reasoning: 0 };

export class LogBuilder {
  readonly events: SessionEvent[] = [];
  #conversation = emptyConversation;
  #at = start;
  #inputs = 0;

  /** The fold of what was written so far. */
  get conversation(): Conversation {
    return this.#conversation;
  }

  /** Any event, 10 ms after the last. */
  add(draft: Draft): this {
    return this.#append({ ...draft, seq: this.#conversation.seq + 1, at: this.#at });
  }

  /** An event of a kind that this version does not know. */
  addUnknown(type: `${string}.${string}`, fields: Record<string, unknown>): this {
    return this.#append({ ...fields, type, seq: this.#conversation.seq + 1, at: this.#at });
  }

  waits(ms: number): this {
    this.#at += ms;
    return this;
  }

  session(): this {
    const project = { projectId: projectId(1), name: 'garden', path: '/home/ada/garden', addedAt: start - 1000 };
    return this.add({
      type: 'session.created',
      logVersion: LOG_VERSION,
      sessionId: sessionId(1),
      project,
      folder: project.path,
    }).add({ type: 'session.configured', model: 'scripted/demo', effort: null, mode: 'ask' });
  }

  asks(text: string, target: InputTarget = 'next-turn'): this {
    const inputId = uuid(++this.#inputs) as InputId;
    return this.add({
      type: 'input.queued',
      inputId,
      target,
      parts: [{ type: 'text', text }],
      origin: 'person',
      command: { id: inputId, digest: `digest-${this.#inputs}` },
    });
  }

  turn(): this {
    return this.add({ type: 'turn.started', turnId: nextId<TurnId>('trn', this.#conversation.counts.turns) });
  }

  /** Starts a step and claims the inputs named, by their number; by default all that wait. */
  step(claims: readonly number[] = this.#waiting()): this {
    const stepId = nextId<StepId>('stp', this.#conversation.counts.steps);
    this.add({ type: 'step.started', turnId: this.turnId, stepId, model: 'scripted/demo', effort: null, mode: 'ask' });
    return claims.length === 0 ? this : this.add({ type: 'input.claimed', stepId, inputIds: claims.map(inputId) });
  }

  /** A part as it streams; `open` leaves it without its end. */
  says(pieces: readonly string[], kind: 'text' | 'reasoning' = 'text', open: 'open' | 'ended' = 'ended'): this {
    const id = nextId<PartId>('prt', this.#conversation.counts.parts);
    this.add({ type: 'part.started', stepId: this.stepId, partId: id, kind });
    for (const text of pieces) this.add({ type: 'part.delta', partId: id, text });
    if (open === 'open') return this;
    return this.add({ type: 'part.ended', partId: id, ...(kind === 'reasoning' ? { signature: 'sig-1' } : {}) });
  }

  /** A tool call as the reply announces it, by name. */
  announces(tool: string): this {
    const id = nextId<PartId>('prt', this.#conversation.counts.parts);
    this.add({ type: 'part.started', stepId: this.stepId, partId: id, kind: 'tool-call', tool });
    return this.add({ type: 'part.ended', partId: id });
  }

  replies(usage: Usage | null = someUsage, cost: number | null = 0.002): this {
    const { stepId } = this;
    return this.add({ type: 'step.replied', stepId, stop: 'end', usage, cost, firstTokenMs: 120, totalMs: 900 });
  }

  requests(tool: string, args: JsonObject, display: CallDisplay): this {
    const callId = nextId<CallId>('cal', this.#conversation.counts.calls);
    return this.add({
      type: 'tool-call.requested',
      callId,
      stepId: this.stepId,
      providerCallId: `call_${callId}`,
      tool,
      arguments: args,
      display,
    });
  }

  /** The calls by their number, from 1 over the session; by default the newest. */
  starts(call = this.#conversation.counts.calls): this {
    return this.add({ type: 'tool-call.started', callId: callId(call) });
  }

  prints(text: string, call = this.#conversation.counts.calls): this {
    return this.add({ type: 'tool-call.output', callId: callId(call), text });
  }

  ends(
    text: string,
    outcome: CallOutcome = 'completed',
    call = this.#conversation.counts.calls,
    details?: CallDetails,
  ): this {
    return this.add({
      type: 'tool-call.ended',
      callId: callId(call),
      outcome,
      content: [{ type: 'text', text }],
      ...(details === undefined ? {} : { details }),
    });
  }

  needsApproval(reason: string, call = this.#conversation.counts.calls): this {
    return this.add({
      type: 'approval.requested',
      approvalId: nextId<ApprovalId>('apr', this.#conversation.counts.approvals),
      callId: callId(call),
      reason,
      caution: false,
      rulePattern: '*',
    });
  }

  answers(
    decision: 'allow' | 'deny',
    scope: 'once' | 'session' | 'always' = 'once',
    approval = this.#conversation.counts.approvals,
  ): this {
    return this.add({
      type: 'approval.resolved',
      approvalId: approvalId(approval),
      decision,
      scope,
      by: "Ada's laptop",
    });
  }

  endsStep(outcome: TurnOutcome = 'completed'): this {
    return this.add({ type: 'step.ended', stepId: this.stepId, outcome });
  }

  endsTurn(outcome: TurnOutcome = 'completed'): this {
    return this.add({ type: 'turn.ended', turnId: this.turnId, outcome });
  }

  get turnId(): TurnId {
    return this.#conversation.active?.turnId ?? nextId<TurnId>('trn', this.#conversation.counts.turns - 1);
  }

  get stepId(): StepId {
    return this.#conversation.active?.step?.stepId ?? nextId<StepId>('stp', this.#conversation.counts.steps - 1);
  }

  #waiting(): number[] {
    return this.#conversation.inbox.map((input) => Number.parseInt(input.inputId.slice(-12), 16));
  }

  #append(event: SessionEvent): this {
    this.events.push(event);
    this.#conversation = reduce(this.#conversation, event);
    this.#at += 10;
    return this;
  }
}

export function fold(events: readonly SessionEvent[], onto: Conversation = emptyConversation): Conversation {
  return events.reduce(reduce, onto);
}

function nextId<One extends Id<string>>(prefix: string, count: number): One {
  return `${prefix}_${count + 1}` as One;
}

function uuid(number: number): string {
  return `01940000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

export const inputId = (number: number): InputId => uuid(number) as InputId;
export const commandId = (number: number): CommandId => uuid(number) as CommandId;
export const sessionId = (number: number): SessionId => `ses_${uuid(number)}` as SessionId;
export const projectId = (number: number): ProjectId => `prj_${uuid(number)}` as ProjectId;
export const turnId = (number: number): TurnId => `trn_${number}` as TurnId;
export const stepId = (number: number): StepId => `stp_${number}` as StepId;
export const partId = (number: number): PartId => `prt_${number}` as PartId;
export const callId = (number: number): CallId => `cal_${number}` as CallId;
export const approvalId = (number: number): ApprovalId => `apr_${number}` as ApprovalId;
export const jobId = (number: number): JobId => `job_${number}` as JobId;
export const questionId = (number: number): QuestionId => `qst_${number}` as QuestionId;
