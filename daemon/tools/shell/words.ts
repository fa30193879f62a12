/**
 * One word of a command, from its node in the tree: quotes are taken off, expansions named, and commands that stand within it handed to whoever
 * reads commands. Text between the nodes counts too: what the grammar passes over, the shell does not.
 */
import type { Node } from 'web-tree-sitter';
import type { Word } from './syntax.ts';

/** What is met inside a word. */
export interface WithinWord {
  /** A command or process substitution, or what else holds commands. `fed`: something is piped into it. */
  commands(node: Node, fed: boolean): void;
  /** Completes "the command …". */
  beyond(problem: string): void;
}

export function wordOf(node: Node, within: WithinWord): Word {
  const word = new WordBuilder(within);
  word.add(node);
  return word.build();
}

class WordBuilder {
  #text = '';
  #variable = false;
  #splits = false;
  #pattern = false;
  /** The character behind what is being read, within the word. */
  #next = '';
  readonly #within: WithinWord;

  constructor(within: WithinWord) {
    this.#within = within;
  }

  build(): Word {
    return { text: this.#text, variable: this.#variable, splits: this.#splits, pattern: this.#pattern };
  }

  add(node: Node): void {
    switch (node.type) {
      case 'word':
      case 'number':
      case 'extglob_pattern':
      case 'regex':
      case 'test_operator':
      case 'file_descriptor':
      case 'variable_name':
      case 'special_variable_name':
      case 'brace_expression':
        // A number may hold an expansion (`10#$x`).
        if (node.namedChildCount > 0) return this.#joined(node, node.startIndex, node.endIndex);
        return this.#plain(node.text);
      case 'command_name':
      case 'concatenation':
        return this.#joined(node, node.startIndex, node.endIndex);
      case 'raw_string':
        this.#text += node.text.slice(1, -1);
        return;
      case 'ansi_c_string':
        // The grammar takes `\\\\'` for an escaped quote where the shell ends the string.
        if (!/^(?:[^'\\]|\\[\s\S])*$/.test(node.text.slice(2, -1)))
          this.#within.beyond('has a quote that is not understood here');
        this.#text += withoutEscapes(node.text.slice(2, -1));
        return;
      case 'string':
        return this.#quoted(node, 1);
      case 'translated_string': {
        const inner = node.namedChildren.find((child) => child.type === 'string');
        if (inner == null) return this.#within.beyond('has a quote that is not understood here');
        return this.#quoted(inner, 1);
      }
      case 'simple_expansion':
      case 'expansion':
      case 'command_substitution':
      case 'process_substitution':
      case 'arithmetic_expansion':
        return this.#expansion(node, false);
      default:
        this.#within.beyond('is written in a way that is not understood here');
        this.#plain(node.text);
    }
  }

  /** Children, and what stands between them. */
  #joined(node: Node, from: number, to: number): void {
    let at = from;
    for (const child of node.children) {
      this.#next = child.text[0] ?? '';
      this.#plain(slice(node, at, child.startIndex));
      this.#next = slice(node, child.endIndex, child.endIndex + 1);
      if (child.isNamed) this.add(child);
      else this.#plain(child.text);
      at = child.endIndex;
    }
    this.#next = '';
    this.#plain(slice(node, at, to));
  }

  #quoted(node: Node, quote: number): void {
    let at = node.startIndex + quote;
    for (const child of node.namedChildren) {
      if (child.type === 'string_content') continue;
      this.#text += unescaped(slice(node, at, child.startIndex));
      this.#expansion(child, true);
      at = child.endIndex;
    }
    this.#text += unescaped(slice(node, at, node.endIndex - 1));
  }

  #expansion(node: Node, quoted: boolean): void {
    switch (node.type) {
      case 'command_substitution':
      case 'process_substitution':
        this.#within.commands(node, node.text.startsWith('>('));
        return this.#unknown('$(…)', quoted || node.type === 'process_substitution');
      case 'arithmetic_expansion':
        if (!isCalculation(node.text)) this.#within.beyond('calculates in a way that is not understood here');
        this.#inside(node);
        this.#variable = true;
        this.#text += '0'; // always a number
        return;
      case 'simple_expansion':
        return this.#named(node.text.slice(1), quoted);
      case 'expansion': {
        const plain = /^\$\{([A-Za-z_]\w*|[0-9@*#?$!-])\}$/.exec(node.text)?.[1];
        if (plain !== undefined) return this.#named(plain, quoted);
        // `${x@P}` runs what stands in the variable, and `${!x}` takes another one's.
        if (/@[A-Za-z]\}$/.test(node.text) || node.text.startsWith('${!'))
          this.#within.beyond('uses a variable in a way that may run its value (${…})');
        // `${x:=value}` sets the variable.
        const set = /^\$\{([A-Za-z_]\w*):?=/.exec(node.text)?.[1];
        if (set !== undefined) this.#within.beyond(`sets ${set} while using it`);
        this.#inside(node);
        return this.#unknown('${…}', quoted);
      }
      default:
        this.#within.beyond('is written in a way that is not understood here');
    }
  }

  /** Commands that stand anywhere below. */
  #inside(node: Node): void {
    for (const child of node.namedChildren) {
      if (child.type === 'command_substitution' || child.type === 'process_substitution')
        this.#within.commands(child, false);
      else this.#inside(child);
    }
  }

  #named(name: string, quoted: boolean): void {
    if (/^[?$!#]$/.test(name)) {
      this.#text += '0'; // always a number
    } else if (this.#text === '' && (name === 'HOME' || name === 'PWD')) {
      this.#text = name === 'HOME' ? '~' : '.';
    } else this.#unknown(`$${name}`, quoted && name !== '@');
  }

  #unknown(text: string, quoted: boolean): void {
    // A word that begins with a value may turn out to be an option, quoted or not.
    if (!quoted || this.#text === '') this.#splits = true;
    this.#variable = true;
    this.#text += text;
  }

  /** Unquoted text as it stands. */
  #plain(raw: string): void {
    for (let at = 0; at < raw.length; at += 1) {
      const character = raw[at] as string;
      if (character === '\\') {
        at += 1;
        const next = raw[at];
        if (next === undefined) this.#within.beyond('ends with a backslash');
        else if (next !== '\n') this.#text += next;
        continue;
      }
      if (character === '*' || character === '?' || character === '[') this.#pattern = true;
      // Whether braces really expand depends on all that follows; taking each for one that does errs on the safe side.
      if (character === '{' && !/^[\s}]?$/.test(raw[at + 1] ?? this.#next)) {
        this.#pattern = true;
        if (this.#text === '' || this.#text.startsWith('-')) this.#splits = true;
      }
      if (character === '~' && this.#text === '' && /^~[A-Za-z_+-]/.test(raw.slice(at))) this.#variable = true;
      this.#text += character;
    }
  }
}

/** No two names, and no name and number, stand beside each other: what is no calculation may be commands. */
export function isCalculation(text: string): boolean {
  return /\)\)$/.test(text) && !/[\w}]\s+-?[A-Za-z_]/.test(text.replaceAll(/\$\([^()]*\)/g, '0'));
}

function slice(node: Node, from: number, to: number): string {
  return node.text.slice(from - node.startIndex, to - node.startIndex);
}

/** Inside double quotes. */
function unescaped(raw: string): string {
  return raw.replaceAll(/\\([$`"\\\n])/g, (_, next: string) => (next === '\n' ? '' : next));
}

const escapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Inside `$'…'`. */
function withoutEscapes(raw: string): string {
  return raw.replaceAll(
    /\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g,
    (_, x?: string, u?: string, long?: string, octal?: string, control?: string, one?: string) => {
      const hex = x ?? u ?? long;
      if (hex !== undefined) return characterOf(parseInt(hex, 16));
      if (octal !== undefined) return characterOf(parseInt(octal, 8) & 0xff);
      if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 0x1f);
      // What means nothing stays as it was written, backslash and all.
      return escapes[one ?? ''] ?? (/[\\'"?]/.test(one ?? '') ? (one ?? '') : `\\${one ?? ''}`);
    },
  );
}

function characterOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
