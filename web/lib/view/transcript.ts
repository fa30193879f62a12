/**
 * The rows that a conversation is drawn as, a pure projection. A row keeps its key for its life and its identity as long as what it shows
 * is the same: closed turns give the same rows for ever, and of the open step only what a token touched is new.
 *
 * Rows of one turn, in order: what the person said, text and thinking, tool calls where their part announced them, neighbouring reads and
 * searches as one, what was tried again, and at the end what the turn came to.
 */
import { isWhole } from '#protocol/conversation/base.ts';
import type {
  ClaimedInput,
  CompactionMark,
  Conversation,
  OpenApproval,
  OpenQuestion,
  Part,
  Retry,
  Step,
  Turn,
  Warning,
} from '#protocol/conversation/conversation.ts';
import type { ToolCall } from '#protocol/conversation/tool-call.ts';
import type { TurnId } from '#protocol/values/ids.ts';
import type { CheckOutcome } from '#protocol/events/check.ts';
import type { Failure, TurnOutcome } from '#protocol/values/outcome.ts';
import type { UsageTotals } from '#protocol/values/usage.ts';

export interface InputRow {
  readonly type: 'input';
  readonly key: string;
  readonly input: ClaimedInput;
  /** It joined a turn that was running. */
  readonly steered: boolean;
}

export interface TextRow {
  readonly type: 'text';
  readonly key: string;
  readonly part: Part;
  readonly streaming: boolean;
}

export interface ReasoningRow {
  readonly type: 'reasoning';
  readonly key: string;
  readonly part: Part;
  readonly streaming: boolean;
  /** Null while it streams. */
  readonly durationMs: number | null;
}

/** A tool call that the model has begun to write: its name, nothing more yet. */
export interface ComingCallRow {
  readonly type: 'coming-call';
  readonly key: string;
  readonly part: Part;
}

export interface CallRow {
  readonly type: 'call';
  readonly key: string;
  readonly call: ToolCall;
  /** Open: a person is asked. */
  readonly approval: OpenApproval | null;
  /** Open: it waits for the person's answer. */
  readonly question: OpenQuestion | null;
}

/** Two or more reads and searches in a row, with nothing between them. */
export interface CallsRow {
  readonly type: 'calls';
  readonly key: string;
  readonly calls: readonly ToolCall[];
  readonly running: number;
  readonly failed: number;
}

export interface RetryRow {
  readonly type: 'retry';
  readonly key: string;
  readonly retries: readonly Retry[];
  /** The next try has brought nothing yet. */
  readonly pending: boolean;
  /** The turn ended with this failure, which is told there in full. */
  readonly told: boolean;
}

/** The reply ended, but not because it was complete. */
export interface CutRow {
  readonly type: 'cut';
  readonly key: string;
  readonly stop: 'length' | 'refusal';
}

/** The model was asked and has said nothing since. */
export interface WorkingRow {
  readonly type: 'working';
  readonly key: string;
  readonly model: string;
  readonly since: number;
}

/** Where a compaction ended. */
export interface CompactionRow {
  readonly type: 'compaction';
  readonly key: string;
  readonly mark: CompactionMark;
}

/** One is being made. */
export interface CompactingRow {
  readonly type: 'compacting';
  readonly key: string;
  readonly since: number;
}

/** The check of what a turn changed. */
export interface CheckRow {
  readonly type: 'check';
  readonly key: string;
  readonly title: string;
  /** Null: it runs, since then. */
  readonly outcome: CheckOutcome | null;
  readonly since: number | null;
  readonly text: string;
}

export interface WarningRow {
  readonly type: 'warning';
  readonly key: string;
  readonly warning: Warning;
}

export interface TurnEndRow {
  readonly type: 'turn-end';
  readonly key: string;
  readonly turnId: TurnId;
  readonly outcome: TurnOutcome;
  readonly failure: Failure | null;
  readonly endedAt: number;
  readonly durationMs: number;
  readonly changed: Turn['changed'];
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  readonly calls: number;
  readonly usage: UsageTotals;
  readonly cost: number;
  readonly unknownCost: number;
}

export type Row =
  | InputRow
  | TextRow
  | ReasoningRow
  | ComingCallRow
  | CallRow
  | CallsRow
  | RetryRow
  | CutRow
  | WorkingRow
  | WarningRow
  | CompactionRow
  | CompactingRow
  | CheckRow
  | TurnEndRow;

export function transcriptRows(conversation: Conversation): Row[] {
  const rows: Row[] = [];
  // Those of turns that are not here have their place there.
  const firstSeq = isWhole(conversation) ? 0 : ((conversation.turns[0] ?? conversation.active)?.startedSeq ?? 0);
  const warnings = conversation.warnings.filter((warning) => warning.seq >= firstSeq);
  const warningsBefore = (seq: number): Row[] => {
    const due = warnings.findIndex((warning) => warning.seq > seq);
    return warnings.splice(0, due < 0 ? warnings.length : due).map(warningRow);
  };
  const marks = conversation.compactions.filter((mark) => mark.seq >= firstSeq);
  const marksBefore = (seq: number): CompactionMark[] => {
    const due = marks.findIndex((mark) => mark.seq > seq);
    return marks.splice(0, due < 0 ? marks.length : due);
  };
  for (const turn of conversation.turns) {
    if (warnings.length > 0) rows.push(...warningsBefore(turn.startedSeq));
    rows.push(...marksBefore(turn.startedSeq).map(compactionRow));
    rows.push(...closedTurnRows(turn, marksBefore(turn.endedSeq ?? turn.startedSeq)));
  }
  const { active } = conversation;
  if (active !== null) {
    if (warnings.length > 0) rows.push(...warningsBefore(active.startedSeq));
    rows.push(...marksBefore(active.startedSeq).map(compactionRow));
    rows.push(
      ...foldReads([...stepsRows(active, marksBefore(conversation.seq)), ...openStepRows(active, conversation)]),
      ...lastCheckRows(active),
    );
  }
  rows.push(...warningsBefore(conversation.seq), ...marksBefore(conversation.seq).map(compactionRow));
  const { compacting } = conversation;
  if (compacting !== null) rows.push({ type: 'compacting', key: 'compacting', since: compacting.at });
  return rows;
}

const ofClosedTurns = new WeakMap<Turn, readonly Row[]>();

function closedTurnRows(turn: Turn, marks: readonly CompactionMark[]): readonly Row[] {
  return remembered(ofClosedTurns, turn, () =>
    [...foldReads(stepsRows(turn, marks)), ...lastCheckRows(turn), turnEndRow(turn)].map(quietWhere(turn)),
  );
}

function quietWhere({ failure }: Turn): (row: Row) => Row {
  return (row) =>
    row.type === 'retry' && row.retries.at(-1)?.reason.message === failure?.message ? { ...row, told: true } : row;
}

/** The check that no step took up: those before stand with the step that was told of them. */
function lastCheckRows({ turnId, check }: Turn): CheckRow[] {
  if (check === null || check.told) return [];
  const { runs, title, outcome, text, startedAt } = check;
  return [
    { type: 'check', key: `${turnId}.check.${runs}`, title, outcome, since: outcome === null ? startedAt : null, text },
  ];
}

function turnEndRow(turn: Turn): TurnEndRow {
  const endedAt = turn.endedAt ?? turn.startedAt;
  return {
    type: 'turn-end',
    key: `${turn.turnId}.end`,
    turnId: turn.turnId,
    outcome: turn.outcome ?? 'interrupted',
    failure: turn.failure,
    endedAt,
    durationMs: endedAt - turn.startedAt,
    changed: turn.changed,
    files: turn.changed.length,
    added: turn.changed.reduce((sum, file) => sum + file.added, 0),
    removed: turn.changed.reduce((sum, file) => sum + file.removed, 0),
    calls: turn.calls,
    usage: turn.usage,
    cost: turn.cost,
    unknownCost: turn.unknownCost,
  };
}

const ofClosedSteps = new WeakMap<Step, readonly Row[]>();

/** With the compactions that were made between its steps. */
function stepsRows(turn: Turn, marks: readonly CompactionMark[]): Row[] {
  const left = [...marks];
  const rows = turn.steps.flatMap((step): readonly Row[] => {
    const ofStep = remembered(ofClosedSteps, step, () => stepRows(step, nothingAsked));
    const due = left.findIndex((mark) => mark.seq > step.startedSeq);
    const before = left.splice(0, due < 0 ? left.length : due);
    return before.length === 0 ? ofStep : [...before.map(compactionRow), ...ofStep];
  });
  return [...rows, ...left.map(compactionRow)];
}

const ofMarks = new WeakMap<CompactionMark, Row>();

function compactionRow(mark: CompactionMark): Row {
  return remembered(ofMarks, mark, () => ({ type: 'compaction', key: `compaction.${mark.seq}`, mark }));
}

type Asked = Pick<Conversation, 'approvals' | 'questions'>;
const nothingAsked: Asked = { approvals: [], questions: [] };

function openStepRows(turn: Turn, asked: Asked): Row[] {
  const { step } = turn;
  if (step === null) return [];
  const rows = stepRows(step, asked);
  const working = workingRow(step);
  return working === null ? rows : [...rows, working];
}

function stepRows(step: Step, asked: Asked): Row[] {
  const { failedCheck } = step;
  const told: Row[] =
    failedCheck === null
      ? []
      : [{ type: 'check', key: `${step.stepId}.check`, ...failedCheck, outcome: 'failed', since: null }];
  const rows: Row[] = [...told, ...step.inputs.map((input) => inputRow(input))];
  const { retries } = step;
  if (retries.length > 0) {
    const pending = step.reply === null && step.parts.length === 0 && step.endedAt === null;
    rows.push({ type: 'retry', key: `${step.stepId}.retry`, retries, pending, told: false });
  }
  const placed = new Set<ToolCall>();
  for (const part of step.parts) {
    if (part.kind !== 'tool-call') {
      if (part.kind === 'reasoning' || part.text.trim() !== '') rows.push(partRow(part));
      continue;
    }
    const call = step.calls.find((one) => one.partId === part.partId);
    if (call !== undefined) {
      placed.add(call);
      rows.push(callRow(call, asked));
    } else if (step.endedAt === null) rows.push({ type: 'coming-call', key: part.partId, part });
  }
  for (const call of step.calls) if (!placed.has(call)) rows.push(callRow(call, asked));
  const stop = step.reply?.stop;
  if (stop === 'length' || stop === 'refusal') rows.push({ type: 'cut', key: `${step.stepId}.cut`, stop });
  return rows;
}

const ofInputs = new WeakMap<ClaimedInput, Row>();
const ofParts = new WeakMap<Part, Row>();
const ofCalls = new WeakMap<ToolCall, CallRow>();

function inputRow(input: ClaimedInput): Row {
  return remembered(ofInputs, input, () => ({
    type: 'input',
    key: input.inputId,
    input,
    steered: input.target === 'next-step',
  }));
}

function partRow(part: Part): Row {
  return remembered(ofParts, part, () => {
    const streaming = part.endedAt === null;
    if (part.kind !== 'reasoning') return { type: 'text', key: part.partId, part, streaming };
    const durationMs = part.endedAt === null ? null : part.endedAt - part.startedAt;
    return { type: 'reasoning', key: part.partId, part, streaming, durationMs };
  });
}

/** Under the key of the part that announced it, so that the line stays the same line. */
function callRow(call: ToolCall, { approvals, questions }: Asked): CallRow {
  const approval = approvals.find((one) => one.callId === call.callId) ?? null;
  const known = ofCalls.get(call);
  const question = questions.find((one) => one.callId === call.callId) ?? null;
  if (known?.approval === approval && known.question === question) return known;
  const row: CallRow = { type: 'call', key: call.partId ?? call.callId, call, approval, question };
  ofCalls.set(call, row);
  return row;
}

function workingRow(step: Step): Row | null {
  if (step.reply !== null || step.parts.some((part) => part.endedAt === null)) return null;
  const since = step.parts.at(-1)?.endedAt ?? step.retries.at(-1)?.at ?? step.startedAt;
  return { type: 'working', key: `${step.stepId}.working`, model: step.model, since };
}

const ofWarnings = new WeakMap<Warning, Row>();

function warningRow(warning: Warning): Row {
  return remembered(ofWarnings, warning, () => ({ type: 'warning', key: `warning.${warning.seq}`, warning }));
}

const ofFolds = new WeakMap<ToolCall, CallsRow>();

/** Folds neighbouring reads, also across steps: an agent that looks around makes a step of each. */
function foldReads(rows: readonly Row[]): Row[] {
  const folded: Row[] = [];
  let reads: CallRow[] = [];
  const flush = (): void => {
    const [first] = reads;
    if (first !== undefined) folded.push(reads.length === 1 ? first : callsRow(first, reads));
    reads = [];
  };
  for (const row of rows) {
    if (row.type === 'call' && isRead(row)) reads.push(row);
    else {
      flush();
      folded.push(row);
    }
  }
  flush();
  return folded;
}

function isRead({ call, approval }: CallRow): boolean {
  const { kind } = call.display;
  return (
    (kind === 'read' || kind === 'search') && approval === null && call.state !== 'waiting' && call.outcome !== 'denied'
  );
}

/** Under the key of the first, so that a single read that gets company stays where it is. */
function callsRow(first: CallRow, reads: readonly CallRow[]): CallsRow {
  const known = ofFolds.get(first.call);
  if (known?.calls.length === reads.length && known.calls.every((call, index) => call === reads[index]?.call))
    return known;
  const calls = reads.map((row) => row.call);
  const row: CallsRow = {
    type: 'calls',
    key: first.key,
    calls,
    running: calls.filter((call) => call.state !== 'ended').length,
    failed: calls.filter((call) => call.outcome === 'failed').length,
  };
  ofFolds.set(first.call, row);
  return row;
}

function remembered<Thing extends object, Made>(memory: WeakMap<Thing, Made>, thing: Thing, make: () => Made): Made {
  const known = memory.get(thing);
  if (known !== undefined) return known;
  const made = make();
  memory.set(thing, made);
  return made;
}
