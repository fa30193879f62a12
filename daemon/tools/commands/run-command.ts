/**
 * How a command of the agent is run, in the foreground or as a job: by bash, in the project's folder, with an environment in which no program
 * waits for a person, in the sandbox that is in force. Its group is in the session's ledger from before it runs until nothing of it is left.
 */
import { randomBytes } from 'node:crypto';
import { runProcess, type ProcessEnd } from '../../base/process.ts';
import { unattended } from '../process-environment.ts';
import type { ToolEnvironment } from '../tool.ts';

export interface CommandRun {
  readonly command: string;
  /** Null: it runs until it ends. */
  readonly timeLimitMs: number | null;
  /** Its output is a terminal; without, a pipe. */
  readonly terminal: boolean;
  readonly signal: AbortSignal;
  /** Called once its group is in the ledger; it runs when this has resolved. */
  readonly started?: () => Promise<void>;
  onOutput(piece: Uint8Array): void;
}

/** Rejects where it could not be started. */
export async function runCommand(environment: ToolEnvironment, run: CommandRun): Promise<ProcessEnd> {
  const { processes, folder, processEnvironment, sandbox } = environment;
  const wrapped = await sandbox.of.wrap('bash', ['-c', run.command], environment, sandbox.readOnly);
  let group = null as number | null;
  const end = await runProcess({
    ...wrapped,
    folder,
    environment: unattended(processEnvironment, run.terminal),
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
