/** Runs the command by which a person wants the work of a turn checked, as any command of the agent is run, and words what came of it. */
import { messageOf } from '../base/errors.ts';
import { maxCheckMs } from '../base/limits.ts';
import { CommandOutput } from '../tools/commands/command-output.ts';
import { outputText } from '../tools/commands/output-text.ts';
import { runCommand, type RunEnvironment } from '../tools/commands/run-command.ts';
import type { ToolEnvironment } from '../tools/tool.ts';

export async function runCheck(
  environment: RunEnvironment & Pick<ToolEnvironment, 'spillFile'>,
  command: string,
  signal: AbortSignal,
): Promise<{ outcome: 'completed' | 'failed'; text: string }> {
  const output = await CommandOutput.in(environment);
  try {
    const end = await runCommand(environment, {
      command,
      timeLimitMs: maxCheckMs,
      terminal: false,
      signal,
      onOutput: (piece) => output.push(piece),
    });
    const how = end.timedOut
      ? `[It was ended after ${maxCheckMs / 60_000} minutes (maxCheckMs).]`
      : end.signal === null
        ? `[Exit code ${end.exitCode ?? 'unknown'}.]`
        : `[Ended by signal ${end.signal}.]`;
    const text = [outputText(output), how].filter((part) => part !== '').join('\n');
    return { outcome: end.exitCode === 0 && !end.timedOut ? 'completed' : 'failed', text };
  } catch (error) {
    return { outcome: 'failed', text: `It could not be started: ${messageOf(error)}` };
  } finally {
    output.close();
  }
}
