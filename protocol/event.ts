/**
 * The union of all events and their envelope. `eventSchemas` is the one list of kinds: the fold, the codec and the reference are mapped types
 * over it, so a kind that is forgotten somewhere does not compile. What a newer version wrote is an `UnknownEvent` and passes through whole.
 */
import { z } from './schema.ts';
import { approvalEvents } from './events/approval.ts';
import { checkEvents } from './events/check.ts';
import { contextEvents } from './events/context.ts';
import { inputEvents } from './events/input.ts';
import { jobEvents } from './events/job.ts';
import { partEvents } from './events/part.ts';
import { questionEvents } from './events/question.ts';
import { sessionEvents } from './events/session.ts';
import { stepEvents } from './events/step.ts';
import { toolCallEvents } from './events/tool-call.ts';
import { turnEvents } from './events/turn.ts';
import { annotationEvents, warningEvents } from './events/warning.ts';
import { workEvents } from './events/work.ts';
import { commandId } from './values/ids.ts';

export const eventSchemas = {
  ...sessionEvents,
  ...inputEvents,
  ...turnEvents,
  ...stepEvents,
  ...partEvents,
  ...toolCallEvents,
  ...jobEvents,
  ...approvalEvents,
  ...checkEvents,
  ...questionEvents,
  ...contextEvents,
  ...warningEvents,
  ...annotationEvents,
  ...workEvents,
};

export type EventKind = keyof typeof eventSchemas;

/** The client's command that made an event: its id, and a digest of its parameters by which a repeat is told from a conflict. */
export const commandMark = z.object({ id: commandId, digest: z.string().check(z.maxLength(64)) });
export type CommandMark = z.infer<typeof commandMark>;

export const envelope = z.object({
  seq: z.int().check(z.positive()),
  /** Milliseconds since the epoch, of the writer's clock. */
  at: z.number(),
  command: z.optional(commandMark),
  /** Only on an event that `condense` made: the seq of the first of the events that it stands for. */
  from: z.optional(z.int()),
});
export type Envelope = z.infer<typeof envelope>;

/** A kind without fields of its own adds nothing (zod infers an object that admits no key at all, not even the envelope's). */
export type EventFields<Kind extends EventKind> = string extends keyof Inferred<Kind> ? unknown : Inferred<Kind>;
type Inferred<Kind extends EventKind> = z.infer<(typeof eventSchemas)[Kind]>;
export type EventOf<Kind extends EventKind> = Kind extends EventKind
  ? Envelope & { type: Kind } & EventFields<Kind>
  : never;

/** An event of a kind that this version knows. */
export type KnownEvent = { [Kind in EventKind]: EventOf<Kind> }[EventKind];
/** An event of a kind that a newer version wrote. */
export interface UnknownEvent extends Envelope {
  type: `${string}.${string}`;
  [field: string]: unknown;
}
export type SessionEvent = KnownEvent | UnknownEvent;

/** What a decision returns: an event without its place and time, which the session gives it. */
export type Draft = { [Kind in EventKind]: { type: Kind; command?: CommandMark } & EventFields<Kind> }[EventKind];

export function isKnown(event: SessionEvent): event is KnownEvent {
  return Object.hasOwn(eventSchemas, event.type);
}
