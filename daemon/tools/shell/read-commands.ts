/**
 * The commands of a shell text, from its tree. Every construct of the grammar is either read or named as a problem: nothing is passed over. It
 * must never take for harmless what the shell would read otherwise, so where the tree is unsure (an error, a missing piece, a bracket that may
 * be a redirection), there is a problem.
 */
import type { Node } from 'web-tree-sitter';
import { maxShellDepth, maxShellText } from '../../base/limits.ts';
import type { ShellGrammar } from './parser.ts';
import type { ParsedShell, SimpleCommand, Word } from './syntax.ts';
import { hasUnread } from './unread.ts';
import { isCalculation, wordOf, type WithinWord } from './words.ts';

export function readCommands(grammar: ShellGrammar, source: string): ParsedShell {
  const none = { commands: [], functions: new Set<string>() };
  if (source.length > maxShellText) return { ...none, problem: `is longer than ${maxShellText / 1024} KiB` };
  if (source.includes('\0')) return { ...none, problem: 'holds a NUL' };
  const tree = grammar.parse(source);
  if (tree === null) return { ...none, problem: 'takes too long to read' };
  try {
    const reader = new Reader();
    reader.read(tree.rootNode);
    if (hasUnread(tree.rootNode, source)) reader.beyond('may run what cannot be read here');
    return { commands: reader.commands, functions: reader.functions, problem: reader.problem };
  } finally {
    tree.delete();
  }
}

type Input = SimpleCommand['input'];

/** A simple command that is being put together. */
interface Making {
  assignments: { name: string; value: Word }[];
  words: Word[];
  writes: Word[];
  reads: Word[];
  input: Input;
  text: string | null;
}

class Reader {
  readonly commands: Making[] = [];
  readonly functions = new Set<string>();
  problem: string | null = null;
  #depth = 0;

  read(root: Node): void {
    if (root.hasError) this.beyond('is not a whole shell command, or is written in a way that is not understood here');
    this.#statements(root, 'other');
  }

  beyond(problem: string): void {
    this.problem ??= problem;
  }

  #statements(node: Node, input: Input): void {
    // A backslash means something else between backquotes, where the grammar reads on as ever.
    if (node.text.startsWith('`') && node.type === 'command_substitution' && node.text.includes('\\'))
      this.beyond('has a backslash between backquotes');
    if (this.#depth >= maxShellDepth) return this.beyond('nests too many commands in each other');
    this.#depth += 1;
    for (const child of node.children) this.#statement(child, input);
    this.#depth -= 1;
  }

  #statement(node: Node, input: Input): void {
    switch (node.type) {
      case 'command':
        this.commands.push(this.#command(node, this.#fresh(input)));
        return;
      case 'redirected_statement':
        return this.#redirected(node, input);
      case 'pipeline':
        return this.#pipeline(node, input);
      case 'compound_statement':
        return node.text.startsWith('((') ? this.#calculation(node) : this.#statements(node, input);
      case 'list':
      case 'subshell':
      case 'negated_command':
      case 'do_group':
      case 'if_statement':
      case 'elif_clause':
      case 'else_clause':
      case 'while_statement':
        return this.#statements(node, input);
      case 'for_statement':
      case 'c_style_for_statement':
        return this.#loop(node, input);
      case 'case_statement':
      case 'case_item':
        return this.#case(node, input);
      case 'function_definition':
        return this.#function(node);
      case 'variable_assignment':
      case 'variable_assignments':
        this.commands.push(this.#command(node, this.#fresh('other')));
        return;
      case 'declaration_command':
      case 'unset_command':
        this.commands.push(this.#declaration(node));
        return;
      case 'test_command':
        return this.#test(node);
      case 'comment':
      case 'heredoc_body':
      case 'heredoc_end':
        return;
      case 'ERROR':
        // The tree says so by itself; what could be read in it is worth judging.
        return this.#statements(node, input);
      default:
        if (!node.isNamed) return this.#token(node.type);
        this.beyond(`holds what is not understood here (${node.type.replaceAll('_', ' ')})`);
        this.#statements(node, input);
    }
  }

  /** Separators and keywords of what was read above. */
  #token(text: string): void {
    if (!known.has(text)) this.beyond(`holds what is not understood here (${text})`);
  }

  #fresh(input: Input): Making {
    return { assignments: [], words: [], writes: [], reads: [], input, text: null };
  }

  #command(node: Node, making: Making): Making {
    if (node.type === 'variable_assignment') this.#assign(node, making);
    else {
      let end = -1;
      for (const child of node.children) {
        // Two words without a blank between them are one to the shell.
        if (child.startIndex === end && child.isNamed && !isRedirection(child))
          this.beyond('is written in a way that is not understood here');
        end = child.endIndex;
        if (child.type === 'variable_assignment') this.#assign(child, making);
        else if (isRedirection(child)) this.#redirect(child, making);
        else if (child.type === 'subshell') this.#statements(child, making.input);
        else if (child.isNamed) making.words.push(wordOf(child, this.#within()));
        else if (!known.has(child.type)) making.words.push({ ...plainWord(child.text) });
      }
    }
    return making;
  }

  #declaration(node: Node): Making {
    const making = this.#fresh('other');
    for (const child of node.children) {
      if (child.type !== 'variable_assignment') {
        making.words.push(child.isNamed ? wordOf(child, this.#within()) : plainWord(child.text));
        continue;
      }
      const name = child.childForFieldName('name')?.text ?? '';
      const assigned = this.#fresh('other');
      this.#assign(child, assigned);
      const value = assigned.assignments[0]?.value;
      making.words.push({ ...(value ?? plainWord('')), text: `${name}=${value?.text ?? ''}`, splits: false });
    }
    return making;
  }

  #assign(node: Node, making: Making): void {
    const name = node.childForFieldName('name');
    const value = node.childForFieldName('value');
    if (name === null || name.type === 'subscript') this.#inside(node);
    if (value?.type === 'array') {
      for (const element of value.namedChildren) wordOf(element, this.#within());
      making.assignments.push({ name: name?.text ?? '', value: { ...plainWord(''), variable: true } });
      return;
    }
    making.assignments.push({
      name: name?.text.replace(/\[.*$/s, '') ?? '',
      value: value === null ? plainWord('') : wordOf(value, this.#within()),
    });
  }

  #redirected(node: Node, input: Input): void {
    const body = node.childForFieldName('body');
    const redirections = node.children.filter((child) => child.id !== body?.id);
    const making = this.#fresh(input);
    for (const redirection of redirections) this.#redirect(redirection, making);
    if (body === null || body.type !== 'command') {
      // What a loop or a group reads, everything in it may read.
      if (body !== null) this.#statement(body, making.input);
      this.commands.push(making);
      return;
    }
    this.commands.push(this.#command(body, making));
  }

  #redirect(node: Node, making: Making): void {
    switch (node.type) {
      case 'file_redirect':
        return this.#fileRedirect(node, making);
      case 'herestring_redirect': {
        const [given] = node.namedChildren.filter((child) => child.type !== 'file_descriptor');
        const word = given == null ? plainWord('') : wordOf(given, this.#within());
        making.input = 'text';
        making.text = word.variable ? null : word.text;
        return;
      }
      case 'heredoc_redirect':
        return this.#hereDocument(node, making);
      default:
        if (!node.isNamed) return this.#token(node.type);
        this.beyond('redirects in a way that is not known here');
    }
  }

  #fileRedirect(node: Node, making: Making): void {
    const operator = node.children.find((child) => !child.isNamed)?.type ?? '';
    const targets = node.namedChildren.filter((child) => child.type !== 'file_descriptor');
    const [target, ...more] = targets.map((child) => wordOf(child, this.#within()));
    // Words behind the target belong to the command.
    making.words.push(...more);
    if (operator === '<&-' || operator === '>&-') return;
    if (target === undefined) return this.beyond('has a redirection without a target');
    switch (operator) {
      case '<':
        making.reads.push(target);
        return;
      case '<&':
        return;
      case '>&':
        if (!/^(\d+|-)$/.test(target.text)) making.writes.push(target);
        return;
      case '>':
      case '>>':
      case '>|':
      case '<>':
      case '&>':
      case '&>>':
        making.writes.push(target);
        return;
      default:
        this.beyond('redirects in a way that is not known here');
    }
  }

  /** What follows on its first line hangs below it in the tree: further redirections, the pipe that it feeds, what comes behind `&&`. */
  #hereDocument(node: Node, making: Making): void {
    making.input = 'text';
    for (const child of node.children) {
      switch (child.type) {
        case 'heredoc_start':
        case 'heredoc_end':
        case 'file_descriptor':
          break;
        case 'heredoc_body':
          making.text = child.namedChildren.some((one) => one.type !== 'heredoc_content') ? null : child.text;
          this.#inside(child);
          break;
        case 'file_redirect':
        case 'herestring_redirect':
          this.#redirect(child, making);
          break;
        case 'pipeline':
          this.#statements(child, 'pipe');
          break;
        case 'command':
        case 'list':
        case 'redirected_statement':
        case 'subshell':
        case 'compound_statement':
          this.#statement(child, 'other');
          break;
        default:
          if (child.isNamed) making.words.push(wordOf(child, this.#within()));
          else this.#token(child.type);
      }
    }
  }

  #pipeline(node: Node, input: Input): void {
    let fed = input;
    for (const child of node.children) {
      if (!child.isNamed) {
        this.#token(child.type);
        fed = 'pipe';
      } else this.#statement(child, fed);
    }
  }

  #loop(node: Node, input: Input): void {
    for (const child of node.children) {
      if (child.type === 'variable_name') {
        const value = { ...plainWord(''), variable: true };
        this.commands.push({ ...this.#fresh('other'), assignments: [{ name: child.text, value }] });
        continue;
      }
      if (child.type === 'do_group' || child.type === 'compound_statement') this.#statements(child, input);
      else if (!child.isNamed) this.#token(child.type);
      else if (node.type === 'c_style_for_statement') this.#inside(child);
      else wordOf(child, this.#within());
    }
  }

  #case(node: Node, input: Input): void {
    const value = node.childForFieldName('value');
    for (const child of node.children) {
      if (child.id === value?.id) this.#inside(child);
      else if (!child.isNamed) this.#token(child.type);
      else if (isStatement(child)) this.#statement(child, input);
      else this.#inside(child);
    }
  }

  #function(node: Node): void {
    const name = node.childForFieldName('name');
    if (name !== null) this.functions.add(name.text);
    const body = node.childForFieldName('body');
    if (body === null) return this.beyond('defines a function that is not understood here');
    // Whatever is piped into a call of it, its commands may read.
    this.#statement(body, 'other');
    for (const child of node.children) if (isRedirection(child)) this.#redirected(node, 'other');
  }

  /** `((…))`. What is no calculation is two subshells to the shell, which run what stands in them. */
  #calculation(node: Node): void {
    if (!isCalculation(node.text)) this.beyond('calculates in a way that is not understood here');
    this.#inside(node);
  }

  /** `[ a > b ]` is a redirection to the shell, and a comparison to the grammar. */
  #test(node: Node): void {
    if (node.text.startsWith('((')) return this.#calculation(node);
    if (!node.text.startsWith('[[') && /[<>]/.test(node.text)) this.beyond('has a redirection inside brackets');
    this.#inside(node);
    this.commands.push({ ...this.#fresh('other'), words: [plainWord('test'), ...this.#tested(node)] });
  }

  /** Files that are asked about. */
  #tested(node: Node): Word[] {
    return node.namedChildren.flatMap((child) => {
      if (child.type === 'test_operator') return [];
      if (child.type.endsWith('_expression')) return this.#tested(child);
      return [wordOf(child, { commands: () => undefined, beyond: () => undefined })];
    });
  }

  /** Commands that stand in it, or anywhere below. */
  #inside(node: Node): void {
    if (node.type === 'command_substitution' || node.type === 'process_substitution')
      return this.#statements(node, 'other');
    for (const child of node.namedChildren) this.#inside(child);
  }

  #within(): WithinWord {
    return {
      commands: (node, fed) => this.#statements(node, fed ? 'pipe' : 'other'),
      beyond: (problem) => this.beyond(problem),
    };
  }
}

function isRedirection({ type }: Node): boolean {
  return type === 'file_redirect' || type === 'heredoc_redirect' || type === 'herestring_redirect';
}

function isStatement({ type }: Node): boolean {
  return /(^|_)(command|statement|pipeline|list|subshell|definition|assignments?|item)$/.test(type);
}

function plainWord(text: string): Word {
  return { text, variable: false, splits: false, pattern: false };
}

const known = new Set(
  (
    '<< <<- & ' +
    '; ;; ;& ;;& & && || | |& ( ) { } $( ` <( >( ! \n (( )) [ ] [[ ]] ' +
    'if then elif else fi for select in while until do done case esac function time'
  ).split(' '),
);
