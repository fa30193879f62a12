/**
 * `bash`: one shell command, from the project's folder each time (TL9, TL10). Its output goes to the screen as it comes; the model gets head
 * and tail as plain text, and where the whole is kept when that was not all. The command is never stopped for writing much.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import type { CommandEnd } from '#protocol/values/display.ts';
import { messageOf } from '../base/errors.ts';
import { defaultCommandMs, maxCommandMs, maxSpillBytes } from '../base/limits.ts';
import { runProcess, type ProcessEnd } from '../base/process.ts';
import { ArgumentProblem, pick, prepareWith, type Arguments } from './arguments.ts';
import { PlainTextStream, withoutControls, withoutOverdrawn } from './plain-text.ts';
import { failed } from './result.ts';
import { loadJudge, type CommandJudgement } from './shell/judge.ts';
import { cautionOfPaths } from './shell/touched-places.ts';
import type { Assessment, PreparedCall, Tool, ToolEnvironment, ToolResult } from './tool.ts';
import { OutputWindow, type Truncation } from './truncate.ts';

export const bashTool: Tool = {
  name: 'bash',
  description:
    'Runs a command with bash -c and returns its output (stdout and stderr together) and how it ended. Each call starts in the project folder; ' +
    'cd and variables do not last beyond it. There is no terminal and no input. Long output is cut in the middle; the whole is kept in a file that is named. ' +
    `Time limit ${defaultCommandMs / 1000} s unless timeout says otherwise.`,
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command, as typed into a shell.' },
      timeout: { type: 'number', description: `Seconds after which it is ended, at most ${maxCommandMs / 1000}.` },
    },
    required: ['command'],
  },
  readOnly: false,
  ready: () => void loadJudge(),
  prepare: (args) => prepareWith(() => preparedBash(commandArgument(args), timeLimitArgument(args))),
};

function preparedBash(command: string, timeLimitMs: number): PreparedCall {
  const summary = timeLimitMs === defaultCommandMs ? {} : { summary: `time limit ${timeLimitMs / 1000} s` };
  return {
    display: { title: 'Run', kind: 'command', target: command, ...summary },
    assess: (environment) => assess(environment, command),
    execute: (environment, signal) => run(environment, command, timeLimitMs, signal),
  };
}

async function assess(environment: ToolEnvironment, command: string): Promise<Assessment> {
  const judgement = (await loadJudge())(command);
  const cautions = [
    judgement.destructive === null ? null : `The command ${judgement.destructive}.`,
    await cautionOfPaths(judgement, environment),
    judgement.unclear === null
      ? null
      : `The command ${judgement.unclear}, so what it does cannot be told by reading it.`,
  ].filter((caution) => caution !== null);
  return {
    effect: 'command',
    caution: cautions.length === 0 ? null : cautions.join(' '),
    looks: judgement.looks && cautions.length === 0,
    rulePattern: `bash ${command}`,
    subjects: subjectsOf(judgement),
  };
}

/** Each simple command, and each file that a redirection or a script writes: `> FILE`. */
function subjectsOf({ parts, writes }: CommandJudgement): string[] {
  const quoted = (word: string) => (word === '' || /[\s'"]/.test(word) ? `'${word}'` : word);
  return [
    ...parts.map((words) => words.map(quoted).join(' ')),
    ...writes.filter((file) => file !== '/dev/null').map((file) => `> ${file}`),
  ];
}

/** Programs must neither wait for a person nor draw on a terminal. CI is not set: it makes some tools stricter than the person asked for. */
const withoutTerminal = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };

async function run(
  environment: ToolEnvironment,
  command: string,
  timeLimitMs: number,
  signal: AbortSignal,
): Promise<ToolResult> {
  const key = randomBytes(6).toString('hex');
  const output = new Output(await environment.spillFile(`command-${key}.txt`));
  const screen = new PlainTextStream();
  const show = (text: string) => {
    if (text !== '') environment.output(text);
  };
  let group = null as number | null;
  try {
    const end = await runProcess({
      program: 'bash',
      args: ['-c', command],
      folder: environment.folder,
      environment: { ...environment.processEnvironment, ...withoutTerminal },
      mark: `${environment.processes.mark}.${key}`,
      timeLimitMs,
      signal,
      onStarted: async ({ pid, startTime }) => {
        group = pid;
        await environment.processes.started({ pid, startTime });
      },
      onOutput: (piece) => {
        output.push(piece);
        show(screen.push(piece));
      },
    });
    show(screen.end());
    if (group !== null && end.leftRunning === 0) await environment.processes.ended({ pid: group });
    return answer(command, end, output, timeLimitMs);
  } catch (error) {
    return failed(`The command could not be started: ${messageOf(error)}`);
  } finally {
    output.close();
  }
}

function answer(command: string, end: ProcessEnd, output: Output, timeLimitMs: number): ToolResult {
  const truncation = output.window.result();
  const notes = notesOn(end, timeLimitMs);
  const text = [textOf(truncation, output), ...notes.map((note) => `[${note}]`)]
    .filter((part) => part !== '')
    .join('\n');
  const details: CommandEnd = {
    type: 'command',
    command,
    exitCode: end.exitCode,
    signal: end.signal,
    timedOut: end.timedOut,
    outputBytes: truncation.bytes,
    ...(output.spilled === 'nothing' ? {} : { spill: output.path }),
    ...(end.leftRunning === 0 ? {} : { leftRunning: end.leftRunning }),
  };
  const outcome = end.exitCode === 0 && !end.timedOut && !end.aborted ? 'completed' : 'failed';
  return { outcome, content: [{ type: 'text', text: text === '' ? '(no output)' : text }], details };
}

function notesOn(end: ProcessEnd, timeLimitMs: number): string[] {
  const notes: string[] = [];
  if (end.timedOut)
    notes.push(`The time limit of ${timeLimitMs / 1000} s was reached; the command and all it started were ended.`);
  else if (end.aborted) notes.push('The command was stopped on request, with all it started.');
  else if (end.signal !== null) notes.push(`Ended by signal ${end.signal}.`);
  else if (end.exitCode !== 0) notes.push(`Exit code ${end.exitCode ?? 'unknown'}.`);
  if (end.leftRunning > 0) {
    const who =
      end.leftRunning === 1 ? '1 process it started still runs' : `${end.leftRunning} processes it started still run`;
    const stopped = end.timedOut || end.aborted;
    notes.push(
      stopped
        ? `${who}: it could not be ended.`
        : `${who} in the background; what it writes from now on is not shown, unless it goes to a file.`,
    );
  }
  return notes;
}

function textOf(truncation: Truncation, output: Output): string {
  if (truncation.cut === null) return plain(truncation.text);
  const missing = `${truncation.omittedLines.toLocaleString('en')} lines (${truncation.omittedBytes.toLocaleString('en')} bytes) are left out here`;
  const where =
    output.spilled === 'all'
      ? `the whole output is in ${output.path}`
      : output.spilled === 'start'
        ? `the first ${maxSpillBytes / 1024 / 1024} MiB of the output are in ${output.path}`
        : 'the whole output could not be kept';
  return `${plain(truncation.head)}\n[… ${missing}; ${where} …]\n${plain(truncation.tail)}`;
}

function plain(text: string): string {
  return withoutOverdrawn(withoutControls(text)).replace(/\n$/, '');
}

/** The window for the model, and the whole in a file as soon as the window does not hold it. */
class Output {
  readonly window = new OutputWindow();
  readonly path: string;
  /** What the file holds. Nothing: it was not needed, or the disk refused. */
  spilled: 'nothing' | 'all' | 'start' = 'nothing';
  #file: number | null = null;
  #written = 0;
  #refused = false;

  constructor(path: string) {
    this.path = path;
  }

  push(piece: Uint8Array): void {
    const whole = this.window.whole;
    this.window.push(piece);
    if (this.window.cut === null || this.#refused) return;
    // The piece that fills the window brings along all before it, which only the window has held so far.
    for (const part of whole ?? [piece]) this.#spill(part);
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  /** Synchronous, as a queue of pieces would have no bound; a piece is what a pipe holds, some microseconds for the page cache. */
  #spill(part: Uint8Array): void {
    const room = maxSpillBytes - this.#written;
    if (room < part.length && this.spilled === 'all') this.spilled = 'start';
    if (room <= 0) return;
    try {
      this.#file ??= openSync(this.path, 'wx', 0o600);
      if (this.spilled === 'nothing') this.spilled = 'all';
      this.#written += writeSync(this.#file, part, 0, Math.min(room, part.length));
      if (room < part.length) this.spilled = 'start';
    } catch {
      // A full disk must not end the command; the model is told that not all was kept.
      this.#refused = true;
      if (this.spilled === 'all') this.spilled = 'start';
    }
  }
}

function commandArgument(args: Arguments): string {
  const value = pick(args, ['command', 'cmd', 'script']);
  const command = Array.isArray(value) ? scriptOf(value as unknown[]) : value;
  if (typeof command !== 'string' || command.trim() === '')
    throw new ArgumentProblem('"command" is missing: give the shell command as a string.');
  if (command.includes('\0')) throw new ArgumentProblem('"command" holds a NUL character, which no command can.');
  return command;
}

/** Some models give the words of a program: a shell with its script means the script. Anything else is theirs to write as one command. */
function scriptOf(words: readonly unknown[]): unknown {
  const [shell, option, script] = words;
  const isShell = typeof shell === 'string' && /^(\/(usr\/)?bin\/)?(ba|z)?sh$/.test(shell);
  return words.length === 3 && isShell && typeof option === 'string' && /^-l?c$/.test(option) ? script : undefined;
}

function timeLimitArgument(args: Arguments): number {
  const value = pick(args, ['timeout']);
  if (value === undefined || value === '') return defaultCommandMs;
  const seconds = typeof value === 'string' ? Number(value) : value;
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds * 1000 > maxCommandMs) {
    throw new ArgumentProblem(
      `"timeout" is ${JSON.stringify(value)}, but must be a number of seconds, at most ${maxCommandMs / 1000}.`,
    );
  }
  return Math.ceil(seconds * 1000);
}
