/**
 * What a shell command is made of, as far as a judge needs it: every simple command that stands anywhere in it, whatever runs it (a list, a pipe,
 * a loop, a condition, a function, a substitution, a here-document), with its words as the program would get them. It says what may run, not in
 * which order nor how often.
 */

export interface Word {
  /** As the program gets it, quotes gone; variables stand as `$NAME`, but `$HOME` as `~` and `$PWD` as `.` where they start the word. */
  readonly text: string;
  /** Holds something whose value is not known here: a variable, the output of a command. */
  readonly variable: boolean;
  /** May become several words, or none, or begin in another way than it looks: unquoted variables, braces, patterns. */
  readonly splits: boolean;
  readonly pattern: boolean;
}

export interface SimpleCommand {
  readonly assignments: readonly { readonly name: string; readonly value: Word }[];
  readonly words: readonly Word[];
  /** Targets of redirections that write. */
  readonly writes: readonly Word[];
  readonly reads: readonly Word[];
  /** Where its stdin comes from, as far as a redirection or a pipe says. */
  readonly input: 'pipe' | 'text' | 'other';
  /** The text that it is given as its stdin, where all of it is known. */
  readonly text: string | null;
}

export interface ParsedShell {
  readonly commands: readonly SimpleCommand[];
  /** Functions that it defines: their bodies are among the commands. */
  readonly functions: ReadonlySet<string>;
  /** Completes "the command …"; null where all was understood. What was read all the same is worth judging. */
  readonly problem: string | null;
}
