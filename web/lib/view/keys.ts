/**
 * What a key means in the composer, by what the driver does: one table, and a pure function over it.
 *
 *               idle              running            pausing            paused             aborting
 *   Enter       next turn         next step          next step          next step (1)      next turn
 *   Alt+Enter   next turn         next turn          next turn          next turn          next turn
 *   Escape      -                 pause              abort              abort              -
 *   (1) with nothing written: resume
 *
 * Shift+Enter breaks the line, and so does Enter on a touch screen, where the button sends. A key that belongs to an input method (half a
 * syllable, a list of candidates) means nothing here. A menu, dialog or card that takes Escape does so before the composer is asked.
 */
import type { DriverState } from '#protocol/commands/session-values.ts';

/** `none`: the key is the composer's and has nothing to do just now; the field must not make a line break of it. */
export type KeyMeaning = 'submit-next-turn' | 'submit-next-step' | 'pause' | 'resume' | 'abort' | 'none';

export interface Key {
  readonly key: string;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly isComposing: boolean;
  readonly repeat: boolean;
  /** 229 also marks a key of an input method, in browsers that end the composition before the key is told. */
  readonly keyCode: number;
  readonly defaultPrevented: boolean;
}

export interface ComposerSituation {
  readonly driver: DriverState;
  /** Nothing is written, or only white space. */
  readonly empty: boolean;
  readonly touch: boolean;
}

const enter: Record<DriverState, KeyMeaning> = {
  idle: 'submit-next-turn',
  running: 'submit-next-step',
  pausing: 'submit-next-step',
  paused: 'submit-next-step',
  aborting: 'submit-next-turn',
};

const escape: Record<DriverState, KeyMeaning | null> = {
  idle: null,
  running: 'pause',
  pausing: 'abort',
  paused: 'abort',
  aborting: null,
};

/** Null: the key is not for the composer's commands; the field does with it what it does. */
export function keyMeaning(key: Key, situation: ComposerSituation): KeyMeaning | null {
  if (key.defaultPrevented || key.isComposing || key.keyCode === 229) return null;
  if (key.key === 'Escape') return plain(key) && !key.repeat ? escape[situation.driver] : null;
  if (key.key !== 'Enter' || key.shiftKey || key.ctrlKey || key.metaKey) return null;
  if (situation.touch && !key.altKey) return null;
  if (key.repeat) return 'none';
  if (situation.empty) return situation.driver === 'paused' && !key.altKey ? 'resume' : 'none';
  return key.altKey ? 'submit-next-turn' : enter[situation.driver];
}

function plain(key: Key): boolean {
  return !key.altKey && !key.shiftKey && !key.ctrlKey && !key.metaKey;
}
