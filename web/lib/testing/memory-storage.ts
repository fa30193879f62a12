/**
 * Storage of a browser, in memory. Values go through JSON, as they do in a browser.
 * Two of them over one map are two tabs.
 */
import { browserStorage, type Storage } from '../base/storage.ts';

export function memoryStorage(items = new Map<string, string>()): Storage {
  return browserStorage(() => ({
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  }));
}
