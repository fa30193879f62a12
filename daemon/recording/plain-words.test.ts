import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PlainWords } from './plain-words.ts';

const words = () => {
  const plain = new PlainWords([
    { path: '/home/ann/garden', name: '<project>' },
    { path: '/home/ann/.alcove', name: '<alcove>' },
    { path: '/home/ann', name: '<home>' },
    { path: '/', name: '<root>' },
  ]);
  plain.keepSecret('sk-secret-1');
  plain.keepSecret('abc');
  return plain;
};

it.each([
  ['/home/ann/garden/notes.md', '<project>/notes.md'],
  ['in /home/ann/garden.', 'in <project>.'],
  ['/home/anna and /home/ann-2 and /srv/home/ann', '/home/anna and /home/ann-2 and /srv/home/ann'],
  ['/home/ann/.alcove/spills', '<alcove>/spills'],
  ['key=sk-secret-1x abc', 'key=<key>x abc'],
  ['ses_01900000-0000-7000-8000-0123456789ab', 'ses_<id>'],
  ['01900000-0000-7000-8000-0123456789ab', '01900000-0000-7000-8000-0123456789ab'],
])('EV1: leaves folders, keys and ids of its own out of %s', (text, plain) => {
  expect(words().text(text)).toBe(plain);
  expect(words().value({ [text]: [text, 1, null] })).toEqual({ [plain]: [plain, 1, null] });
});

it('EV1: a folder whose name JSON writes with escapes is left out of a JSON text too', () => {
  const plain = new PlainWords([{ path: '/home/a"b', name: '<project>' }]);
  expect(plain.text(JSON.stringify({ path: '/home/a"b/c' }))).toBe('{"path":"<project>/c"}');
});

it('EV1: text that comes in pieces, however it is cut, is the same as text that comes whole', () => {
  const bits = fc.constantFrom(
    '/home/ann',
    '/garden',
    '/home/ann/garden',
    '/',
    'sk-secret-1',
    'sk-sec',
    'ses_01900000-0000-7000-8000-0123456789ab',
    'ses_',
    'a',
    ' ',
    '-',
    '.',
    '🌱',
  );
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 8 }), fc.array(fc.nat(40)), (parts, cuts) => {
      const text = parts.join('');
      const streamed = words().streamed();
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
      const pieces = places.slice(1).map((to, place) => text.slice(places[place], to));
      expect(pieces.map((piece) => streamed.push(piece)).join('') + streamed.end()).toBe(words().text(text));
    }),
    { numRuns: 2_000 },
  );
});
