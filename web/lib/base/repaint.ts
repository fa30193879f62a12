/**
 * Runs an action at most once a repaint, however often it is asked for: the screen shows one state a frame, so more is wasted.
 * A hidden page has no repaints; a timer then takes their place, so that what waits does not pile up for hours.
 */
import type { Clock } from './clock.ts';

/** Longer than a frame, so that it never runs before the repaint of a page in view. */
const hiddenMs = 250;

export interface Frames {
  /** Runs `action` before the next repaint, unless the returned function was called before. */
  next(action: () => void): () => void;
}

export const browserFrames: Frames = {
  next: (action) => {
    const frame = requestAnimationFrame(action);
    return () => cancelAnimationFrame(frame);
  },
};

export class Repaint {
  readonly #frames: Frames;
  readonly #clock: Clock;
  readonly #action: () => void;
  #cancel: (() => void) | null = null;

  constructor(frames: Frames, clock: Clock, action: () => void) {
    this.#frames = frames;
    this.#clock = clock;
    this.#action = action;
  }

  request(): void {
    if (this.#cancel !== null) return;
    const cancelFrame = this.#frames.next(() => this.run());
    const cancelTimer = this.#clock.after(hiddenMs, () => this.run());
    this.#cancel = () => {
      cancelFrame();
      cancelTimer();
    };
  }

  /** Now, if it was asked for. */
  run(): void {
    if (this.#cancel === null) return;
    this.cancel();
    this.#action();
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
