/** What a command printed, as a model reads it: plain text, head and tail where it is long, with the place of the whole. */
import { leftOutHere } from '../../base/left-out.ts';
import { maxSpillBytes } from '../../base/limits.ts';
import { printed } from '../plain-text.ts';
import type { CommandOutput } from './command-output.ts';

export function outputText(output: CommandOutput): string {
  const truncation = output.window.result();
  if (truncation.cut === null) return printed(truncation.text);
  const where =
    output.spilled === 'all'
      ? `the whole output is in ${output.path}`
      : output.spilled === 'start'
        ? `the first ${maxSpillBytes / 1024 / 1024} MiB of the output are in ${output.path}`
        : 'the whole output could not be kept';
  return `${printed(truncation.head)}\n[… ${leftOutHere(truncation)}; ${where} …]\n${printed(truncation.tail)}`;
}
