/**
 * A pattern in ripgrep's syntax as an expression of JavaScript, for the search of our own: what both have is carried over, what only one has is
 * refused or put into other words. Letters, digits and spaces are those of Unicode, as there.
 */

/** The expression for one line, or what is wrong with the pattern. */
export function javascriptPattern(pattern: string, ignoreCase: boolean): RegExp | string {
  if (pattern.includes('\n')) return 'A pattern is for one line: it must not hold a line end.';
  const flagged = /^\(\?([ims]+)\)/.exec(pattern);
  const flags = ignoreCase || flagged?.[1]?.includes('i') ? 'ius' : 'us';
  let inClass = false;
  let source = '';
  for (let rest = pattern.slice(flagged?.[0].length ?? 0); rest !== '';) {
    const [token] = (inClass ? classToken : plainToken).exec(rest) as unknown as [string];
    rest = rest.slice(token.length);
    if (!inClass && /^\(\?(?:<?[=!])/.test(token))
      return 'Looking around (?=, ?!, ?<=, ?<!) is not supported in patterns.';
    if (!inClass && /^\\[1-9]/.test(token)) return 'References to groups (\\1) are not supported in patterns.';
    if (token === '[' || token === '[^') {
      inClass = true;
      // A closing bracket that comes first is one of the characters.
      const first = rest.startsWith(']') ? '\\]' : '';
      rest = rest.slice(first === '' ? 0 : 1);
      source += token + first;
    } else if (inClass && token === ']') {
      inClass = false;
      source += token;
    } else source += translated(token, inClass);
  }
  try {
    return new RegExp(source, flags);
  } catch {
    return `The pattern is no regular expression that can be used here: ${pattern}`;
  }
}

const plainToken = /^(?:\\[pPx]\{[^}]*\}|\\[pP]\w|\\.|\[\^?|\(\?(?:<?[=!]|P<)|\{\d+(?:,\d*)?\}|.)/su;
const classToken = /^(?:\[:\^?\w+:\]|\\[pPx]\{[^}]*\}|\\[pP]\w|\\.|.)/su;

function translated(token: string, inClass: boolean): string {
  if (token === '(?P<') return '(?<';
  if (token === '}' || token === ']') return `\\${token}`;
  if (inClass && token === '[') return '\\[';
  const posix = /^\[:(\^?)(\w+):\]$/.exec(token);
  if (posix !== null) {
    const [, not, name = ''] = posix;
    // A class with a not cannot stand within another: left as it is, it is refused.
    return not === '' ? (posixClasses[name] ?? token) : token;
  }
  const named = /^\\([pP])\{(\w+)\}$/.exec(token);
  // Scripts go by their names alone there, by Script= here.
  if (named !== null && !isProperty(token)) return `\\${named[1]}{Script=${named[2]}}`;
  const short = /^\\([pP])(\w)$/.exec(token);
  if (short !== null) return `\\${short[1]}{${short[2]}}`;
  if (token.startsWith('\\x{')) return `\\u${token.slice(2)}`;
  if (!token.startsWith('\\') || token.length !== 2) return token;
  const letter = token[1] as string;
  const wider = inClass ? classEscapes[letter] : plainEscapes[letter];
  if (wider !== undefined) return wider;
  const known = /[\w^$\\.*+?()[\]{}|/]/.test(letter) || (inClass && letter === '-');
  return known ? token : letter;
}

function isProperty(token: string): boolean {
  try {
    return new RegExp(token, 'u').unicode;
  } catch {
    return false;
  }
}

const word = '\\p{L}\\p{M}\\p{Nd}\\p{Pc}';
const plainEscapes: Readonly<Record<string, string>> = {
  w: `[${word}]`,
  W: `[^${word}]`,
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  A: '^',
  z: '$',
  b: `(?:(?<=[${word}])(?![${word}])|(?<![${word}])(?=[${word}]))`,
  B: `(?:(?<=[${word}])(?=[${word}])|(?<![${word}])(?![${word}]))`,
};
const classEscapes: Readonly<Record<string, string>> = { w: word, d: '\\p{Nd}', D: '\\P{Nd}' };
const posixClasses: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
  punct: '!-\\/:-@\\[-`\\{-~',
};
