/**
 * What a shell command may destroy, judged by reading it (PM3). Conservative on both sides: a command that cannot be followed to its end is
 * `unclear`, and whoever decides asks in every mode for either. It guards against accidents, not against a program that hides what it does:
 * what a script file or a build does is not looked into; code among the arguments is.
 *
 * Wrappers (`env X=1`, `timeout 5`, `nohup`, `xargs`) are judged by what they run, `sh -c` by its script. `parts` are the simple commands
 * after that, for rules that must allow each of them.
 */
import { messageOf } from '../../base/errors.ts';
import { tableRisk } from './dangers.ts';
import { gitRisk } from './git-risk.ts';
import { onlyReads } from './only-reads.ts';
import type { Risk } from './option.ts';
import { loadShellGrammar, type ShellGrammar } from './parser.ts';
import { patternRisk } from './patterns.ts';
import { programText } from './program-texts.ts';
import {
  beyondReading,
  containers,
  definesVariables,
  editors,
  isDisk,
  isOwnProgram,
  namesOnly,
  onlyLooks,
  otherRights,
  ownDoor,
  programOf,
  runsItsInput,
  setsNamed,
  shells,
  steersPrograms,
  takesAway,
} from './programs.ts';
import { readCommands } from './read-commands.ts';
import type { SimpleCommand, Word } from './syntax.ts';
import { listsOf, unwrap } from './wrappers.ts';

export interface CommandJudgement {
  /** What it would destroy or take over, completing "the command …"; null where nothing of that was found. */
  readonly destructive: string | null;
  /** Why it could not be followed, completing "the command …"; null where it was understood. */
  readonly unclear: string | null;
  /** It was understood, and nothing in it can change anything: what plan mode runs. */
  readonly looks: boolean;
  /** Each simple command with its words, wrappers taken off. */
  readonly parts: string[][];
  /** Files that redirections and sed scripts write. */
  readonly writes: string[];
  /** Files that redirections and program texts read. */
  readonly reads: string[];
}

export type Judge = (command: string) => CommandJudgement;

/** The judge of this machine. Where the parser cannot be had, nothing is understood, so everything is asked about. */
export async function loadJudge(): Promise<Judge> {
  try {
    const grammar = await loadShellGrammar();
    return (command) => judge(grammar, command);
  } catch (error) {
    const unclear = `cannot be read here, as the parser of shell commands could not be loaded (${messageOf(error)})`;
    return () => ({ destructive: null, unclear, looks: false, parts: [], writes: [], reads: [] });
  }
}

function judge(grammar: ShellGrammar, command: string): CommandJudgement {
  const court = new Court(grammar);
  court.judge(command, 0);
  const { destructive, unclear, parts, writes, reads } = court;
  const looks =
    destructive === null && unclear === null && writes.every((file) => file === '/dev/null') && parts.every(onlyReads);
  return { destructive, unclear, looks, parts, writes, reads };
}

/**
 * What a part says that it runs: a program of the system by its name; one that is called by another path by that path, since `./git` is
 * whatever the project put there.
 */
function asKnown(program: string): string {
  return /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/.test(program) ? programOf(program) : program;
}

/** A script within a script within …: nobody honest nests deeper. */
const maxDepth = 4;

/** What a command's stdin is, and its text where that is known. */
type Input = Pick<SimpleCommand, 'input' | 'text'>;

const nothing: Input = { input: 'other', text: null };
const unknownText: Input = { input: 'text', text: null };

class Court {
  destructive: string | null = null;
  unclear: string | null = null;
  readonly parts: string[][] = [];
  readonly writes: string[] = [];
  readonly reads: string[] = [];
  readonly #grammar: ShellGrammar;
  readonly #functions = new Set<string>();

  constructor(grammar: ShellGrammar) {
    this.#grammar = grammar;
  }

  judge(source: string, depth: number): void {
    if (depth > maxDepth) return this.#unclear('nests too many commands in each other');
    if (/:\s*\(\s*\)\s*\{/.test(source)) this.#destructive('defines a fork bomb');
    const { commands, functions, problem } = readCommands(this.#grammar, source);
    if (problem !== null) this.#unclear(problem);
    for (const name of functions) this.#functions.add(name);
    for (const command of commands) this.#command(command, depth);
  }

  #destructive(reason: string): void {
    this.destructive ??= reason;
  }

  #unclear(reason: string): void {
    this.unclear ??= reason;
  }

  #take(risk: Risk): void {
    if (risk?.destructive !== undefined) this.#destructive(risk.destructive);
    if (risk?.unclear !== undefined) this.#unclear(risk.unclear);
  }

  #command(command: SimpleCommand, depth: number): void {
    for (const { name } of command.assignments) this.#assignment(name);
    for (const target of command.writes) {
      if (target.variable || target.pattern) this.#unclear('writes to a file whose name is not known before it runs');
      if (isDisk(target.text)) this.#destructive(`writes to the device ${target.text}`);
      this.writes.push(target.text);
    }
    this.reads.push(...command.reads.map((target) => target.text));
    for (const target of [...command.writes, ...command.reads]) {
      if (target.pattern) this.#pattern(target.text);
      if (/^\/dev\/(tcp|udp)\//.test(target.text)) this.#unclear('talks to the network by a redirection');
    }
    this.#words(command.words, command, depth);
  }

  #pattern(text: string): void {
    const risk = patternRisk(text);
    if (risk !== null) this.#unclear(risk);
  }

  /** What a program is told by a text in its own language. */
  #text(name: string, args: readonly string[]): void {
    const text = programText(name, args);
    if (text === null) return;
    this.writes.push(...text.writes);
    this.reads.push(...text.reads);
    if (text.unclear !== null) this.#unclear(text.unclear);
  }

  #assignment(name: string): void {
    if (steersPrograms(name)) this.#unclear(`sets ${name}, which changes what other programs do`);
  }

  /** The command that these words run. `more`: further words come from elsewhere (xargs, find). */
  #words(words: readonly Word[], input: Input, depth: number, more = false): void {
    const [first, ...rest] = words;
    if (first === undefined) return;
    if (first.variable || first.splits || (first.pattern && first.text !== '[')) {
      return this.#unclear('runs a program whose name is not known before it runs');
    }
    const name = programOf(first.text);
    const texts = rest.map((word) => word.text);
    if (isOwnProgram(first.text, texts)) this.#destructive('drives Alcove itself');
    if (texts.some((text) => ownDoor.test(text))) this.#destructive("uses Alcove's own door");
    if (!namesOnly.has(name)) {
      for (const word of rest) if (word.pattern) this.#pattern(word.text);
    }
    if (otherRights.has(name)) this.#destructive(`runs with the rights of another user (${name})`);
    const wrapped = unwrap(name, rest);
    // A wrapper or a shell that the project brings along is whatever it is, besides what it is given to run.
    if ((wrapped !== null || shells.has(name)) && asKnown(first.text).includes('/'))
      this.parts.push([first.text, ...texts]);
    if (wrapped === 'unknown') return this.#unclear(`uses an option of ${name} that is not known here`);
    if (wrapped !== null) {
      for (const assigned of wrapped.assignments) this.#assignment(assigned);
      if (wrapped.folder !== null) this.parts.push(['cd', wrapped.folder]);
      if (wrapped.inner.length === 0) {
        this.parts.push([name, ...texts]);
        return;
      }
      const feeds = name === 'xargs';
      if (feeds) this.reads.push(...listsOf(texts));
      return this.#words(wrapped.inner, feeds ? nothing : input, depth, more || feeds);
    }
    if (shells.has(name)) return this.#shell(name, rest, input, depth);
    // Its body is judged where it is defined.
    if (this.#functions.has(name)) return void this.parts.push([name, ...texts]);
    this.parts.push([asKnown(first.text), ...texts]);
    if (more && takesAway.has(name)) this.#destructive(`runs ${name} on a list that is not known before it runs`);
    if (editors.has(name) && !texts.some((text) => /^(-h|-v|--help|--version)$/.test(text)))
      return this.#unclear(`waits for a keyboard, or edits by commands that are not read here (${name})`);
    if (beyondReading.has(name)) return this.#unclear(beyondReading.get(name) as string);
    if (name === 'find') this.#find(rest, depth);
    if (containers.has(name)) this.#container(name, rest, depth);
    if (input.input === 'pipe' && runsItsInput(name, texts))
      this.#destructive(`runs what it reads from a pipe (${name})`);
    if (input.input === 'text' && runsItsInput(name, texts)) this.#unclear(`runs code that is given as text (${name})`);
    this.#text(name, texts);
    // `read PATH` sets what it is given the name of.
    if (setsNamed.has(name)) for (const text of texts) this.#assignment(text);
    if (definesVariables.has(name)) {
      for (const text of texts) {
        const assigned = /^([A-Za-z_]\w*)\+?=/.exec(text)?.[1];
        if (assigned !== undefined) this.#assignment(assigned);
      }
    }
    if (!onlyLooks.has(name)) {
      const unknown = rest.find((word) => word.splits);
      if (unknown !== undefined) this.#unclear(`depends on ${unknown.text}, whose value is not known before it runs`);
      const disk = texts.find((text) => isDisk(text.replace(/^of=/, '')));
      if (disk !== undefined) this.#destructive(`touches the device ${disk.replace(/^of=/, '')}`);
    }
    this.#take(name === 'git' ? gitRisk(texts) : tableRisk(name, rest));
  }

  #shell(name: string, rest: readonly Word[], input: Input, depth: number): void {
    const texts = rest.map((word) => word.text);
    let at = 0;
    while (at < rest.length && /^[-+]/.test(texts[at] as string)) {
      const text = texts[at] as string;
      if (text === '--') {
        at++;
        break;
      }
      if (/^-[A-Za-z]*c[A-Za-z]*$/.test(text)) {
        const script = rest.slice(at + 1).find((word) => !word.text.startsWith('-'));
        if (script === undefined) return this.#unclear(`gives ${name} no command to run`);
        if (script.variable || script.splits || script.pattern)
          return this.#unclear(`makes up the command for ${name} while it runs`);
        return this.judge(script.text, depth + 1);
      }
      if (text === '-s') return this.#fedShell(name, input, depth);
      at += text === '-o' || text === '+o' || text === '-O' || text === '--rcfile' || text === '--init-file' ? 2 : 1;
    }
    const script = rest[at];
    if (script === undefined) {
      if (texts.some((text) => text === '--version' || text === '--help')) return;
      return this.#fedShell(name, input, depth);
    }
    this.parts.push([name, ...texts]);
    if (/^(-|\/dev\/(stdin|fd\/0)|\/proc\/self\/fd\/0)$/.test(script.text)) return this.#fedShell(name, input, depth);
    if (rest.some((word) => word.splits))
      this.#unclear(`depends on a variable whose value is not known before it runs`);
  }

  #fedShell(name: string, input: Input, depth: number): void {
    if (input.text !== null) return this.judge(input.text, depth + 1);
    if (input.input === 'pipe') this.#destructive(`runs what it reads from a pipe (${name})`);
    else this.#unclear(`starts ${name} without saying what it runs`);
  }

  #find(rest: readonly Word[], depth: number): void {
    for (const [index, word] of rest.entries()) {
      if (word.text === '-delete') this.#destructive('deletes what find finds');
      if (/^-(fprint0?|fprintf|fls)$/.test(word.text)) this.#destructive('lets find write files');
      if (!/^-(exec|execdir|ok|okdir)$/.test(word.text)) continue;
      const inner = rest.slice(index + 1);
      const end = inner.findIndex((part) => part.text === ';' || part.text === '+');
      const words = end === -1 ? inner : inner.slice(0, end);
      const program = programOf(words[0]?.text ?? '');
      if (onlyLooks.has(program)) this.parts.push(words.map((part) => part.text));
      else this.#destructive(`runs ${program || 'a program'} on everything find finds`);
      if (!onlyLooks.has(program)) this.#words(words, nothing, depth, true);
    }
  }

  /** `docker exec NAME rm -rf /x`: where the inner command begins depends on many options, so each word is tried. */
  #container(name: string, rest: readonly Word[], depth: number): void {
    if (!rest.some((word) => word.text === 'exec' || word.text === 'run')) return;
    for (const [index, word] of rest.entries()) {
      if (index === 0 || word.text.startsWith('-')) continue;
      const inner = new Court(this.#grammar);
      if (shells.has(programOf(word.text))) inner.#shell(word.text, rest.slice(index + 1), unknownText, depth + 1);
      else if (word.text !== name) inner.#take(tableRisk(programOf(word.text), rest.slice(index + 1)));
      if (inner.destructive !== null) this.#destructive(`${inner.destructive}, in a container`);
    }
  }
}
