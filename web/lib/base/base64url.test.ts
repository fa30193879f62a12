import { expect, it } from 'vitest';
import { fromBase64url, toBase64url } from './base64url.ts';

it('bytes come back as they went', () => {
  for (let length = 0; length < 5; length++) {
    const bytes = Uint8Array.from({ length }, (_, index) => 251 + index);
    expect(fromBase64url(toBase64url(bytes))).toEqual(bytes);
  }
  expect(toBase64url(Uint8Array.of(0xfb, 0xff))).toBe('-_8');
});

it.each(['a', 'ab=', 'a+b/', 'a b', 'ä'])('%j is not base64url', (text) => {
  expect(fromBase64url(text)).toBeNull();
});
