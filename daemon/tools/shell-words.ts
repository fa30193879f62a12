/**
 * A shell command taken apart into simple commands, as far as that can be done without running anything. What is beyond this reader
 * (substitutions, here-documents, loops, functions, arithmetic …) is named as a `problem`, with what was read up to there: whoever decides
 * on a command treats a problem as a reason to ask. It must never take for harmless what the shell would read otherwise.
 */
import { unreachable } from '../base/errors.ts';

export interface Word {
  /** As the program gets it, quotes gone; variables stand as `$NAME`, but `$HOME` as `~` and `$PWD` as `.` where they start the word. */
  readonly text: string;
  /** Holds a variable whose value is not known here. */
  readonly variable: boolean;
  /** May become several words, or none, or begin in another way than it looks: unquoted variables, braces, patterns. */
  readonly splits: boolean;
  readonly pattern: boolean;
}

export interface SimpleCommand {
  readonly assignments: { name: string; value: Word }[];
  readonly words: Word[];
  /** Targets of redirections that write. */
  readonly writes: Word[];
  readonly reads: Word[];
  /** Where its stdin comes from, as far as a redirection to a word or a pipe says. */
  readonly input: 'pipe' | 'text' | 'other';
}

export interface ParsedShell {
  readonly commands: SimpleCommand[];
  /** Completes "the command …"; null where all was understood. */
  readonly problem: string | null;
}

export function parseShell(source: string): ParsedShell {
  const reader = new Reader(source);
  try {
    reader.readAll();
    return { commands: reader.commands, problem: null };
  } catch (error) {
    if (error instanceof Beyond) return { commands: reader.commands, problem: error.message };
    throw error;
  }
}

class Beyond extends Error {
  override readonly name = 'Beyond';
}

const controlWords = new Map([
  ...['if', 'then', 'else', 'elif', 'fi', 'case', 'esac', '[['].map((word) => [word, 'uses conditions'] as const),
  ...['for', 'while', 'until', 'do', 'done', 'select'].map((word) => [word, 'uses a loop'] as const),
  ...['function', 'coproc'].map((word) => [word, 'defines what runs later'] as const),
]);

type Open = { command: SimpleCommand & { input: SimpleCommand['input'] }; afterGroup: boolean };

class Reader {
  readonly commands: SimpleCommand[] = [];
  readonly #source: string;
  #at = 0;
  #open: Open;
  /** Groups around the current command: what closes them, and whether a pipe feeds them or one around them. */
  readonly #groups: { closer: ')' | '}'; piped: boolean }[] = [];
  #piped = false;

  constructor(source: string) {
    this.#source = source;
    this.#open = this.#fresh();
  }

  readAll(): void {
    try {
      while (this.#at < this.#source.length) this.#step();
    } finally {
      this.#finish(false); // also what was read before a problem is worth judging
    }
    if (this.#groups.length > 0) throw new Beyond('has a bracket that is not closed');
  }

  #fresh(): Open {
    const piped = this.#piped || this.#groups.at(-1)?.piped === true;
    return {
      command: { assignments: [], words: [], writes: [], reads: [], input: piped ? 'pipe' : 'other' },
      afterGroup: false,
    };
  }

  get #atStart(): boolean {
    const { command } = this.#open;
    return (
      command.words.length === 0 &&
      command.assignments.length === 0 &&
      command.writes.length === 0 &&
      command.reads.length === 0
    );
  }

  #finish(piped: boolean): void {
    if (!this.#atStart) this.commands.push(this.#open.command);
    this.#piped = piped;
    this.#open = this.#fresh();
  }

  #rest(length: number): string {
    return this.#source.slice(this.#at, this.#at + length);
  }

  #step(): void {
    const character = this.#source[this.#at] as string;
    if (character === ' ' || character === '\t') this.#at++;
    else if (this.#rest(2) === '\\\n') this.#at += 2;
    else if (character === '#') this.#skipComment();
    else if (character === '<' || character === '>' || this.#rest(2) === '&>') this.#redirect();
    else if (character === '\n' || character === ';' || character === '&' || character === '|') this.#separate();
    else if (character === '(') this.#openSubshell();
    else if (character === ')') this.#close(')');
    else this.#readWord();
  }

  #skipComment(): void {
    const end = this.#source.indexOf('\n', this.#at);
    this.#at = end === -1 ? this.#source.length : end;
  }

  #separate(): void {
    const two = this.#rest(2);
    if (two === ';;' || two === ';&') throw new Beyond('uses conditions');
    const long = two === '&&' || two === '||' || two === '|&';
    this.#finish(two === '|&' || (this.#source[this.#at] === '|' && two !== '||'));
    this.#at += long ? 2 : 1;
  }

  #openSubshell(): void {
    if (this.#rest(2) === '((') throw new Beyond('calculates');
    if (!this.#atStart || this.#open.afterGroup) throw new Beyond('defines a function or uses an extended pattern');
    this.#groups.push({ closer: ')', piped: this.#open.command.input === 'pipe' });
    this.#at++;
    this.#finish(false);
  }

  #close(closer: ')' | '}'): void {
    if (this.#groups.at(-1)?.closer !== closer) throw new Beyond(`has a ${closer} that closes nothing`);
    this.#finish(false);
    this.#groups.pop();
    this.#open = { ...this.#fresh(), afterGroup: true };
    this.#at++;
  }

  #readWord(): void {
    const from = this.#at;
    const command = this.#open.command;
    const first = command.words.length === 0;
    const word = this.#word();
    const raw = this.#source.slice(from, this.#at);
    if (this.#open.afterGroup) throw new Beyond('has a word after a closing bracket');
    const digits = /^\d+$/.test(raw) && /[<>]/.test(this.#rest(1));
    if (digits) return; // the number of a descriptor, part of the redirection that follows
    const assignment = /^([A-Za-z_]\w*)\+?=/.exec(raw);
    if (first && assignment !== null) {
      const prefix = assignment[0].length;
      command.assignments.push({ name: assignment[1] as string, value: { ...word, text: word.text.slice(prefix) } });
      return;
    }
    if (first && command.assignments.length === 0) {
      if (raw === '!') return;
      if (raw === '{') {
        this.#groups.push({ closer: '}', piped: this.#open.command.input === 'pipe' });
        this.#finish(false);
        return;
      }
      if (raw === '}') {
        this.#at = from;
        this.#close('}');
        return;
      }
      const control = controlWords.get(raw);
      if (control !== undefined) throw new Beyond(control);
    }
    command.words.push(word);
  }

  #redirect(): void {
    const operator = redirections.find((candidate) => this.#source.startsWith(candidate, this.#at));
    if (operator === undefined) throw new Beyond('redirects in a way that is not known here');
    this.#at += operator.length;
    if ((operator === '<' || operator === '>') && this.#rest(1) === '(')
      throw new Beyond('runs a command inside another');
    while (this.#rest(1) === ' ' || this.#rest(1) === '\t') this.#at++;
    if (this.#at >= this.#source.length || /^[ \t\n;&|()<>]/.test(this.#rest(1)))
      throw new Beyond('has a redirection without a target');
    const target = this.#word();
    this.#note(operator, target);
  }

  #note(operator: Redirection, target: Word): void {
    const { command } = this.#open;
    switch (operator) {
      case '<<':
        throw new Beyond('holds a here-document');
      case '<<<':
        command.input = 'text';
        return;
      case '<&':
        return;
      case '<':
        command.reads.push(target);
        return;
      case '>&':
        if (!/^(\d+|-)$/.test(target.text)) command.writes.push(target);
        return;
      case '>':
      case '>>':
      case '>|':
      case '<>':
      case '&>':
      case '&>>':
        command.writes.push(target);
        return;
      default:
        unreachable(operator);
    }
  }

  #word(): Word {
    const word = new WordBuilder();
    const start = this.#at;
    while (this.#at < this.#source.length) {
      const character = this.#source[this.#at] as string;
      if (' \t\n;&|()<>'.includes(character)) break;
      if (character === '\\') this.#escape(word);
      else if (character === "'") this.#singleQuotes(word);
      else if (character === '"') this.#doubleQuotes(word);
      else if (character === '`') throw new Beyond('runs a command inside another');
      else if (character === '$') this.#dollar(word, false);
      else this.#plain(word, character, this.#at === start);
    }
    return word.build();
  }

  #plain(word: WordBuilder, character: string, atStart: boolean): void {
    if (character === '*' || character === '?' || character === '[') word.pattern = true;
    // Whether braces really expand depends on all that follows; taking each for one that does errs on the safe side.
    if (character === '{' && /^\{[^\s}]/.test(this.#rest(2))) {
      word.pattern = true;
      if (word.text === '' || word.text.startsWith('-')) word.splits = true;
    }
    if (character === '~' && atStart && /^~[A-Za-z_+-]/.test(this.#rest(2))) word.variable = true;
    word.text += character;
    this.#at++;
  }

  #escape(word: WordBuilder): void {
    const next = this.#source[this.#at + 1];
    if (next === undefined) throw new Beyond('ends with a backslash');
    if (next !== '\n') word.text += next;
    this.#at += 2;
  }

  #singleQuotes(word: WordBuilder): void {
    const end = this.#source.indexOf("'", this.#at + 1);
    if (end === -1) throw new Beyond('has a quote that is not closed');
    word.text += this.#source.slice(this.#at + 1, end);
    this.#at = end + 1;
  }

  #doubleQuotes(word: WordBuilder): void {
    this.#at++;
    for (;;) {
      const character = this.#source[this.#at];
      if (character === undefined) throw new Beyond('has a quote that is not closed');
      if (character === '"') break;
      if (character === '`') throw new Beyond('runs a command inside another');
      if (character === '$') {
        this.#dollar(word, true);
        continue;
      }
      const next = this.#source[this.#at + 1];
      if (character === '\\' && next !== undefined && '$`"\\\n'.includes(next)) {
        if (next !== '\n') word.text += next;
        this.#at += 2;
        continue;
      }
      word.text += character;
      this.#at++;
    }
    this.#at++;
  }

  #dollar(word: WordBuilder, quoted: boolean): void {
    const rest = this.#source.slice(this.#at, this.#at + 200);
    if (rest.startsWith('$((')) throw new Beyond('calculates');
    if (rest.startsWith('$(')) throw new Beyond('runs a command inside another');
    if (!quoted && /^\$['"]/.test(rest)) throw new Beyond("uses a special quote ($'…')");
    const match = /^\$(?:\{([A-Za-z_]\w*|[0-9@*#?$!-])\}|([A-Za-z_]\w*|[0-9@*#?$!-]))/.exec(rest);
    if (match === null) {
      if (rest.startsWith('${')) throw new Beyond('changes a variable while using it (${…})');
      word.text += '$';
      this.#at++;
      return;
    }
    this.#at += match[0].length;
    word.expand(match[1] ?? match[2] ?? '', quoted);
  }
}

const redirections = ['&>>', '&>', '<<<', '<<', '<&', '<>', '<', '>>', '>|', '>&', '>'] as const;
type Redirection = (typeof redirections)[number];

class WordBuilder {
  text = '';
  variable = false;
  splits = false;
  pattern = false;

  expand(name: string, quoted: boolean): void {
    if (/^[?$!#]$/.test(name)) {
      this.text += '0'; // always a number
    } else if (this.text === '' && (name === 'HOME' || name === 'PWD')) {
      this.text = name === 'HOME' ? '~' : '.';
    } else {
      // A word that begins with a value may turn out to be an option, quoted or not.
      if (!quoted || this.text === '' || name === '@') this.splits = true;
      this.variable = true;
      this.text += `$${name}`;
    }
  }

  build(): Word {
    return { text: this.text, variable: this.variable, splits: this.splits, pattern: this.pattern };
  }
}
