/**
 * One event as one line, and back. Writing checks the full schema: what is written can always be read again. Reading checks the envelope and
 * the required fields of each kind by hand, since it must stay near the speed of JSON.parse. Kinds and fields that a newer version wrote
 * pass through: a stored event keeps its line, and whoever copies copies the line.
 */
import {
  envelope,
  eventSchemas,
  type EventFields,
  type EventKind,
  type KnownEvent,
  type SessionEvent,
} from '#protocol/event.ts';
import { misfit, quickFit } from '#protocol/schema.ts';
import { assert, InvariantError } from '../base/errors.ts';
import { maxEventBytes } from '../base/limits.ts';

/** An event as it stands in a log. `line` is what was written, byte for byte, without its newline. */
export interface StoredEvent {
  readonly event: SessionEvent;
  readonly line: string;
}

/** Throws an InvariantError where the event does not fit its schema, or is over `maxEventBytes`: long fields become blobs before they come here. */
export function encodeEvent(event: KnownEvent): string {
  const problem = envelopeProblem(event) ?? fieldsProblem(event);
  if (problem !== null) throw new InvariantError(`event ${event.seq} (${event.type}) cannot be written: ${problem}`);
  const line = JSON.stringify(inOrder(event));
  if (mayBeTooLong(line)) {
    const bytes = Buffer.byteLength(line);
    const { seq, type } = event;
    assert(bytes <= maxEventBytes, `event ${seq} (${type}) of ${bytes} bytes is over maxEventBytes (${maxEventBytes})`);
  }
  return line;
}

/** What the schema of the envelope says; by hand for the many events that have nothing in it but their place and time. */
function envelopeProblem(event: KnownEvent): string | null {
  const { seq, at, command, from } = event;
  const plain = command === undefined && from === undefined;
  return plain && Number.isSafeInteger(seq) && seq > 0 && Number.isFinite(at) ? null : misfit(envelope, event);
}

const quickFits = new Map<EventKind, (event: unknown) => boolean>();

function fieldsProblem(event: KnownEvent): string | null {
  const { type } = event;
  let fits = quickFits.get(type);
  if (fits === undefined) quickFits.set(type, (fits = quickFit(eventSchemas[type])));
  return fits(event) ? null : misfit(eventSchemas[type], event);
}

/** With `seq`, `at` and `type` first, where people and tools look for them. The session makes its events so: they are not copied. */
function inOrder(event: KnownEvent): object {
  let place = 0;
  for (const field in event) {
    if (field !== firstFields[place]) break;
    place += 1;
    if (place === firstFields.length) return event;
  }
  const { seq, at, type, ...fields } = event;
  return { seq, at, type, ...fields };
}

const firstFields = ['seq', 'at', 'type'];

/** A line has at most three bytes a UTF-16 unit: most need no counting. */
function mayBeTooLong(line: string): boolean {
  return line.length * 3 > maxEventBytes;
}

/** Returns what is wrong with the line where it is no event. */
export function decodeLine(line: string): StoredEvent | { readonly problem: string } {
  if (mayBeTooLong(line) && Buffer.byteLength(line) > maxEventBytes) {
    return { problem: `an event is over the limit of ${maxEventBytes} bytes` };
  }
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return { problem: 'a line is not JSON' };
  }
  const problem = problemOf(event);
  return problem === null ? { event: event as SessionEvent, line } : { problem };
}

/** What stands in a field, as far as reading looks. */
type Check = 'string' | 'number' | 'boolean' | 'array' | 'object' | 'string|null' | 'number|null' | 'object|null';

type CheckOf<T> = null extends T
  ? `${CheckOf<NonNullable<T>>}|null`
  : T extends string
    ? 'string'
    : T extends number
      ? 'number'
      : T extends boolean
        ? 'boolean'
        : T extends readonly unknown[]
          ? 'array'
          : 'object';

/** The names of the fields that an event of a kind must have. */
type RequiredOf<T> = { [Field in keyof T]-?: undefined extends T[Field] ? never : Field }[keyof T];

/** Every kind with every required field: one that is forgotten, or is of another type than its schema says, does not compile. */
type Checks = {
  readonly [Kind in EventKind]: {
    readonly [Field in RequiredOf<EventFields<Kind>>]: CheckOf<EventFields<Kind>[Field]>;
  };
};

const checks: Checks = {
  'session.created': { logVersion: 'number', sessionId: 'string', project: 'object', folder: 'string' },
  'session.forked': { sessionId: 'string', parent: 'object' },
  'session.configured': {},
  'session.titled': { title: 'string', by: 'string' },
  'session.archived': {},
  'session.restored': {},
  'session.deleted': {},
  'input.queued': { inputId: 'string', target: 'string', parts: 'array', origin: 'string' },
  'input.edited': { inputId: 'string', parts: 'array' },
  'input.moved': { inputId: 'string' },
  'input.withdrawn': { inputId: 'string', reason: 'string' },
  'input.claimed': { stepId: 'string', inputIds: 'array' },
  'turn.started': { turnId: 'string' },
  'turn.paused': { turnId: 'string' },
  'turn.resumed': { turnId: 'string' },
  'turn.ended': { turnId: 'string', outcome: 'string' },
  'step.started': { turnId: 'string', stepId: 'string', model: 'string', effort: 'string|null', mode: 'string' },
  'step.retried': { stepId: 'string', attempt: 'number', delayMs: 'number', reason: 'object', usage: 'object|null' },
  'step.replied': {
    stepId: 'string',
    stop: 'string',
    usage: 'object|null',
    cost: 'number|null',
    firstTokenMs: 'number|null',
    totalMs: 'number',
  },
  'step.ended': { stepId: 'string', outcome: 'string' },
  'part.started': { stepId: 'string', partId: 'string', kind: 'string' },
  'part.delta': { partId: 'string', text: 'string' },
  'part.ended': { partId: 'string' },
  'part.reclassified': { partId: 'string', kind: 'string' },
  'tool-call.requested': {
    callId: 'string',
    stepId: 'string',
    providerCallId: 'string|null',
    tool: 'string',
    arguments: 'object|null',
    display: 'object',
  },
  'tool-call.started': { callId: 'string' },
  'tool-call.output': { callId: 'string', text: 'string' },
  'tool-call.ended': { callId: 'string', outcome: 'string', content: 'array' },
  'job.started': { jobId: 'string', callId: 'string', title: 'string' },
  'job.ended': { jobId: 'string', outcome: 'string', exitCode: 'number|null', signal: 'string|null' },
  'check.started': { turnId: 'string', title: 'string' },
  'check.ended': { turnId: 'string', outcome: 'string', text: 'string' },
  'approval.requested': {
    approvalId: 'string',
    callId: 'string',
    reason: 'string',
    caution: 'boolean',
    rulePattern: 'string',
  },
  'approval.resolved': { approvalId: 'string', decision: 'string', scope: 'string', by: 'string' },
  'approval.withdrawn': { approvalId: 'string', reason: 'string' },
  'question.requested': { questionId: 'string', text: 'string', options: 'array' },
  'question.resolved': { questionId: 'string', answer: 'string', by: 'string' },
  'question.withdrawn': { questionId: 'string', reason: 'string' },
  'context.measured': { used: 'number', limit: 'number|null' },
  'compaction.requested': {},
  'compaction.started': { trigger: 'string' },
  'compaction.ended': { outcome: 'string' },
  'warning.raised': { code: 'string', message: 'string' },
  'annotation.pinned': { eventSeq: 'number' },
  'annotation.unpinned': { eventSeq: 'number' },
  'annotation.reviewed': { eventSeq: 'number' },
  'plan.proposed': { text: 'string' },
  'plan.decided': { decision: 'string', by: 'string' },
  'todo.replaced': { todos: 'array' },
  'agent.started': { agent: 'string' },
  'agent.intent-stated': { agent: 'string', text: 'string' },
  'agent.handed-off': { agent: 'string', to: 'string' },
  'agent.ended': { agent: 'string', outcome: 'string' },
  'skill.applied': { skill: 'string' },
  'hook.started': { hook: 'string' },
  'hook.ended': { hook: 'string', outcome: 'string' },
  'checkpoint.made': { checkpoint: 'string' },
  'checkpoint.restored': { checkpoint: 'string' },
  'change.baseline-taken': { turnId: 'string', checkpoint: 'string' },
  'change.summarised': { turnId: 'string', files: 'array' },
};

const fieldsOfKind = new Map<string, readonly (readonly [string, Check])[]>(
  Object.entries(checks).map(([kind, fields]) => [kind, Object.entries(fields) as [string, Check][]]),
);

function problemOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'a line is not an object';
  const event = value as Record<string, unknown>;
  const { seq, at, type } = event;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 1) return 'an event has no seq';
  if (typeof at !== 'number') return `event ${seq} has no time`;
  if (typeof type !== 'string') return `event ${seq} has no type`;
  const fields = fieldsOfKind.get(type);
  if (fields === undefined) return null;
  for (const [field, check] of fields) {
    if (!fits(event[field], check)) return `event ${seq} (${type}) has no ${field}, or one that is no ${check}`;
  }
  return null;
}

function fits(value: unknown, check: Check): boolean {
  switch (check) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === check;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'string|null':
      return value === null || typeof value === 'string';
    case 'number|null':
      return value === null || typeof value === 'number';
    case 'object|null':
      return typeof value === 'object' && !Array.isArray(value);
  }
}
