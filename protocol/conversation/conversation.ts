/**
 * The folded state of a session. Closed turns and the active turn are two fields, and so are an active turn's closed steps and its open
 * step: a token then touches one small object, never the history. Everything is readonly; unchanged parts keep their identity.
 *
 * What is counted here (`counts`) gives the next ids, so that ids are the same in every replay and survive a start from a base.
 */
import type { InputOrigin, InputTarget } from '../events/input.ts';
import type { PartKind } from '../events/part.ts';
import type { ApprovalScope } from '../events/approval.ts';
import type { QuestionOption } from '../events/question.ts';
import type { CheckOutcome } from '../events/check.ts';
import type { CompactionTrigger } from '../events/context.ts';
import type { Todo } from '../events/work.ts';
import type { BlobRef } from '../values/blob.ts';
import type { InputPart } from '../values/content.ts';
import type { CallDetails } from '../values/display.ts';
import type {
  ApprovalId,
  CallId,
  CommandId,
  InputId,
  PartId,
  QuestionId,
  SessionId,
  StepId,
  TurnId,
} from '../values/ids.ts';
import type { JsonObject } from '../values/json.ts';
import type { Effort, Mode } from '../values/model.ts';
import type { Failure, TurnOutcome } from '../values/outcome.ts';
import type { Project } from '../values/project.ts';
import { noUsage, type Usage, type UsageTotals } from '../values/usage.ts';
import type { EndedJob, Job } from './jobs.ts';
import type { ToolCall } from './tool-call.ts';

export interface Conversation {
  /** The last event folded; 0 before the first. */
  readonly seq: number;
  readonly at: number;
  readonly session: SessionFacts | null;
  readonly settings: Settings;
  /** Closed turns, oldest first; the first `omittedTurns` of the session are not here. */
  readonly turns: readonly Turn[];
  readonly omittedTurns: number;
  readonly active: Turn | null;
  readonly inbox: readonly QueuedInput[];
  /** Pictures that people attached, of all inputs that were not taken back: a count that needs no history. */
  readonly attached: Attached;
  readonly approvals: readonly OpenApproval[];
  readonly questions: readonly OpenQuestion[];
  /** What a person allowed for the rest of this session. */
  readonly grants: readonly Grant[];
  readonly usage: UsageTotals;
  /** US dollars of the steps whose price is known; `unknownCost` counts the others. */
  readonly cost: number;
  readonly unknownCost: number;
  /** What sub-agents spent, apart from the session's own. */
  readonly delegated: { readonly usage: UsageTotals; readonly cost: number; readonly unknownCost: number };
  readonly plan: { readonly text: string; readonly decision: 'accepted' | 'dismissed' | 'withdrawn' | null } | null;
  /** How full the model's window is; `estimated` until a provider has measured the context that a compaction left. */
  readonly context: { readonly used: number; readonly limit: number | null; readonly estimated: boolean } | null;
  /** What stands for all steps before `firstKeptSeq` in the model's context. */
  readonly compaction: Compaction | null;
  /** One is being made. */
  readonly compacting: { readonly at: number; readonly trigger: CompactionTrigger } | null;
  readonly compactionWanted: boolean;
  /** The last few that ended, for the transcript and so that a failed one is not tried again at once. */
  readonly compactions: readonly CompactionMark[];
  readonly todos: readonly Todo[];
  /** Commands in the background: those that run, and the last that ended (`maxEndedJobs`), oldest first. */
  readonly jobs: readonly Job[];
  readonly pins: readonly { readonly seq: number; readonly note: string | null }[];
  /** The last few; older ones stand in the log. */
  readonly warnings: readonly Warning[];
  /** How the last closed turn ended, also where that turn is omitted. */
  readonly lastOutcome: TurnOutcome | null;
  /** Commands of the last 24 hours (by event time), by which a repeat is known. */
  readonly commands: readonly RecentCommand[];
  readonly counts: Counts;
  /** Events that did not fit. The writer never makes one; a reader shows them and goes on. */
  readonly anomalies: readonly Anomaly[];
}

export interface Attached {
  readonly pictures: number;
  readonly bytes: number;
}

export interface SessionFacts {
  readonly sessionId: SessionId;
  readonly logVersion: number;
  readonly project: Project;
  readonly folder: string;
  readonly createdAt: number;
  readonly title: string | null;
  readonly titledBy: 'person' | 'agent' | null;
  /** The first words of the first input: what a list shows where there is no title. */
  readonly opening: string | null;
  readonly parent: { readonly sessionId: SessionId; readonly seq: number } | null;
  /** Of a sub-agent: who started it. */
  readonly spawned: Spawned | null;
  readonly archived: boolean;
  readonly deleted: boolean;
}

export interface Spawned {
  readonly sessionId: SessionId;
  readonly callId: CallId;
  readonly agent: string;
  readonly depth: number;
}

export interface Settings {
  readonly model: string | null;
  readonly effort: Effort | null;
  readonly mode: Mode;
}

export interface Turn {
  readonly turnId: TurnId;
  readonly startedAt: number;
  readonly startedSeq: number;
  readonly paused: boolean;
  /** Closed steps, oldest first; the first `omittedSteps` of the turn are not here. */
  readonly steps: readonly Step[];
  readonly omittedSteps: number;
  readonly step: Step | null;
  readonly usage: UsageTotals;
  readonly cost: number;
  readonly unknownCost: number;
  /** What sub-agents and summaries spent within this turn, apart from its own steps. `tokens` without what came from a cache. */
  readonly besides: { readonly tokens: number; readonly cost: number; readonly unknownCost: number };
  readonly calls: number;
  /** The last check of this turn. */
  readonly check: TurnCheck | null;
  /** Files that this turn's tools changed, with sums over the turn; at most `maxChangedFiles`. */
  readonly changed: readonly { readonly path: string; readonly added: number; readonly removed: number }[];
  readonly endedAt: number | null;
  readonly endedSeq: number | null;
  readonly outcome: TurnOutcome | null;
  readonly failure: Failure | null;
}

export interface TurnCheck {
  /** How often the turn was checked, with this. */
  readonly runs: number;
  readonly title: string;
  readonly startedAt: number;
  /** Null: it runs. */
  readonly outcome: CheckOutcome | null;
  readonly text: string;
  /** A step has taken its failure up. */
  readonly told: boolean;
}

export interface Step {
  readonly stepId: StepId;
  readonly startedAt: number;
  readonly startedSeq: number;
  readonly model: string;
  readonly effort: Effort | null;
  readonly mode: Mode;
  readonly inputs: readonly ClaimedInput[];
  /** Jobs that had ended since the step before: the model is told with this one. */
  readonly endedJobs: readonly EndedJob[];
  /** A check that failed before this step: the model is told with it. */
  readonly failedCheck: { readonly title: string; readonly text: string } | null;
  readonly parts: readonly Part[];
  readonly calls: readonly ToolCall[];
  readonly retries: readonly Retry[];
  readonly reply: Reply | null;
  readonly endedAt: number | null;
  readonly endedSeq: number | null;
  readonly outcome: TurnOutcome | null;
  readonly failure: Failure | null;
}

export interface QueuedInput {
  readonly inputId: InputId;
  readonly target: InputTarget;
  readonly parts: readonly InputPart[];
  readonly origin: InputOrigin;
  readonly at: number;
}

export interface ClaimedInput extends QueuedInput {
  readonly claimedAt: number;
}

export interface Part {
  readonly partId: PartId;
  readonly kind: PartKind;
  readonly tool: string | null;
  readonly text: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly signature: string | null;
}

export interface Retry {
  readonly attempt: number;
  readonly at: number;
  readonly delayMs: number;
  readonly reason: Failure;
}

export interface Reply {
  readonly stop: 'end' | 'tool-calls' | 'length' | 'refusal' | 'other';
  readonly usage: Usage | null;
  readonly cost: number | null;
  readonly firstTokenMs: number | null;
  readonly totalMs: number;
}

export interface OpenApproval {
  readonly approvalId: ApprovalId;
  readonly callId: CallId;
  readonly at: number;
  readonly reason: string;
  readonly caution: boolean;
  readonly rulePattern: string;
  readonly preview: CallDetails | null;
  /** Copied from the call, so that a list can show the whole command without the conversation. */
  readonly tool: string;
  readonly title: string;
  readonly target: string | null;
  readonly arguments: JsonObject | null;
  readonly argumentsBlob: BlobRef | null;
}

export interface OpenQuestion {
  readonly questionId: QuestionId;
  readonly callId: CallId | null;
  readonly at: number;
  readonly text: string;
  readonly options: readonly QuestionOption[];
}

export interface Grant {
  readonly tool: string;
  readonly pattern: string;
  readonly scope: ApprovalScope;
}

export interface Compaction {
  readonly summary: string;
  readonly firstKeptSeq: number;
  readonly filesRead: readonly string[];
  readonly filesChanged: readonly string[];
}

export interface CompactionMark {
  readonly seq: number;
  readonly at: number;
  readonly trigger: CompactionTrigger;
  readonly outcome: 'completed' | 'failed';
  readonly summary: string | null;
  readonly before: number | null;
  readonly after: number | null;
  readonly reason: string | null;
}

export interface Warning {
  readonly seq: number;
  readonly at: number;
  readonly code: string;
  readonly message: string;
}

export interface RecentCommand {
  readonly id: CommandId;
  readonly digest: string;
  readonly seq: number;
  readonly at: number;
}

export interface Counts {
  readonly turns: number;
  readonly steps: number;
  readonly parts: number;
  readonly calls: number;
  readonly approvals: number;
  readonly questions: number;
  readonly jobs: number;
}

export interface Anomaly {
  readonly seq: number;
  readonly type: string;
  readonly problem: string;
}

/** How long a repeated command is known; what a base must carry. */
export const commandMemoryMs = 24 * 60 * 60 * 1000;
/** Enough for a screen; the log holds them all. */
export const maxWarnings = 20;
export const maxCompactionMarks = 10;
export const maxAnomalies = 20;
export const maxChangedFiles = 200;

export const emptyConversation: Conversation = {
  seq: 0,
  at: 0,
  session: null,
  settings: { model: null, effort: null, mode: 'ask' },
  turns: [],
  omittedTurns: 0,
  active: null,
  inbox: [],
  attached: { pictures: 0, bytes: 0 },
  approvals: [],
  questions: [],
  grants: [],
  usage: noUsage,
  cost: 0,
  unknownCost: 0,
  delegated: { usage: noUsage, cost: 0, unknownCost: 0 },
  context: null,
  compaction: null,
  compacting: null,
  compactionWanted: false,
  compactions: [],
  plan: null,
  todos: [],
  jobs: [],
  pins: [],
  warnings: [],
  lastOutcome: null,
  commands: [],
  counts: { turns: 0, steps: 0, parts: 0, calls: 0, approvals: 0, questions: 0, jobs: 0 },
  anomalies: [],
};
