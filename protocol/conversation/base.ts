/**
 * A base: a conversation at a step boundary without its closed turns and closed steps, where a reader of the tail starts folding. It carries
 * everything else (settings, inbox, open requests, totals, recent commands), so folding on from it gives the same as folding from the start,
 * less what was left out. Its size does not depend on the length of the log or of the open turn.
 */
import { emptyConversation, type Conversation, type Turn } from './conversation.ts';

/** Raise it where what stands inside a field of `Conversation` changes; fields that come or go are seen by themselves. */
const baseRevision = 2;

/** What a stored base was made by: one of another shape would be folded on with holes in it, and is made anew instead. */
export const baseShape = `${baseRevision}.${shapeOf(Object.keys(emptyConversation))}`;

/** FNV-1a, 32 bits: short, and the same everywhere. */
function shapeOf(names: readonly string[]): string {
  let hash = 0x811c9dc5;
  for (const byte of names.toSorted().join(' ')) hash = Math.imul(hash ^ byte.charCodeAt(0), 0x01000193) >>> 0;
  return hash.toString(36);
}

/** A base can be taken between two steps, and between two turns. */
export function atStepBoundary(conversation: Conversation): boolean {
  return conversation.session !== null && (conversation.active === null || conversation.active.step === null);
}

/** Requires `atStepBoundary(conversation)`. */
export function toBase(conversation: Conversation): Conversation {
  const { active, turns } = conversation;
  return {
    ...conversation,
    turns: [],
    omittedTurns: conversation.omittedTurns + turns.length,
    active: active === null ? null : { ...active, steps: [], omittedSteps: active.omittedSteps + active.steps.length },
  };
}

/** True where nothing of the history is left out. */
export function isWhole(conversation: Conversation): boolean {
  const first = conversation.turns[0] ?? conversation.active;
  return conversation.omittedTurns === 0 && (first?.omittedSteps ?? 0) === 0;
}

/**
 * Puts a page of earlier history (its own base, folded up to where `later` starts) before `later`. The page must end exactly where the later
 * one begins; a turn that the cut went through is joined.
 */
export function prepend(page: Conversation, later: Conversation): Conversation {
  const cut = page.active;
  if (cut === null) return { ...later, turns: [...page.turns, ...later.turns], omittedTurns: page.omittedTurns };
  const [first, ...rest] = later.turns;
  if (first !== undefined)
    return { ...later, turns: [...page.turns, joinTurn(cut, first), ...rest], omittedTurns: page.omittedTurns };
  const active = later.active === null ? null : joinTurn(cut, later.active);
  return { ...later, turns: page.turns, omittedTurns: page.omittedTurns, active };
}

function joinTurn(earlier: Turn, later: Turn): Turn {
  return { ...later, steps: [...earlier.steps, ...later.steps], omittedSteps: earlier.omittedSteps };
}
