/**
 * Pure decisions: conversation -> events. They run one after another in `Session.transact`, so what one sees, the next sees changed; that queue
 * is the only gate, and it needs no lock. Invariants:
 *   D1  an acknowledged input is claimed exactly once, or withdrawn, or still waits
 *   D2  a repeat of a command changes nothing and gets the first answer; the same id with other parameters is a conflict
 *   D3  a turn ends only in the same decision that sees no next-step input waiting
 */
import { attach, claimable } from '#protocol/conversation/inbox.ts';
import { commandMemoryMs, type Conversation, type Step, type Turn } from '#protocol/conversation/conversation.ts';
import { failedCheckOf } from '#protocol/conversation/open.ts';
import { RequestError } from '#protocol/errors.ts';
import type { CommandMark, Draft } from '#protocol/event.ts';
import type { InputOrigin, InputTarget } from '#protocol/events/input.ts';
import type { ApprovalScope } from '#protocol/events/approval.ts';
import type { InputPart } from '#protocol/values/content.ts';
import { maxSessionPictureBytes, maxSessionPictures } from '#protocol/limits.ts';
import { timeOfId, type ApprovalId, type InputId, type StepId, type TurnId } from '#protocol/values/ids.ts';
import type { JsonObject } from '#protocol/values/json.ts';
import type { Effort, Mode } from '#protocol/values/model.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import { effortWords, nearestEffort } from '../llm/catalogue/efforts.ts';
import { isCompactionDue } from './context/compaction.ts';

/** The seq of the first answer where the command is a repeat, null where it is new. Throws `conflict` or `stale`. */
export function repeated(conversation: Conversation, command: CommandMark, now: number): number | null {
  const known = conversation.commands.find((one) => one.id === command.id);
  if (known !== undefined) {
    if (known.digest === command.digest) return known.seq;
    throw new RequestError(
      'conflict',
      'This command id was used before with other parameters. Ask again with a new id.',
    );
  }
  if (timeOfId(command.id) < now - commandMemoryMs) {
    throw new RequestError(
      'stale',
      'This command was made more than a day ago, so it is not known whether it was carried out. Look, then ask again.',
    );
  }
  return null;
}

export interface Submission {
  inputId: InputId;
  target: InputTarget;
  parts: InputPart[];
  origin: InputOrigin;
}

export function decideSubmit(conversation: Conversation, input: Submission, command: CommandMark): Draft[] {
  requireRoom(conversation, [], input.parts);
  return [
    {
      type: 'input.queued',
      command,
      inputId: input.inputId,
      target: input.target,
      parts: input.parts,
      origin: input.origin,
    },
  ];
}

export function decideEditInput(
  conversation: Conversation,
  inputId: InputId,
  parts: InputPart[],
  command: CommandMark,
): Draft[] {
  requireWaiting(conversation, inputId);
  const before = conversation.inbox.find((one) => one.inputId === inputId)?.parts ?? [];
  requireRoom(conversation, before, parts);
  return [{ type: 'input.edited', command, inputId, parts }];
}

export function decideMoveInput(
  conversation: Conversation,
  inputId: InputId,
  to: { target?: InputTarget | undefined; before?: InputId | null | undefined },
  command: CommandMark,
): Draft[] {
  requireWaiting(conversation, inputId);
  if (to.before != null) requireWaiting(conversation, to.before);
  return [
    {
      type: 'input.moved',
      command,
      inputId,
      ...(to.target === undefined ? {} : { target: to.target }),
      ...(to.before === undefined ? {} : { before: to.before }),
    },
  ];
}

export function decideWithdrawInput(conversation: Conversation, inputId: InputId, command: CommandMark): Draft[] {
  requireWaiting(conversation, inputId);
  return [{ type: 'input.withdrawn', command, inputId, reason: 'The person took it back.' }];
}

function requireWaiting(conversation: Conversation, inputId: InputId): void {
  if (conversation.inbox.some((one) => one.inputId === inputId)) return;
  throw new RequestError('conflict', 'This input no longer waits: it was taken up by a turn, or withdrawn.');
}

/** PR18: what is attached to a session has a bound; taking something away is always allowed. */
export function requireRoom(
  { attached }: Pick<Conversation, 'attached'>,
  before: readonly InputPart[],
  now: readonly InputPart[],
): void {
  const { pictures, bytes } = attach(attached, before, now);
  if (pictures > maxSessionPictures && pictures > attached.pictures)
    throw new RequestError(
      'too_many',
      `A session takes ${maxSessionPictures} pictures at most (maxSessionPictures), as each is sent again with every request; this would be number ${pictures}. Start another session for more. Nothing was sent.`,
    );
  if (bytes > maxSessionPictureBytes && bytes > attached.bytes)
    throw new RequestError(
      'too_large',
      `The pictures of a session may have ${maxSessionPictureBytes / 1024 / 1024} MiB together (maxSessionPictureBytes); with these they would have ${(bytes / 1024 / 1024).toFixed(1)}. Nothing was sent.`,
    );
}

/**
 * What the driver does next. `step`: a step is open without a reply. `calls`: its reply is complete, calls may be left. `compact`: a compaction,
 * `check`: a check has been started. `rest`: nothing to do.
 */
export type Next =
  | { do: 'step'; turnId: TurnId; stepId: StepId }
  | { do: 'calls'; stepId: StepId }
  | { do: 'compact' }
  | { do: 'check'; turnId: TurnId; command: string }
  | { do: 'rest'; paused: boolean };

/** What a turn may use before it is stopped; null: as much as it needs. `cost` in US dollars. */
export interface TurnCap {
  readonly tokens: number | null;
  readonly cost: number | null;
}

export const noCap: TurnCap = { tokens: null, cost: null };

export interface NextOptions {
  /** The model that a step takes where the session has none set. */
  defaultModel: string;
  /** The efforts that a model takes, as they were looked up before the decision; null: not looked up, or unknown. */
  efforts: { model: string; takes: readonly Effort[] | null } | null;
  pausing: boolean;
  /** True once after a wake: input that waits behind an aborted, failed or interrupted turn is taken up only then. */
  woken: boolean;
  maxSteps: number;
  /** Tokens that a turn may use up; null: as many as it needs. */
  maxTokens: number | null;
  cap: TurnCap;
  /** See `isCompactionDue`. */
  compactAt: number | null;
  /** The command by which a turn that changed files is checked; null: it is not. */
  check: string | null;
}

/** Ends the turn, or opens its next step, or opens a turn, in one decision with the claim (D1, D3). */
export function decideNext(conversation: Conversation, options: NextOptions): { events: Draft[]; next: Next } {
  const { active } = conversation;
  if (active === null) return decideTurnStart(conversation, options);
  if (active.step !== null) {
    if (active.step.reply !== null) return { events: [], next: { do: 'calls', stepId: active.step.stepId } };
    return { events: [], next: { do: 'step', turnId: active.turnId, stepId: active.step.stepId } };
  }
  if (active.paused) return { events: [], next: { do: 'rest', paused: true } };
  const steering = conversation.inbox.some((one) => one.target === 'next-step');
  const asked = steering || active.steps.length === 0 || lastStepCalled(active) || failedCheckOf(active) !== null;
  const check = asked ? null : dueCheck(active, options.check);
  const goesOn = asked || check !== null;
  if (options.pausing && (goesOn || conversation.inbox.length > 0)) {
    return { events: [{ type: 'turn.paused', turnId: active.turnId }], next: { do: 'rest', paused: true } };
  }
  if (!goesOn) return endTurnAndGoOn(conversation, options);
  if (check !== null) {
    const { turnId } = active;
    return { events: [{ type: 'check.started', turnId, title: check }], next: { do: 'check', turnId, command: check } };
  }
  if (options.maxTokens !== null && tokensOf(active) >= options.maxTokens) {
    return failedTurn(active, {
      code: 'token_limit',
      message: `The sub-agent used up its ${options.maxTokens} tokens and was stopped.`,
    });
  }
  const spent = capReached(active, options.cap);
  if (spent !== null) return failedTurn(active, spent);
  if (active.omittedSteps + active.steps.length >= options.maxSteps) {
    return failedTurn(active, {
      code: 'step_limit',
      message: `The turn took ${options.maxSteps} steps, which is the limit. Everything is kept; send a message to go on.`,
    });
  }
  return compactFirst(conversation, options) ?? openStep(conversation, active.turnId, false, options);
}

/** TL27: once where the turn changed files, and once more where that failed and the agent was told. */
function dueCheck({ changed, check }: Turn, command: string | null): string | null {
  if (command === null || changed.length === 0) return null;
  const again = check?.outcome === 'failed' && check.told && check.runs < 2;
  return check === null || again ? command : null;
}

/** Between two steps, or two turns: what a person asked for, and what the window asks for. */
function compactFirst(conversation: Conversation, options: NextOptions): { events: Draft[]; next: Next } | null {
  if (!conversation.compactionWanted && !isCompactionDue(conversation, options)) return null;
  const trigger = conversation.compactionWanted ? 'command' : 'threshold';
  return { events: [{ type: 'compaction.started', trigger }], next: { do: 'compact' } };
}

/** US8: between two steps, so that no reply is cut off. A price that nobody knows counts as nothing, and is said to. */
function capReached(turn: Turn, { tokens, cost }: TurnCap): Failure | null {
  const used = tokensOf(turn) + turn.besides.tokens;
  const goOn = 'Everything is kept; send a message to go on with as much again, or raise the cap in settings.json.';
  if (tokens !== null && used >= tokens)
    return { code: 'token_limit', message: `The turn used ${used} tokens; the cap of a turn is ${tokens}. ${goOn}` };
  const paid = turn.cost + turn.besides.cost;
  if (cost === null || paid < cost) return null;
  const unknown = turn.unknownCost + turn.besides.unknownCost;
  const more = unknown === 0 ? '' : `, and ${unknown} requests more of unknown price`;
  return {
    code: 'token_limit',
    message: `The turn cost $${paid.toFixed(2)}${more}; the cap of a turn is $${cost.toFixed(2)}. ${goOn}`,
  };
}

function failedTurn({ turnId }: Turn, failure: Failure): { events: Draft[]; next: Next } {
  return {
    events: [{ type: 'turn.ended', turnId, outcome: 'failed', failure }],
    next: { do: 'rest', paused: false },
  };
}

/** What comes from a cache is sent again and again, and costs little: it is not counted. */
function tokensOf({ usage }: Turn): number {
  return usage.input - usage.cacheRead + usage.output;
}

function lastStepCalled(turn: Turn): boolean {
  const last: Step | undefined = turn.steps.at(-1);
  return last !== undefined && last.outcome === 'completed' && last.calls.length > 0;
}

function endTurnAndGoOn(conversation: Conversation, options: NextOptions): { events: Draft[]; next: Next } {
  const turn = conversation.active;
  if (turn === null) return decideTurnStart(conversation, options);
  const ended: Draft = { type: 'turn.ended', turnId: turn.turnId, outcome: 'completed' };
  const after = decideTurnStart({ ...conversation, active: null, lastOutcome: 'completed' }, options);
  return { events: [ended, ...after.events], next: after.next };
}

function decideTurnStart(conversation: Conversation, options: NextOptions): { events: Draft[]; next: Next } {
  const waits = claimable(conversation.inbox, true).length > 0;
  const wentWell = conversation.lastOutcome === null || conversation.lastOutcome === 'completed';
  const starts = waits && (wentWell || options.woken);
  if (!starts && !conversation.compactionWanted) return { events: [], next: { do: 'rest', paused: false } };
  const compacting = compactFirst(conversation, options);
  if (compacting !== null) return compacting;
  const turnId = `trn_${conversation.counts.turns + 1}` as TurnId;
  const step = openStep(conversation, turnId, true, options);
  return { events: [{ type: 'turn.started', turnId }, ...step.events], next: step.next };
}

function openStep(
  conversation: Conversation,
  turnId: TurnId,
  first: boolean,
  options: NextOptions,
): { events: Draft[]; next: Next } {
  const stepId = `stp_${conversation.counts.steps + 1}` as StepId;
  const { settings } = conversation;
  const inputIds = claimable(conversation.inbox, first).map((one) => one.inputId);
  const model = settings.model ?? options.defaultModel;
  // A model that was chosen between the look and the decision is taken as it is; the driver looks again before it asks.
  const takes = options.efforts?.model === model ? options.efforts.takes : null;
  const effort = nearestEffort(settings.effort, takes);
  const events: Draft[] = [
    ...effortNotice(conversation, model, effort, takes),
    { type: 'step.started', turnId, stepId, model, effort, mode: settings.mode },
  ];
  if (inputIds.length > 0) events.push({ type: 'input.claimed', stepId, inputIds });
  return { events, next: { do: 'step', turnId, stepId } };
}

/** Says once, not at each step, that the model takes another effort than the session is set to (PR7). */
function effortNotice(
  conversation: Conversation,
  model: string,
  effort: Effort | null,
  takes: readonly Effort[] | null,
): Draft[] {
  const wanted = conversation.settings.effort;
  if (wanted === effort || wanted === null || takes === null) return [];
  const last = conversation.active?.steps.at(-1) ?? conversation.turns.at(-1)?.steps.at(-1);
  if (last?.model === model && last.effort === effort) return [];
  const message =
    effort === null
      ? `${model} takes no effort, so “${wanted}” is not sent to it.`
      : `${model} does not take the effort “${wanted}” but ${effortWords(takes)}; it is asked with “${effort}”.`;
  return [{ type: 'warning.raised', code: 'other', message }];
}

export interface Answer {
  approvalId: ApprovalId;
  decision: 'allow' | 'deny';
  scope: ApprovalScope;
  by: string;
  note?: string | undefined;
  arguments?: JsonObject | undefined;
}

/** A person's answer to an open approval. A dead one says what became of it. */
export function decideAnswer(conversation: Conversation, answer: Answer, command: CommandMark): Draft[] {
  const open = conversation.approvals.find((one) => one.approvalId === answer.approvalId);
  if (open === undefined)
    throw new RequestError('conflict', `This request is no longer open: ${becameOf(conversation, answer.approvalId)}`);
  if (open.caution && answer.decision === 'allow' && answer.scope !== 'once') {
    throw new RequestError(
      'invalid_params',
      'This can only be allowed once: it is destructive, or not understood well enough for a rule.',
    );
  }
  if (answer.arguments !== undefined && answer.decision === 'allow' && answer.scope !== 'once') {
    throw new RequestError(
      'invalid_params',
      'With changed arguments this can only be allowed once: a grant would be for what was asked, which nobody allowed.',
    );
  }
  return [
    {
      type: 'approval.resolved',
      command,
      approvalId: answer.approvalId,
      decision: answer.decision,
      scope: answer.scope,
      by: answer.by,
      ...(answer.note === undefined || answer.note === '' ? {} : { note: answer.note }),
      ...(answer.arguments === undefined ? {} : { arguments: answer.arguments }),
    },
  ];
}

function becameOf(conversation: Conversation, approvalId: ApprovalId): string {
  const steps = [...conversation.turns, ...(conversation.active === null ? [] : [conversation.active])].flatMap(
    (turn) => [...turn.steps, ...(turn.step === null ? [] : [turn.step])],
  );
  const approval = steps
    .flatMap((step) => step.calls)
    .find((call) => call.approval?.approvalId === approvalId)?.approval;
  if (approval == null) return 'it belongs to an earlier turn.';
  if (approval.decision === 'withdrawn') return `it was withdrawn. ${approval.note ?? ''}`.trim();
  return `it was ${approval.decision === 'allow' ? 'allowed' : 'denied'} by ${approval.by ?? 'somebody'}.`;
}

/** A person wants the context compacted; it is made at the next step boundary, once, however often it is asked for. */
export function decideCompact(conversation: Conversation, command: CommandMark): Draft[] {
  if (conversation.compactionWanted || conversation.compacting !== null) return [];
  const began = conversation.counts.steps > 0;
  if (!began) throw new RequestError('conflict', 'There is nothing to compact yet: no model has been asked.');
  return [{ type: 'compaction.requested', command }];
}

export function decideConfigure(
  conversation: Conversation,
  settings: { model?: string | undefined; effort?: Effort | null | undefined; mode?: Mode | undefined },
  command: CommandMark,
): Draft[] {
  const now = conversation.settings;
  const changed = {
    ...(settings.model === undefined || settings.model === now.model ? {} : { model: settings.model }),
    ...(settings.effort === undefined || settings.effort === now.effort ? {} : { effort: settings.effort }),
    ...(settings.mode === undefined || settings.mode === now.mode ? {} : { mode: settings.mode }),
  };
  return Object.keys(changed).length === 0 ? [] : [{ type: 'session.configured', command, ...changed }];
}
