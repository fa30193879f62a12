/** Inputs queued and not yet claimed, in order: what waits above the composer. Each function returns the new inbox, or says what does not fit. */
import type { InputTarget } from '../events/input.ts';
import type { InputPart } from '../values/content.ts';
import type { InputId } from '../values/ids.ts';
import type { Attached, QueuedInput } from './conversation.ts';

type Inbox = readonly QueuedInput[];

export function queue(inbox: Inbox, input: QueuedInput): Inbox | string {
  return inbox.some((one) => one.inputId === input.inputId)
    ? `input ${input.inputId} is queued already`
    : [...inbox, input];
}

export function edit(inbox: Inbox, inputId: InputId, parts: readonly InputPart[]): Inbox | string {
  if (!inbox.some((one) => one.inputId === inputId)) return `input ${inputId} is not waiting`;
  return inbox.map((one) => (one.inputId === inputId ? { ...one, parts } : one));
}

export function move(
  inbox: Inbox,
  inputId: InputId,
  target: InputTarget | undefined,
  before: InputId | null | undefined,
): Inbox | string {
  const moved = inbox.find((one) => one.inputId === inputId);
  if (moved === undefined) return `input ${inputId} is not waiting`;
  const changed = target === undefined ? moved : { ...moved, target };
  if (before === undefined) return inbox.map((one) => (one.inputId === inputId ? changed : one));
  const rest = inbox.filter((one) => one.inputId !== inputId);
  const place = before === null ? rest.length : rest.findIndex((one) => one.inputId === before);
  return place < 0 ? `input ${before} is not waiting` : rest.toSpliced(place, 0, changed);
}

export function remove(inbox: Inbox, inputIds: readonly InputId[]): Inbox | string {
  const missing = inputIds.find((id) => !inbox.some((one) => one.inputId === id));
  return missing === undefined
    ? inbox.filter((one) => !inputIds.includes(one.inputId))
    : `input ${missing} is not waiting`;
}

/** What a step would claim: all next-step inputs; a turn's first step takes the oldest next-turn input too (next-step input may start a turn by itself). */
export function claimable(inbox: Inbox, firstStepOfTurn: boolean): readonly QueuedInput[] {
  const steering = inbox.filter((one) => one.target === 'next-step');
  const opening = firstStepOfTurn ? inbox.find((one) => one.target === 'next-turn') : undefined;
  return inbox.filter((one) => one === opening || steering.includes(one));
}

/** What a session has attached once `now` stands in place of `before`: none of it is counted twice, and what is taken back is given back. */
export function attach(
  { pictures, bytes }: Attached,
  before: readonly InputPart[],
  now: readonly InputPart[],
): Attached {
  const [given, taken] = [picturesIn(before), picturesIn(now)];
  return { pictures: pictures - given.pictures + taken.pictures, bytes: bytes - given.bytes + taken.bytes };
}

function picturesIn(parts: readonly InputPart[]): Attached {
  const pictures = parts.filter((part) => part.type === 'image');
  // Pages are sent again with each request as pictures are, so their bytes count with these.
  const sent = parts.filter((part) => part.type === 'image' || part.type === 'document');
  return { pictures: pictures.length, bytes: sent.reduce((sum, { blob }) => sum + blob.bytes, 0) };
}
