/** How a tool call's life is said at the end of its line, and the text that it put out. */
import type { CallApproval, ToolCall } from '#protocol/conversation/tool-call.ts';
import { plainText, type Image } from '#protocol/values/content.ts';
import { callOutcomeLabels } from '../../view/labels.ts';
import { clockTime } from '../../view/time.ts';

/** Null where all is well: then the duration says enough. */
export function endWords(call: ToolCall, asked: boolean): { words: string; tone: 'calm' | 'bad' | 'wait' } | null {
  switch (call.state) {
    case 'requested':
      return asked ? { words: 'waits for you', tone: 'wait' } : { words: 'about to run', tone: 'calm' };
    case 'waiting':
      return { words: 'waits for you', tone: 'wait' };
    case 'running':
      return null;
    case 'ended':
      break;
  }
  switch (call.outcome) {
    case 'denied':
    case 'skipped':
      return { words: callOutcomeLabels[call.outcome], tone: 'calm' };
    case 'interrupted':
      return { words: callOutcomeLabels.interrupted, tone: 'bad' };
    case 'failed':
      return { words: failureWords(call), tone: 'bad' };
    case 'completed':
      return call.details?.type === 'plan' ? { words: call.details.decision, tone: 'calm' } : null;
    case null:
      return null;
  }
}

function failureWords(call: ToolCall): string {
  const details = call.details;
  if (details?.type !== 'command') return callOutcomeLabels.failed;
  if (details.timedOut) return 'out of time';
  if (details.signal !== null) return `ended by ${details.signal}`;
  return details.exitCode === null ? callOutcomeLabels.failed : `exit ${details.exitCode}`;
}

/** What the command said while it ran, or, where nothing was streamed, what the model was told. */
export function outputOf(call: ToolCall): string {
  const { head, tail, omitted } = call.output;
  if (head === '' && tail === '') return plainText(call.content);
  return omitted > 0 ? `${head}\n… ${omitted} characters are not shown here …\n${tail}` : head + tail;
}

/** The pictures that a call answered with. */
export function picturesOf(call: ToolCall): readonly Image[] {
  return call.content.filter((part) => part.type === 'image');
}

/** What its display says more; of a picture, which only its result knows, "1200 x 800 png". */
export function summaryOf(call: ToolCall): string | null {
  const [picture] = picturesOf(call);
  if (call.display.summary !== undefined || picture?.width === undefined || picture.height === undefined)
    return call.display.summary ?? null;
  return `${picture.width} x ${picture.height} ${picture.mediaType.replace('image/', '')}`;
}

/** "Allowed on Pixel, 14:03, with changed arguments: “…”" */
export function answerWords(answer: CallApproval): string {
  const decisions = { open: 'Asked', allow: 'Allowed', deny: 'Denied', withdrawn: 'Withdrawn' };
  const by = answer.by === null ? '' : ` on ${answer.by}`;
  const changed = answer.changedArguments ? ', with changed arguments' : '';
  const note = answer.note === null ? '' : `: “${answer.note}”`;
  return `${decisions[answer.decision]}${by}, ${clockTime(answer.at)}${changed}${note}`;
}
