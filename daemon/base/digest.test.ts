/** Digests of a command's parameters: the same for a repeat, another for anything else, and never changed by a new version. */
import { expect, test } from 'vitest';
import { canonicalJson, digestOf } from './digest.ts';

test('order of keys, undefined fields and the id of the command make no difference', () => {
  const first = digestOf({ commandId: 'one', path: '/a', nested: { a: 1, b: [1, { c: 2, d: 3 }] } });
  expect(digestOf({ nested: { b: [1, { d: 3, c: 2 }], a: 1 }, gone: undefined, path: '/a', commandId: 'two' })).toBe(
    first,
  );
});

test('another value or another order of a list is another digest', () => {
  const first = digestOf({ parts: [1, 2] });
  expect(digestOf({ parts: [2, 1] })).not.toBe(first);
  expect(digestOf({ parts: [1, 2], more: null })).not.toBe(first);
});

test('keys that look like numbers are sorted like all others', () => {
  expect(canonicalJson({ b: 1, 10: 2, 9: 3 })).toBe(canonicalJson({ 9: 3, 10: 2, b: 1 }));
});

test('the digest in logs stays what it is', () => {
  expect(digestOf({ commandId: 'one', text: 'é', list: [] })).toBe('1b4523a8b8355fcd667320efae71a8f5');
});
