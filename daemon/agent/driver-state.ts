/**
 * The driver's five states and what moves between them. One driver a session.
 *   idle    -> running   (woken: input to claim, or a turn to continue)
 *   running -> idle      (rests: turn ended, nothing to claim)
 *   running -> pausing   (a person asked) -> paused (at a complete step boundary) | idle (the turn ended by itself)
 *   paused  -> running   (resumed, or an answer to what it waited for)
 *   any but idle -> aborting -> idle (or paused, where the disk refused to close the turn)
 */
export type DriverState = 'idle' | 'running' | 'pausing' | 'paused' | 'aborting';
export type DriverSignal = 'wake' | 'rest' | 'pause' | 'paused' | 'resume' | 'abort' | 'aborted';

/** The next state, or null where the signal means nothing in this state and is let pass. */
export function next(state: DriverState, signal: DriverSignal): DriverState | null {
  switch (state) {
    case 'idle':
      return signal === 'wake' ? 'running' : signal === 'paused' ? 'paused' : null;
    case 'running':
      return signal === 'rest'
        ? 'idle'
        : signal === 'pause'
          ? 'pausing'
          : signal === 'abort'
            ? 'aborting'
            : signal === 'paused'
              ? 'paused'
              : null;
    case 'pausing':
      return signal === 'paused'
        ? 'paused'
        : signal === 'rest'
          ? 'idle'
          : signal === 'resume'
            ? 'running'
            : signal === 'abort'
              ? 'aborting'
              : null;
    case 'paused':
      return signal === 'resume' || signal === 'wake' ? 'running' : signal === 'abort' ? 'aborting' : null;
    case 'aborting':
      return signal === 'aborted' || signal === 'rest' ? 'idle' : signal === 'paused' ? 'paused' : null;
  }
}
