/**
 * In what lines that were looked for differ from the nearest ones of the file, in one sentence that lets a model mend them: where, and what is not
 * seen at a glance (tabs and spaces, typographic signs, forms of Unicode) by name.
 */

/** `window` begins at line `first` of the file and may be one line longer than what is wanted. `called` is what that is to the model. */
export function difference(
  window: readonly string[],
  wanted: readonly string[],
  first: number,
  called: string,
): string {
  const same = window.slice(0, wanted.length);
  const only = forms.find(({ fold }) => wanted.every((line, index) => fold(same[index] ?? '') === fold(line)));
  const index = wanted.findIndex((line, at) => window[at] !== line);
  if (index === -1) return 'Its last line goes on differently in the file.';
  const [there, here] = [window[index], wanted[index] as string];
  if (there === undefined) return `The file ends before line ${index + 1} of ${called}.`;
  const line = `Line ${first + index} of the file`;
  if (only !== undefined && same.length === wanted.length)
    return `It differs from the file only in ${only.name}: ${line} ${only.tell(there, here, called)}.`;
  if (here.trim() !== '' && window[index + 1] === here) return `${line}, ${quoted(there)}, is left out in ${called}.`;
  if (there.trim() !== '' && wanted[index + 1] === there)
    return `Before line ${first + index} of the file ${called} has a line that is not there: ${quoted(here)}.`;
  return `${line} is ${quoted(there)} where ${called} has ${quoted(here)}.`;
}

interface Form {
  readonly name: string;
  readonly fold: (text: string) => string;
  /** Completes "Line N of the file …". */
  readonly tell: (there: string, here: string, called: string) => string;
}

const asTheyAre: Form['tell'] = (there, here, called) => `is ${quoted(there)} where ${called} has ${quoted(here)}`;
const atTheEnd: Form['tell'] = (there, here, called) =>
  `ends with ${blanks(/\s*$/.exec(there)?.[0] ?? '')} where ${called} has ${blanks(/\s*$/.exec(here)?.[0] ?? '')}`;

const forms: readonly Form[] = [
  { name: 'spaces at the ends of lines', fold: (text) => text.trimEnd(), tell: atTheEnd },
  {
    name: 'indentation',
    fold: (text) => text.trimStart(),
    tell: (there, here, called) =>
      `begins with ${blanks(/^\s*/.exec(there)?.[0] ?? '')} where ${called} has ${blanks(/^\s*/.exec(here)?.[0] ?? '')}`,
  },
  { name: 'indentation or spaces at the ends of lines', fold: (text) => text.trim(), tell: asTheyAre },
  {
    name: 'the Unicode form of a character (é as one or as two code points)',
    fold: (text) => text.normalize('NFC'),
    tell: (there, here, called) => `has ${signs(there, here)} where ${called} has ${signs(here, there)}`,
  },
  {
    name: 'quotes, dashes or special spaces',
    fold: (text) =>
      text
        .replace(/[‘’‚‛]/g, "'")
        .replace(/[“”„‟]/g, '"')
        .replace(/[‐‑‒–—−]/g, '-')
        .replace(/[\u00a0\u2007\u202f]/g, ' '),
    tell: (there, here, called) => `has ${signs(there, here)} where ${called} has ${signs(here, there)}`,
  },
  { name: 'spaces', fold: (text) => text.replace(/\s+/g, ''), tell: asTheyAre },
  {
    name: 'characters that are written as HTML entities',
    fold: (text) => text.replace(/&(lt|gt|quot|apos|#39|amp);/g, (_, name: string) => entities[name] ?? ''),
    tell: asTheyAre,
  },
  { name: 'upper and lower case', fold: (text) => text.toLowerCase(), tell: asTheyAre },
];

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'", amp: '&' };

/** "2 tabs", "a tab and 4 spaces", "no space". */
function blanks(text: string): string {
  const counts = new Map<string, number>();
  for (const sign of text) {
    const name = sign === '\t' ? 'tab' : sign === ' ' ? 'space' : sign === '\r' ? 'carriage return' : codePoint(sign);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const parts = [...counts].map(([name, count]) => (count === 1 ? `1 ${name}` : `${count} ${name}s`));
  return parts.length === 0 ? 'no space' : parts.join(' and ');
}

/** The first character of one that the other has not in that place, with its number: to the eye they are the same. */
function signs(one: string, other: string): string {
  const [mine, theirs] = [[...one], [...other]];
  const at = mine.findIndex((sign, index) => sign !== theirs[index]);
  const sign = mine[at];
  return sign === undefined ? 'its end' : `${JSON.stringify(sign)} (${codePoint(sign)})`;
}

function codePoint(sign: string): string {
  return `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Bounds what is told of a long line. */
const shownCharacters = 160;

function quoted(line: string): string {
  return JSON.stringify(line.length > shownCharacters ? `${line.slice(0, shownCharacters)}…` : line);
}
