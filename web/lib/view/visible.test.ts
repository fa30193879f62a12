import { expect, it } from 'vitest';
import { hasHidden, visiblePieces } from './visible.ts';

it.each([
  ['rm -rf build && npm run build\n\tdone', []],
  ['naïve café 漢字 한글 👍🏽 ünïcode', []],
  ['a\u202eb', ['right-to-left override U+202E']],
  ['ls\u00a0-l', ['no-break space U+00A0']],
  ['rm\u200b -rf', ['zero-width space U+200B']],
  ['echo \u001b[2K hi\r', ['control character U+001B', 'control character U+000D']],
  ['x\u3164y\u2800', ['Hangul filler U+3164', 'blank Braille pattern U+2800']],
  ['tag \u{e0041}', ['invisible character U+E0041']],
  ['half \ud800 pair', ['invisible character U+D800']],
])('%j shows what is hidden in it', (text, marks) => {
  const pieces = visiblePieces(text);
  expect(pieces.flatMap((piece) => piece.mark ?? [])).toEqual(marks);
  expect(hasHidden(text)).toBe(marks.length > 0);
  if (marks.length === 0) expect(pieces).toEqual([{ text, mark: null }]);
});

it('draws the sign in the place of the character and leaves all others alone', () => {
  expect(visiblePieces('a\u202eb\u0007').map((piece) => piece.text)).toEqual(['a', 'U+202E', 'b', '\u2407']);
});
