/**
 * What this browser keeps of its own: small JSON values by key. Keeping is a convenience and never a condition: a browser that refuses
 * (private window, full, switched off) costs a draft its survival, not the app its life. What is read back is `unknown`: another version
 * of the app may have written it.
 */
export interface Storage {
  read(key: string): unknown;
  /** Null removes. Answers false where the browser refused. */
  write(key: string, value: unknown): boolean;
}

/** The part of the browser's own storage that is used. */
export type BrowserStorage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>;

const prefix = 'alcove.';

export function browserStorage(open: () => BrowserStorage): Storage {
  return {
    read: (key) => {
      try {
        const text = open().getItem(prefix + key);
        return text === null ? null : (JSON.parse(text) as unknown);
      } catch {
        // Refused by the browser, or not JSON: as if nothing were kept.
        return null;
      }
    },
    write: (key, value) => {
      try {
        if (value === null) open().removeItem(prefix + key);
        else open().setItem(prefix + key, JSON.stringify(value));
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** True for what `JSON.parse` makes of `{…}`. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
