/**
 * `bash`: one shell command, from the project's folder each time (TL9, TL10). Its output goes to the screen as it comes; the model gets head
 * and tail as plain text, and where the whole is kept when that was not all. The command is never stopped for writing much.
 */
import type { CommandEnd } from '#protocol/values/display.ts';
import { messageOf } from '../base/errors.ts';
import { defaultCommandMs, maxCommandMs } from '../base/limits.ts';
import type { ProcessEnd } from '../base/process.ts';
import { ArgumentProblem, flagArgument, pick, prepareWith, type Arguments } from './arguments.ts';
import { CommandOutput } from './commands/command-output.ts';
import { outputText } from './commands/output-text.ts';
import { runCommand, type CommandRun } from './commands/run-command.ts';
import { PlainTextStream } from './plain-text.ts';
import { completed, failed } from './result.ts';
import { loadJudge, type CommandJudgement } from './shell/judge.ts';
import { cautionOfPaths } from './shell/touched-places.ts';
import {
  JobRefused,
  type Assessment,
  type PreparedCall,
  type Tool,
  type ToolEnvironment,
  type ToolResult,
} from './tool.ts';
import type { Truncation } from './truncate.ts';

export const bashTool: Tool = {
  name: 'bash',
  description:
    'Runs a command with bash -c and returns its output (stdout and stderr together) and how it ended. Each call starts in the project folder; ' +
    'cd and variables do not last beyond it. There is no input, and no terminal unless tty. Long output is cut in the middle; the whole is kept in a file that is named. ' +
    `Time limit ${defaultCommandMs / 1000} s unless timeout says otherwise. Servers, watchers and long builds: background.`,
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command, as typed into a shell.' },
      timeout: { type: 'number', description: `Seconds after which it is ended, at most ${maxCommandMs / 1000}.` },
      tty: {
        type: 'boolean',
        description: 'Its output is a terminal, for programs that need one; still without input.',
      },
      background: {
        type: 'boolean',
        description: 'Return at once and let it run on as a job; no time limit but a given one.',
      },
    },
    required: ['command'],
  },
  readOnly: false,
  ownDeadline: true,
  offeredInPlan: true,
  ready: () => void loadJudge(),
  prepare: (args) => prepareWith(() => preparedBash(args)),
};

/** Time limit null: the usual one in the foreground, none in the background. */
type Spec = Pick<CommandRun, 'command' | 'timeLimitMs' | 'terminal'>;

function preparedBash(args: Arguments): PreparedCall {
  const spec: Spec = {
    command: commandArgument(args),
    timeLimitMs: timeLimitArgument(args),
    terminal: flagArgument(pick(args, ['tty', 'pty', 'terminal'])),
  };
  const { command, timeLimitMs, terminal } = spec;
  const background = flagArgument(pick(args, ['background', 'run_in_background', 'is_background']));
  const summary = [
    ...(background ? ['in the background'] : []),
    ...(terminal ? ['in a terminal'] : []),
    ...(timeLimitMs === null ? [] : [`time limit ${timeLimitMs / 1000} s`]),
  ].join(', ');
  return {
    display: { title: 'Run', kind: 'command', target: command, ...(summary === '' ? {} : { summary }) },
    assess: (environment) => assess(environment, command),
    execute: (environment, signal) =>
      background ? startJob(environment, spec, signal) : run(environment, spec, signal),
  };
}

async function assess(environment: ToolEnvironment, command: string): Promise<Assessment> {
  const { problem } = environment.sandbox.of.state;
  if (problem !== null) return { effect: 'refused', reason: problem };
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

async function run(environment: ToolEnvironment, spec: Spec, signal: AbortSignal): Promise<ToolResult> {
  const output = await CommandOutput.in(environment);
  const screen = new PlainTextStream();
  const show = (text: string) => {
    if (text !== '') environment.output(text);
  };
  try {
    const end = await runCommand(environment, {
      ...spec,
      timeLimitMs: spec.timeLimitMs ?? defaultCommandMs,
      signal,
      onOutput: (piece) => {
        output.push(piece);
        show(screen.push(piece));
      },
    });
    show(screen.end());
    return answer(spec.command, end, output, spec.timeLimitMs ?? defaultCommandMs, environment.sandbox);
  } catch (error) {
    return failed(`The command could not be started: ${messageOf(error)}`);
  } finally {
    output.close();
  }
}

/** Returns at once: what comes of it is told when it has ended. */
async function startJob(environment: ToolEnvironment, spec: Spec, signal: AbortSignal): Promise<ToolResult> {
  try {
    const jobId = await environment.jobs.start(
      {
        command: spec.command,
        run: (control) => runCommand(environment, { ...control, ...spec }),
      },
      signal,
    );
    return completed(
      `Runs in the background as ${jobId}. The tool job reads what it prints, waits for it and stops it; you are told when it has ended.`,
    );
  } catch (error) {
    if (error instanceof JobRefused) return failed(error.message);
    return failed(`The command could not be started: ${messageOf(error)}`);
  }
}

function answer(
  command: string,
  end: ProcessEnd,
  output: CommandOutput,
  timeLimitMs: number,
  sandbox: ToolEnvironment['sandbox'],
): ToolResult {
  const truncation = output.window.result();
  const notes = [...notesOn(end, timeLimitMs), ...notesOfSandbox(end, truncation, sandbox)];
  const text = [outputText(output), ...notes.map((note) => `[${note}]`)].filter((part) => part !== '').join('\n');
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

/** Where a command failed by what the sandbox refuses, the model is told so, and does not look for another cause. */
function notesOfSandbox(end: ProcessEnd, output: Truncation, { of, readOnly }: ToolEnvironment['sandbox']): string[] {
  const { level, network } = of.state;
  if (level === 'off' || end.exitCode === 0) return [];
  const text = output.cut === null ? output.text : output.tail;
  const notes: string[] = [];
  if (/read-only file system|EROFS/i.test(text))
    notes.push(
      level === 'read-only' || readOnly
        ? 'The sandbox lets commands write in /tmp only.'
        : 'The sandbox lets commands write in the project and /tmp only, and not in .git/hooks and .git/config.',
    );
  if (
    !network &&
    /network is unreachable|ENETUNREACH|EAI_AGAIN|temporary failure in name resolution|could not resolve/i.test(text)
  )
    notes.push('The sandbox has no network.');
  return notes;
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

/** Null where none is named. */
function timeLimitArgument(args: Arguments): number | null {
  const value = pick(args, ['timeout']);
  if (value === undefined || value === '') return null;
  const seconds = typeof value === 'string' ? Number(value) : value;
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds * 1000 > maxCommandMs) {
    throw new ArgumentProblem(
      `"timeout" is ${JSON.stringify(value)}, but must be a number of seconds, at most ${maxCommandMs / 1000}.`,
    );
  }
  return Math.ceil(seconds * 1000);
}
