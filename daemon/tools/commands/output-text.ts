/** What a command printed, as a model reads it: plain text, head and tail where it is long, with the place of the whole. */
import { maxSpillBytes } from '../../base/limits.ts';
import { withoutControls, withoutOverdrawn } from '../plain-text.ts';
import type { CommandOutput } from './command-output.ts';

export function outputText(output: CommandOutput): string {
  const truncation = output.window.result();
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
