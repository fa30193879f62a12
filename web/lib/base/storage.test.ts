import { expect, it } from 'vitest';
import { browserStorage } from './storage.ts';

it('keeps values under names of our own, and null takes them away', () => {
  const items = new Map<string, string>();
  const storage = browserStorage(() => ({
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  }));
  expect(storage.write('draft', { text: 'x' })).toBe(true);
  expect([storage.read('draft'), [...items.keys()]]).toEqual([{ text: 'x' }, ['alcove.draft']]);
  storage.write('draft', null);
  expect([storage.read('draft'), items.size]).toEqual([null, 0]);
});

it('a browser that refuses, or that holds what is not ours, costs nothing but the value', () => {
  const refusing = browserStorage(() => {
    throw new DOMException('denied', 'SecurityError');
  });
  expect([refusing.read('x'), refusing.write('x', 1)]).toEqual([null, false]);
  const foreign = browserStorage(() => ({
    getItem: () => '{half',
    setItem: () => undefined,
    removeItem: () => undefined,
  }));
  expect(foreign.read('x')).toBeNull();
});
