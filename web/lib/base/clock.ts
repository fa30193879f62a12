/**
 * The two ports that every test replaces: time, and the ids that this page makes.
 * Nothing in connection/ or state/ reads a clock or makes an id of its own.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `action` once after `delayMs`, unless the returned function was called before. */
  after(delayMs: number, action: () => void): () => void;
}

export interface Ids {
  /** A UUIDv7, bare: for commands and inputs; behind a prefix for what a client may name (`ses_…`). */
  next(): string;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, action) => {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  },
};

/** UUIDv7: the time first, so that a daemon can tell how old a repeated command is; the rest from `random`. */
export function timedIds(clock: Pick<Clock, 'now'>, random: (bytes: Uint8Array<ArrayBuffer>) => void): Ids {
  return {
    next: () => {
      const bytes = new Uint8Array(16);
      random(bytes);
      let time = clock.now();
      for (let place = 5; place >= 0; place--) {
        bytes[place] = time % 256;
        time = Math.floor(time / 256);
      }
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    },
  };
}
