/** A report of a model's context for a terminal: a line for each part. Estimates are said to be; what a provider measured stands apart. */
import type { ContextReport } from '#protocol/values/context-report.ts';
import { visible } from './visible.ts';

export function contextWords({ model, limit, measured, estimated, parts }: ContextReport): string {
  const window = limit === null ? 'unknown' : `${figure(limit)} tokens`;
  const last =
    measured === null
      ? 'unknown'
      : `${figure(measured)} tokens${ofWindow(measured, limit)} by the provider, with the last reply`;
  const width = Math.max(10, ...parts.map(({ name }) => name.length));
  const lines = parts.map(
    ({ name, tokens, share }) =>
      `  ${visible(name).padEnd(width)}  ${figure(tokens).padStart(9)}  ${shareWords(share, tokens).padStart(6)}`,
  );
  return `${[
    `Model       ${visible(model)}`,
    `Window      ${window}`,
    `Measured    ${last}`,
    `Estimated   ${figure(estimated)} tokens for the next request:`,
    ...lines,
  ].join('\n')}\n`;
}

function ofWindow(tokens: number, limit: number | null): string {
  return limit === null || limit === 0 ? '' : ` (${((100 * tokens) / limit).toFixed(1)}% of the window)`;
}

/** What is there never reads as nothing. */
function shareWords(share: number, tokens: number): string {
  return share === 0 && tokens > 0 ? '<0.1%' : `${(share / 10).toFixed(1)}%`;
}

function figure(tokens: number): string {
  return tokens.toLocaleString('en-US');
}
