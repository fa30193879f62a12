/** A diagnosis for a terminal: what was found, each with the events it stands at; what nobody knows is said to be unknown. */
import type { Diagnosis } from '../session/diagnosis.ts';
import { visible } from './visible.ts';

export function diagnosisWords(title: string, found: Diagnosis): string {
  const { time, usage } = found;
  const lines = [
    visible(title),
    ...section(
      'Repeated calls',
      found.repeats,
      ({ tool, arguments: given, times, inARow, seqs }) =>
        `${times} times${inARow > 1 ? ` (${inARow} in a row)` : ''}  ${tool} ${given}  at ${places(seqs)}`,
    ),
    ...section(
      'Failures',
      found.failures,
      ({ code, times, seqs, last }) => `${times} x ${code}  at ${places(seqs)}: ${last}`,
    ),
    ...section('Failed calls', Object.entries(found.failedCalls), ([tool, times]) => `${times} x ${tool}`),
    ...section(
      'Edits that did not apply',
      found.failedEdits,
      ({ seq, tool, target, said }) =>
        `event ${seq}  ${tool}${target === null ? '' : ` ${target}`}: ${said.split('\n', 1)[0] ?? ''}`,
    ),
    ...section(
      'Tried again',
      found.retries,
      ({ seq, stepId, attempt, delayMs, code }) =>
        `event ${seq}  ${stepId}, attempt ${attempt}, after ${seconds(delayMs)}: ${code}`,
    ),
    ...section(
      'Cut',
      found.truncations,
      ({ seq, what, of, omittedBytes, kept }) =>
        `event ${seq}  ${what === 'reply' ? `the reply of ${of}, at its length limit` : `the result of ${of}: ${omittedBytes === null ? 'unknown' : omittedBytes} bytes left out`}${kept === null ? '' : `, the whole in ${kept}`}`,
    ),
    ...section('Without an end', found.open, ({ callId, tool, state }) => `${callId}  ${tool}, ${state}`),
    ...section('The next start', found.repairs, (what) => what),
    ...section('Warnings', found.warnings, ({ seq, code, message }) => `event ${seq}  ${code}: ${message}`),
    '',
    `Time       model ${seconds(time.model)}, tools ${seconds(time.tools)}, waiting for you ${seconds(time.waitingForPerson)}`,
    `Tokens     ${usage === null ? 'unknown' : `${usage.input} in, ${usage.output} out${usage.unknownSteps > 0 ? `; ${usage.unknownSteps} steps unknown` : ''}`}`,
    `Summaries  ${found.compactions.done} made, ${found.compactions.failed} failed`,
  ];
  return `${lines.join('\n')}\n`;
}

function section<T>(name: string, rows: readonly T[], words: (row: T) => string): string[] {
  return rows.length === 0 ? [] : ['', name, ...rows.map((row) => `  ${visible(words(row))}`)];
}

/** The first few: the rest is in --json. */
function places(seqs: readonly number[]): string {
  const shown = seqs.slice(0, 5).join(', ');
  return `event${seqs.length === 1 ? '' : 's'} ${shown}${seqs.length > 5 ? ', …' : ''}`;
}

function seconds(ms: number | null): string {
  return ms === null ? 'unknown' : `${(ms / 1000).toFixed(1)} s`;
}
