/** Neighbouring increments of one part (or of one call's output) as one event, for pages. Folding condensed events equals folding plain ones. */
import { isKnown, type EventOf, type SessionEvent } from '../event.ts';

/** A condensed event stays below this many characters, so that a message on the socket stays small. */
const maxCondensed = 64 * 1024;

export function condense(events: readonly SessionEvent[]): SessionEvent[] {
  const condensed: SessionEvent[] = [];
  for (const event of events) {
    const last = condensed.at(-1);
    const joined = last === undefined ? null : join(last, event);
    if (joined === null) condensed.push(event);
    else condensed[condensed.length - 1] = joined;
  }
  return condensed;
}

function join(first: SessionEvent, second: SessionEvent): SessionEvent | null {
  if (!isKnown(first) || !isKnown(second) || (second.from ?? second.seq) !== first.seq + 1) return null;
  if (first.type === 'part.delta' && second.type === 'part.delta' && first.partId === second.partId)
    return append(first, second);
  if (
    first.type === 'tool-call.output' &&
    second.type === 'tool-call.output' &&
    first.callId === second.callId &&
    second.skippedBytes === undefined
  )
    return append(first, second);
  return null;
}

type Increment = EventOf<'part.delta'> | EventOf<'tool-call.output'>;
function append<One extends Increment>(first: One, second: One): One | null {
  if (first.text.length + second.text.length > maxCondensed) return null;
  return { ...first, seq: second.seq, at: second.at, from: first.from ?? first.seq, text: first.text + second.text };
}
