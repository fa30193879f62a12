/**
 * What went wrong or slowly in a session, told from its log alone: calls made again and again, failures, edits that did not apply, what was
 * tried again, what was cut, what is open, and where the time went. Each finding names the event it stands at. Nothing is repaired, and what
 * the log does not say is null, never a guess (EV3).
 */
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { atRest, openWork } from '#protocol/conversation/open.ts';
import { isKnown, type EventOf, type KnownEvent, type SessionEvent } from '#protocol/event.ts';
import type { CallOutcome, Failure } from '#protocol/values/outcome.ts';
import { canonicalJson } from '../base/digest.ts';
import { leftOutBytes } from '../base/left-out.ts';

/** Fewer of one call are nothing to tell. */
const tellRepeatsFrom = 3;
const editingTools: ReadonlySet<string> = new Set(['edit', 'write', 'apply_patch']);
/** Of what a tool said, enough to know it again. */
const toldCharacters = 200;

export interface Diagnosis {
  /** The same tool with the same arguments, at least three times; `inARow`: so often without another call between. */
  repeats: { tool: string; arguments: string; times: number; inARow: number; seqs: number[] }[];
  /** Of steps and turns, by what they were; `last` is the words of the last one. */
  failures: { code: string; times: number; seqs: number[]; last: string }[];
  failedEdits: { seq: number; tool: string; target: string | null; said: string }[];
  failedCalls: Record<string, number>;
  retries: { seq: number; stepId: string; attempt: number; delayMs: number; code: string }[];
  /** Where the model was not shown all, or did not say all: a result whose middle is missing, a reply at its length limit. `kept`: the whole. */
  truncations: {
    seq: number;
    what: 'result' | 'reply';
    of: string;
    omittedBytes: number | null;
    kept: string | null;
  }[];
  /** Calls without an end, and what the next start does about it. */
  open: { callId: string; tool: string; state: string }[];
  repairs: string[];
  warnings: { seq: number; code: string; message: string }[];
  compactions: { done: number; failed: number };
  /** Milliseconds by the log's own clock, of steps, calls and questions that both began and ended; null where none did. */
  time: { model: number | null; tools: number | null; waitingForPerson: number | null };
  usage: ReportedUsage | null;
}

/** What steps said that they used; `unknownSteps` said nothing and are in no sum. */
export interface ReportedUsage {
  input: number;
  output: number;
  unknownSteps: number;
}

/** Null where no step reported it. */
export function reportedUsage({ usage }: Conversation): ReportedUsage | null {
  const { steps, input, output, unknownSteps } = usage;
  return steps === unknownSteps ? null : { input, output, unknownSteps };
}

export class Diagnoser {
  readonly #calls = new Map<string, { tool: string; key: string; target: string | null; startedAt: number | null }>();
  readonly #repeats = new Map<string, Diagnosis['repeats'][number]>();
  readonly #failures = new Map<string, Diagnosis['failures'][number]>();
  readonly #failedEdits: Diagnosis['failedEdits'] = [];
  readonly #failedCalls: Record<string, number> = {};
  readonly #retries: Diagnosis['retries'] = [];
  readonly #truncations: Diagnosis['truncations'] = [];
  readonly #warnings: Diagnosis['warnings'] = [];
  readonly #compactions = { done: 0, failed: 0 };
  readonly #steps = new Map<string, number>();
  readonly #asked = new Map<string, number>();
  readonly #time: Diagnosis['time'] = { model: null, tools: null, waitingForPerson: null };
  #last: { key: string; inARow: number } | null = null;

  readonly #hearers: { readonly [Type in KnownEvent['type']]?: (event: EventOf<Type>) => void } = {
    'step.started': ({ stepId, at }) => void this.#steps.set(stepId, at),
    'step.retried': ({ seq, stepId, attempt, delayMs, reason }) =>
      void this.#retries.push({ seq, stepId, attempt, delayMs, code: reason.code }),
    'step.replied': ({ seq, at, stepId, stop }) => {
      this.#passed('model', this.#steps.get(stepId), at);
      if (stop === 'length') this.#truncations.push({ seq, what: 'reply', of: stepId, omittedBytes: null, kept: null });
    },
    'step.ended': ({ seq, failure }) => this.#failed(seq, failure),
    // A turn fails by its step: that was told already.
    'turn.ended': ({ seq, failure }) => {
      if (!this.#isTold(failure)) this.#failed(seq, failure);
    },
    'tool-call.requested': (event) => this.#requested(event),
    'tool-call.started': ({ callId, at }) => {
      const call = this.#calls.get(callId);
      if (call !== undefined) call.startedAt = at;
    },
    'tool-call.ended': (event) => this.#ended(event),
    'approval.requested': ({ approvalId, at }) => void this.#asked.set(approvalId, at),
    'approval.resolved': ({ approvalId, at }) => this.#passed('waitingForPerson', this.#asked.get(approvalId), at),
    'question.requested': ({ questionId, at }) => void this.#asked.set(questionId, at),
    'question.resolved': ({ questionId, at }) => this.#passed('waitingForPerson', this.#asked.get(questionId), at),
    'warning.raised': ({ seq, code, message }) => void this.#warnings.push({ seq, code, message }),
    'compaction.ended': ({ outcome }) => void (this.#compactions[outcome === 'completed' ? 'done' : 'failed'] += 1),
  };

  hear(event: SessionEvent): void {
    if (!isKnown(event)) return;
    const hearer = this.#hearers[event.type] as ((event: KnownEvent) => void) | undefined;
    hearer?.(event);
  }

  /** `conversation`: what those events fold to; `torn`: the log's end would be cut. */
  result(conversation: Conversation, torn: boolean): Diagnosis {
    const open = openWork(conversation);
    const calls = conversation.active?.step?.calls.filter(({ outcome }) => outcome === null) ?? [];
    return {
      repeats: [...this.#repeats.values()].filter(({ times }) => times >= tellRepeatsFrom),
      failures: [...this.#failures.values()],
      failedEdits: this.#failedEdits,
      failedCalls: this.#failedCalls,
      retries: this.#retries,
      truncations: this.#truncations,
      open: calls.map(({ callId, tool, state }) => ({ callId, tool, state })),
      repairs: [
        ...(torn ? ['The torn end of the log is cut off and kept beside it.'] : []),
        ...(open !== null && !atRest(conversation)
          ? [`${open.turn.turnId} was moving: it is closed as interrupted.`]
          : []),
      ],
      warnings: this.#warnings,
      compactions: this.#compactions,
      time: this.#time,
      usage: reportedUsage(conversation),
    };
  }

  #requested({ seq, callId, tool, arguments: given, argumentsBlob, display }: EventOf<'tool-call.requested'>): void {
    const args = given === null ? `blob ${argumentsBlob?.sha256 ?? ''}` : canonicalJson(given);
    const key = `${tool} ${args}`;
    this.#calls.set(callId, { tool, key, target: display.target ?? null, startedAt: null });
    const row = this.#repeats.get(key) ?? { tool, arguments: shortened(args), times: 0, inARow: 0, seqs: [] };
    const inARow = this.#last?.key === key ? this.#last.inARow + 1 : 1;
    this.#last = { key, inARow };
    row.times += 1;
    row.inARow = Math.max(row.inARow, inARow);
    row.seqs.push(seq);
    this.#repeats.set(key, row);
  }

  #ended({ seq, at, callId, outcome, content, details }: EventOf<'tool-call.ended'>): void {
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    this.#passed('tools', call.startedAt ?? undefined, at);
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    if (wentWrong(outcome)) this.#failedCalls[call.tool] = (this.#failedCalls[call.tool] ?? 0) + 1;
    if (outcome === 'failed' && editingTools.has(call.tool))
      this.#failedEdits.push({ seq, tool: call.tool, target: call.target, said: shortened(text) });
    const omittedBytes = leftOutBytes(text);
    if (omittedBytes === null) return;
    const kept = details?.type === 'command' ? (details.spill ?? null) : null;
    this.#truncations.push({ seq, what: 'result', of: callId, omittedBytes, kept });
  }

  #failed(seq: number, failure: Failure | undefined): void {
    if (failure === undefined) return;
    const { code, message } = failure;
    const row = this.#failures.get(code) ?? { code, times: 0, seqs: [], last: '' };
    row.times += 1;
    row.seqs.push(seq);
    row.last = message;
    this.#failures.set(code, row);
  }

  #isTold(failure: Failure | undefined): boolean {
    return failure !== undefined && this.#failures.get(failure.code)?.last === failure.message;
  }

  #passed(what: keyof Diagnosis['time'], from: number | undefined, to: number): void {
    if (from !== undefined) this.#time[what] = (this.#time[what] ?? 0) + (to - from);
  }
}

function wentWrong(outcome: CallOutcome): boolean {
  return outcome === 'failed' || outcome === 'interrupted';
}

function shortened(text: string): string {
  return text.length <= toldCharacters ? text : `${text.slice(0, toldCharacters)}…`;
}
