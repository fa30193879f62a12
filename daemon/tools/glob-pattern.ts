/**
 * Patterns of paths: `*` and `?` within a name, `**` for any folders, `[abc]`, `[!abc]`, `{a,b}`. One without a slash is for names at any depth.
 * Matching takes time by the product of the lengths and no more, whatever a model writes: no regular expression is made of it.
 */
import { ArgumentProblem } from './arguments.ts';

export interface GlobPattern {
  /** Relative, with slashes. */
  matches(path: string): boolean;
  /** Names something hidden itself, so that hidden files are wanted. */
  readonly namesHidden: boolean;
}

export function globPattern(given: string): GlobPattern {
  const alternatives = expanded(given.replace(/^(\.?\/)+/, '')).map((text) => {
    const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.');
    const anywhere = segments.length === 1 && !text.endsWith('/');
    // A folder's name with a slash after it means what is in it.
    return [...(anywhere ? ['**'] : []), ...segments, ...(text.endsWith('/') ? ['**'] : [])].map(segmentPattern);
  });
  return {
    matches: (path) => {
      const names = path.split('/');
      return alternatives.some((segments) => matchesAll(names, segments));
    },
    namesHidden: given.split(/[/{,]/).some((segment) => /^\.[^./]/.test(segment)),
  };
}

/** One name of a path, or any number of them. */
type SegmentPattern = 'any' | ((name: string) => boolean);

/** One character, or any number of them. */
type CharacterPattern = 'any' | ((character: string) => boolean);

function segmentPattern(segment: string): SegmentPattern {
  if (segment === '**') return 'any';
  const characters = charactersOf(segment);
  return (name) => matchesAll([...name], characters);
}

/** The greedy match with one place to go back to: the last `any`, which is enough since an earlier one can take no less. */
function matchesAll<T>(items: readonly T[], pattern: readonly ('any' | ((item: T) => boolean))[]): boolean {
  let [item, at, lastAny, itemAtAny] = [0, 0, -1, 0];
  while (item < items.length) {
    const test = pattern[at];
    if (test === 'any') {
      [lastAny, itemAtAny] = [at++, item];
    } else if (test?.(items[item] as T)) {
      item++;
      at++;
    } else if (lastAny === -1) {
      return false;
    } else {
      at = lastAny + 1;
      item = ++itemAtAny;
    }
  }
  return pattern.slice(at).every((test) => test === 'any');
}

function charactersOf(segment: string): CharacterPattern[] {
  const patterns: CharacterPattern[] = [];
  for (let rest = segment; rest !== '';) {
    const [token, body] = /^(?:\*+|\\.|\[(!?\]?[^\]]*)\]|.)/su.exec(rest) as unknown as [string, string | undefined];
    rest = rest.slice(token.length);
    if (token.startsWith('*')) patterns.push('any');
    else if (token === '?') patterns.push(() => true);
    else if (body !== undefined) patterns.push(oneOf(body));
    else {
      const literal = token.length > 1 && token.startsWith('\\') ? token.slice(1) : token;
      patterns.push((character) => character === literal);
    }
  }
  return patterns;
}

function oneOf(body: string): (character: string) => boolean {
  const not = /^[!^]/.test(body);
  const ranges = [...(not ? body.slice(1) : body).matchAll(/(.)-(.)|(.)/gsu)].map(
    ([, from, to, single]) => [from ?? single, to ?? single] as [string, string],
  );
  return (character) => ranges.some(([from, to]) => from <= character && character <= to) !== not;
}

const maxAlternatives = 200;

/** `{a,b}`, also one in the other, as the texts they stand for. */
function expanded(text: string): string[] {
  const done: string[] = [];
  const todo = [text];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const brace = innermostBrace.exec(next);
    if (brace === null) done.push(next);
    else {
      const [whole, body = ''] = brace;
      const [before, after] = [next.slice(0, brace.index), next.slice(brace.index + whole.length)];
      for (const choice of body.split(',')) todo.push(before + choice + after);
    }
    if (done.length + todo.length > maxAlternatives)
      throw new ArgumentProblem(`The pattern stands for more than ${maxAlternatives} alternatives: use fewer braces.`);
  }
  return done;
}

const innermostBrace = /(?<!\\)\{([^{}]*)\}/;
