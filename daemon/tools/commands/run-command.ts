/**
 * How a command of the agent is run, in the foreground or as a job: by bash, in the project's folder, with an environment in which no program
 * waits for a person. Its group is in the session's ledger from before it runs until nothing of it is left.
 */
import { randomBytes } from 'node:crypto';
import { runProcess, type ProcessEnd } from '../../base/process.ts';
import type { ToolEnvironment } from '../tool.ts';

export interface CommandRun {
  readonly command: string;
  /** Null: it runs until it ends. */
  readonly timeLimitMs: number | null;
  readonly signal: AbortSignal;
  /** Called once its group is in the ledger; it runs when this has resolved. */
  readonly started?: () => Promise<void>;
  onOutput(piece: Uint8Array): void;
}

/** Programs must neither wait for a person nor draw on a terminal. CI is not set: it makes some tools stricter than the person asked for. */
const withoutTerminal = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };

/** Rejects where it could not be started. */
export async function runCommand(environment: ToolEnvironment, run: CommandRun): Promise<ProcessEnd> {
  const { processes, folder, processEnvironment } = environment;
  let group = null as number | null;
  const end = await runProcess({
    program: 'bash',
    args: ['-c', run.command],
    folder,
    environment: { ...processEnvironment, ...withoutTerminal },
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
