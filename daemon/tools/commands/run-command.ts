/**
 * How a command of the agent is run, in the foreground or as a job: by bash, in the project's folder, with an environment in which no program
 * waits for a person, in the sandbox that is in force. Its group is in the session's ledger from before it runs until nothing of it is left.
 */
import { randomBytes } from 'node:crypto';
import { runProcess, type ProcessEnd } from '../../base/process.ts';
import { unattended } from '../process-environment.ts';
import type { ToolEnvironment } from '../tool.ts';

/** What is needed of a tool's environment. */
export type RunEnvironment = Omit<ToolEnvironment, 'output' | 'jobs'>;

export interface ProgramRun {
  readonly program: string;
  readonly args: readonly string[];
  /** On top of the environment that all have. */
  readonly variables?: Readonly<Record<string, string>>;
  /** It need change nothing: where there is a sandbox, it is kept from it. */
  readonly looks?: true;
  /** Null: it runs until it ends. */
  readonly timeLimitMs: number | null;
  /** Its output is a terminal; without, a pipe. */
  readonly terminal: boolean;
  readonly signal: AbortSignal;
  /** Called once its group is in the ledger; it runs when this has resolved. */
  readonly started?: () => Promise<void>;
  onOutput(piece: Uint8Array): void;
}

export type CommandRun = Omit<ProgramRun, 'program' | 'args' | 'variables' | 'looks'> & { readonly command: string };

/** Rejects where it could not be started. */
export function runCommand(environment: RunEnvironment, { command, ...run }: CommandRun): Promise<ProcessEnd> {
  return runProgram(environment, { ...run, program: 'bash', args: ['-c', command] });
}

/** The same for a program, whose arguments pass no shell. */
export async function runProgram(environment: RunEnvironment, run: ProgramRun): Promise<ProcessEnd> {
  const { processes, folder, processEnvironment, sandbox } = environment;
  const wrapped = await sandbox.of.wrap(run.program, run.args, environment, sandbox.readOnly || run.looks === true);
  let group = null as number | null;
  const end = await runProcess({
    ...wrapped,
    folder,
    environment: { ...unattended(processEnvironment, run.terminal), ...run.variables },
    terminal: run.terminal,
    mark: `${processes.mark}.${randomBytes(6).toString('hex')}`,
    timeLimitMs: run.timeLimitMs,
    signal: run.signal,
    onStarted: async ({ pid, startTime }) => {
      group = pid;
      await processes.started({ pid, startTime });
      await run.started?.();
    },
    onOutput: (piece) => run.onOutput(piece),
  });
  if (group !== null && end.leftRunning === 0) await processes.ended({ pid: group });
  return end;
}
