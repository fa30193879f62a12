/**
 * Makes characters visible that are drawn as nothing, as a blank, or that turn the order of others: in a command up for approval each is a
 * marked box, so that what is read is what would run. Tab and line break are layout and stay.
 */
export interface Piece {
  /** What is drawn: the text itself, or for a marked character its sign. */
  readonly text: string;
  /** The name of a marked character, for a title and for assistive technology; null for plain text. */
  readonly mark: string | null;
}

const names: Record<string, string> = {
  '\u00a0': 'no-break space',
  '\u00ad': 'soft hyphen',
  '\u061c': 'Arabic letter mark',
  '\u115f': 'Hangul filler',
  '\u1160': 'Hangul filler',
  '\u180e': 'Mongolian vowel separator',
  '\u200b': 'zero-width space',
  '\u200c': 'zero-width non-joiner',
  '\u200d': 'zero-width joiner',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u2028': 'line separator',
  '\u2029': 'paragraph separator',
  '\u202a': 'left-to-right embedding',
  '\u202b': 'right-to-left embedding',
  '\u202c': 'end of directional formatting',
  '\u202d': 'left-to-right override',
  '\u202e': 'right-to-left override',
  '\u2060': 'word joiner',
  '\u2066': 'left-to-right isolate',
  '\u2067': 'right-to-left isolate',
  '\u2068': 'first strong isolate',
  '\u2069': 'end of isolate',
  '\u2800': 'blank Braille pattern',
  '\u3164': 'Hangul filler',
  '\ufeff': 'byte order mark',
  '\uffa0': 'Hangul filler',
};

const marked =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu;

export function visiblePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let place = 0;
  for (const match of text.matchAll(marked)) {
    if (match.index > place) pieces.push({ text: text.slice(place, match.index), mark: null });
    pieces.push(markOf(match[0]));
    place = match.index + match[0].length;
  }
  if (place < text.length) pieces.push({ text: text.slice(place), mark: null });
  return pieces;
}

export function hasHidden(text: string): boolean {
  marked.lastIndex = 0;
  const found = marked.test(text);
  marked.lastIndex = 0;
  return found;
}

function markOf(character: string): Piece {
  const point = character.codePointAt(0) ?? 0;
  const code = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
  // Unicode has a picture for each of the oldest control characters.
  if (point < 0x20) return { text: String.fromCodePoint(0x2400 + point), mark: `control character ${code}` };
  if (point === 0x7f) return { text: '\u2421', mark: `control character ${code}` };
  return {
    text: code,
    mark: names[character] === undefined ? `invisible character ${code}` : `${names[character]} ${code}`,
  };
}
