/**
 * Program texts among a command's words: a sed script, an awk program, code for an interpreter (`python -c`). sed and awk are read as far as
 * to tell which files they touch and whether they run commands; code of a language passes only when it is a line that prints.
 */
import { hasOption } from './option.ts';

interface ProgramText {
  /** Positions of the arguments that are program text, so no paths. */
  at: number[];
  writes: string[];
  reads: string[];
  /** Completes "the command …"; null where all was understood. */
  unclear: string | null;
}

/** Null for programs that take none, or were given none. */
export function programText(name: string, args: readonly string[]): ProgramText | null {
  if (/^g?sed$/.test(name)) return sedText(args);
  if (/^[gmn]?awk$/.test(name)) return awkText(name, args);
  const language = languages.find((one) => one.names.test(name));
  return language === undefined ? null : inlineCode(name, language, args);
}

/** The texts of -e and the like, or the first operand when there is none. `valued`: options whose next word is a value. */
function scripts(
  args: readonly string[],
  own: RegExp,
  file: RegExp,
  valued: RegExp,
): { at: number[]; texts: string[] } {
  const at: number[] = [];
  const texts: string[] = [];
  let operand: number | null = null;
  let fromFile = false;
  for (let i = 0; i < args.length; i++) {
    const text = args[i] as string;
    if (text === '--') {
      if (i + 1 < args.length) operand ??= i + 1;
      break;
    }
    const attached = own.exec(text)?.[1];
    if (attached === '') texts.push(args[i + 1] ?? '');
    else if (attached !== undefined) texts.push(attached);
    if (attached !== undefined) at.push(attached === '' ? ++i : i);
    else if (file.test(text)) {
      fromFile = true;
      i++;
    } else if (text.startsWith('--file=')) fromFile = true;
    else if (valued.test(text)) i++;
    else if (!text.startsWith('-') || text === '-') operand ??= i;
  }
  if (texts.length === 0 && !fromFile && operand !== null) return { at: [operand], texts: [args[operand] as string] };
  return { at, texts };
}

function sedText(args: readonly string[]): ProgramText {
  const { at, texts } = scripts(
    args,
    /^(?:-[nErsuz]*e|--expression=)(.*)$/s,
    /^(-[nErsuz]*f|--file)$/,
    /^(-l|--line-length)$/,
  );
  return { at, ...new SedScript(texts.join('\n')).read() };
}

class SedScript {
  readonly #source: string;
  #at = 0;
  readonly #writes: string[] = [];
  readonly #reads: string[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  read(): Omit<ProgramText, 'at'> {
    let unclear: string | null = null;
    while (unclear === null && this.#at < this.#source.length) unclear = this.#command();
    return { writes: this.#writes, reads: this.#reads, unclear };
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found === null) return null;
    this.#at += found[0].length;
    return found[0];
  }

  #command(): string | null {
    this.#match(/[\s;{}]*/y);
    if (this.#at >= this.#source.length) return null;
    while (this.#address()) this.#match(/[\s,]*/y);
    this.#match(/[\s!]*/y);
    const name = this.#source[this.#at++] ?? '';
    if ('=dDgGhHnNpPxzF{}'.includes(name)) return null;
    if (name === '#' || 'aic'.includes(name)) this.#match(/(?:\\[\s\S]|[^\\\n])*/y);
    else if (name === 's' || name === 'y') return this.#substitution(name);
    else if ('wW'.includes(name)) this.#writes.push(this.#file());
    else if ('rR'.includes(name)) this.#reads.push(this.#file());
    else if ('btT:'.includes(name)) this.#match(/[^;\n}]*/y);
    else if ('qQlLv'.includes(name)) this.#match(/[ \t]*[\d.]*/y);
    else if (name === 'e') return 'runs commands from within (sed)';
    else return notUnderstood;
    return null;
  }

  #address(): boolean {
    if (this.#match(/\d+(?:~\d+)?|\$|[+~]\d+/y) !== null) return true;
    const delimiter = this.#match(/\/|\\[^\n]/y)?.at(-1);
    if (delimiter === undefined) return false;
    this.#until(delimiter);
    this.#match(/[IM]*/y);
    return true;
  }

  #until(delimiter: string): string {
    const from = this.#at;
    while (this.#at < this.#source.length && this.#source[this.#at] !== delimiter) {
      this.#at += this.#source[this.#at] === '\\' ? 2 : 1;
    }
    return this.#source.slice(from, this.#at++);
  }

  #substitution(name: string): string | null {
    const delimiter = this.#source[this.#at++];
    if (delimiter === undefined || /[\s\\\w]/.test(delimiter)) return notUnderstood;
    this.#until(delimiter);
    this.#until(delimiter);
    if (this.#at > this.#source.length) return notUnderstood;
    if (name === 'y') return null;
    const flags = this.#match(/[gpiImM\d]*/y) ?? '';
    if (this.#source[this.#at] === 'e') return 'runs commands from within (sed)';
    if (this.#source[this.#at] !== 'w')
      return /^(?:[\s;}#]|$)/.test(this.#source.slice(this.#at, this.#at + 1)) || flags === '' ? null : notUnderstood;
    this.#at++;
    this.#writes.push(this.#file());
    return null;
  }

  #file(): string {
    return (this.#match(/[^\n]*/y) ?? '').trim();
  }
}

const notUnderstood = 'has a sed script that is not understood here';

function awkText(name: string, args: readonly string[]): ProgramText {
  const { at, texts } = scripts(
    args,
    /^(?:-e|--source=)(.*)$/s,
    /^(-f|--file|-E|--exec)$/,
    /^(-F|-v|--assign|--field-separator|-i|--include|-l|--load)$/,
  );
  const beyond =
    args.some((text) => /^(-i|-l|--(include|load)(=.*)?)/.test(text)) || texts.some((text) => awkDoesMore(text));
  return {
    at,
    writes: [],
    reads: [],
    unclear: beyond ? `may write files or run commands from within (${name})` : null,
  };
}

function awkDoesMore(source: string): boolean {
  const bare = source
    .replaceAll(/"(?:\\[\s\S]|[^"\\])*"/g, '""')
    .replaceAll(/(^|[~({,;!&|\s])\/(?:\\.|[^/\\\n])*\//g, '$1 ')
    .replaceAll('||', ' ');
  return /\bsystem\s*\(|\bgetline\b|\||@|\bprintf?\b[^;}\n]*>/.test(bare);
}

interface Language {
  names: RegExp;
  /** Options that are followed by code; the group is code in the same word. */
  own: RegExp;
  /** Options whose next word is a value. */
  valued: RegExp;
  /** Files that harmless code reads, or null when it may do more than print. */
  reads: (code: string) => string[] | null;
}

const none = /^(?!)/;

const languages: readonly Language[] = [
  { names: /^(python[\d.]*|pypy3?)$/, own: /^-[bBdEiIOPqsSuvx]*c(.*)$/s, valued: /^-[WX]$/, reads: pythonReads },
  {
    names: /^(node|nodejs|bun|tsx|ts-node)$/,
    own: /^(?:-(?:e|p|pe)$|--(?:eval|print)(?:=|$))(.*)$/s,
    valued: /^(-r|--require|--import|-C|--conditions|--loader|--env-file)$/,
    reads: scriptReads,
  },
  { names: /^deno$/, own: /^eval()$/, valued: none, reads: scriptReads },
  {
    names: /^perl[\d.]*$/,
    own: /^-[acdflnpswWX0-9]*(?:i[^\seE]*)?[acdflnpswWX0-9]*[eE](.*)$/s,
    valued: /^-I$/,
    reads: perlReads,
  },
  { names: /^ruby[\d.]*$/, own: /^-[aclnpsvwW0-9]*(?:i[^\se]*)?[alnp]*e(.*)$/s, valued: /^-[Ir]$/, reads: onlyPrints },
  { names: /^php[\d.]*$/, own: /^-[rRBE](.*)$/s, valued: /^-[cd]$/, reads: onlyPrints },
  {
    names: /^(lua[\d.]*|luajit|R|Rscript|julia|elixir|groovy|scala|swift|ghc|erl|raku)$/,
    own: /^(?:-(?:e|E|eval)$|--eval(?:=|$))(.*)$/s,
    valued: none,
    reads: onlyPrints,
  },
  { names: /^(pwsh|powershell)$/, own: /^-(?:c|command|e|ec|encodedcommand)()$/i, valued: none, reads: () => null },
];

function inlineCode(name: string, language: Language, args: readonly string[]): ProgramText | null {
  const found: ProgramText = { at: [], writes: [], reads: [], unclear: null };
  for (let i = 0; i < args.length; i++) {
    const text = args[i] as string;
    const attached = language.own.exec(text)?.[1];
    if (attached === undefined) {
      if (/(^|=)data:/.test(text)) found.unclear = `runs code that is given as text (${name})`;
      if (!text.startsWith('-')) break; // its script; the rest is for that
      if (language.valued.test(text) && !/^data:/.test(args[i + 1] ?? '')) i++;
      continue;
    }
    const at = attached === '' ? i + 1 : i;
    const reads = language.reads(attached === '' ? (args[at] ?? '') : attached);
    if (reads === null) found.unclear = `runs code that is given as text (${name})`;
    else found.reads.push(...reads);
    found.at.push(at);
    i = at;
    if (/^python|^pypy/.test(name)) break; // what follows is the code's own
  }
  return found.at.length === 0 && found.unclear === null ? null : found;
}

const anyString = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`[^`$\\]*`/g;

/** Is every word of the code, strings left out, one that only looks or calculates? Short names are variables. */
function knowsEachWord(code: string, known: ReadonlySet<string>): boolean {
  const bare = code.replaceAll(anyString, '""');
  return (
    !/[`\\'@]/.test(bare) && (bare.match(/[A-Za-z_$][\w$]*/g) ?? []).every((word) => word.length < 3 || known.has(word))
  );
}

const pythonWords = new Set(
  (
    'print import from for if else not and or lambda None True False len range sorted sum min max abs round str int float list dict set ' +
    'tuple zip map filter enumerate any all type repr ord chr bin hex json loads load dumps sys argv version version_info stdin read ' +
    'math sqrt datetime now date today isoformat join split strip upper lower get keys values items indent sep end'
  ).split(' '),
);

function pythonReads(code: string): string[] | null {
  if (/^import (\w+); ?print\(\1\.__version__\)$/.test(code)) return [];
  if (/\b(os|io|re)\b|\b[rbu]*f[rbu]*['"]/i.test(code)) return null;
  const reads: string[] = [];
  const rest = code.replaceAll(/\bopen\((['"])([\w./-]+)\1\)/g, (_, __, path: string) => {
    reads.push(path);
    return 'x';
  });
  return knowsEachWord(rest, pythonWords) ? reads : null;
}

const scriptWords = new Set(
  (
    'console log error process version versions node platform arch argv cwd JSON stringify parse Math max min floor round random sqrt pow ' +
    'Object keys entries values length map filter join split const let var return else for new Date toISOString now true false null ' +
    'undefined typeof Number String Array isArray includes slice sort'
  ).split(' '),
);

function scriptReads(code: string): string[] | null {
  if (/constructor|prototype|__/.test(code)) return null;
  const reads: string[] = [];
  const rest = code.replaceAll(
    /\brequire\((['"])(\.{0,2}\/[\w./-]+\.json)\1\)(?:\.[\w$]+|\[(?:'[^'\n]*'|"[^"\n]*")\])*/g,
    (_, __, path: string) => {
      reads.push(path);
      return 'x';
    },
  );
  return knowsEachWord(rest, scriptWords) ? reads : null;
}

/** Substitutions as sed has them. Perl's own can run code by a flag and from within both sides. */
function perlReads(code: string): string[] | null {
  const plain = /^\s*(?:s([/|#,!])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1[gimsx]*\s*;?\s*)+$/.test(code);
  return plain && !/[{[(]\s*[`\\[]|\(\?\??\{|[@$]\{|`/.test(code) ? [] : onlyPrints(code);
}

function onlyPrints(code: string): string[] | null {
  const plain = /^\s*(?:puts|print|p|echo|say)[\s(]+(?:"[^"#$@`\\{]*"|'[^'`\\]*'|[\d.+* -]+|[A-Z_]+)\)?\s*;?\s*$/;
  return plain.test(code) ? [] : null;
}

/** Does `sed` or `perl` change the files it is given? */
export function editsInPlace(args: readonly string[]): boolean {
  return args.some((text) => /^-[A-Za-z]*i/.test(text)) || hasOption(args, '', '--in-place');
}
