/** Whether a pattern of the shell could stand for a guarded name (`.gi?/config`, `{.env,x}`), which nobody sees by its text. */

/** Completes "the command …"; null where nothing guarded fits. `text`: an unquoted word that holds a pattern. */
export function patternRisk(text: string): string | null {
  if (text.length > maxLength) return 'has a pattern that is too long to tell what it stands for';
  const words = withoutBraces(text);
  if (words === null) return 'has a pattern that is too long to tell what it stands for';
  const braces = text.includes('{');
  for (const word of words) {
    if (braces && leadsElsewhere(word) && !leadsElsewhere(text)) return `names places by a pattern (${text})`;
    if (
      word
        .toLowerCase()
        .split('/')
        .some((part) => isPattern(part, braces) && mayBeGuarded(part))
    )
      return `has a pattern that may stand for a guarded name (${text})`;
  }
  return null;
}

const maxLength = 1_000;
const maxWords = 64;

/** Each word that the braces stand for; null when these are too many. */
function withoutBraces(text: string): string[] | null {
  let words = [text];
  for (;;) {
    const at = words.findIndex((word) => /\{[^{}]*,[^{}]*\}/.test(word));
    if (at === -1) return words;
    const word = words[at] as string;
    const braces = /\{([^{}]*,[^{}]*)\}/.exec(word) as RegExpExecArray;
    const before = word.slice(0, braces.index);
    const after = word.slice(braces.index + braces[0].length);
    const each = (braces[1] as string).split(',').map((part) => before + part + after);
    words = [...words.slice(0, at), ...each, ...words.slice(at + 1)];
    if (words.length > maxWords) return null;
  }
}

function leadsElsewhere(word: string): boolean {
  return /^[/~]|(^|\/)\.\.(\/|$)/.test(word);
}

function isPattern(part: string, braces: boolean): boolean {
  return braces || /[*?[{]/.test(part);
}

const dotted =
  '.. .git .ssh .gnupg .env .env.local .env.production .envrc .npmrc .yarnrc .pypirc .netrc .pgpass .git-credentials .aws .azure .kube .docker .alcove'.split(
    ' ',
  );
const plain =
  'id_rsa id_dsa id_ecdsa id_ed25519 credentials secrets.json secrets.yaml secrets.yml secrets.toml _netrc environ'.split(
    ' ',
  );
const endings = '.pem .key .p12 .pfx .jks .keystore .kdbx .ppk'.split(' ');

/** A bare `*` passes: it takes no dotted name, and whoever lists a folder sees what else is in it. */
function mayBeGuarded(part: string): boolean {
  const expression = expressionOf(part);
  // `*`, `?` and `[…]` match no leading dot.
  if (part.startsWith('.')) return dotted.some((name) => expression.test(name));
  const literal = part.replaceAll(/\[[^\]]*\]|[*?{}]/g, '');
  const tellsEnough = (name: string) =>
    /^[a-z_]{2}/.test(part) || (!part.includes('.') && literal.length * 2 >= name.length);
  if (plain.some((name) => expression.test(name) && tellsEnough(name))) return true;
  const ending = part.slice(part.lastIndexOf('.'));
  return part.includes('.') && literal.length >= 3 && endings.some((name) => expressionOf(ending).test(name));
}

function expressionOf(part: string): RegExp {
  const source = part
    .split(/(\[[^\]]*\]|\*+|\?|\{[^}]*\}?)/)
    .map((piece) => {
      if (piece.startsWith('*') || piece.startsWith('{')) return '.*';
      if (piece === '?' || /^\[.*\]$/s.test(piece)) return '.';
      return piece.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    })
    .join('');
  return new RegExp(`^${source}$`, 's');
}
