/**
 * What a conversation has open -> the events that close it. One function for a crash, a shutdown, an abort and a fork, so that after each of them
 *   C1  every requested call has exactly one end: `interrupted` where it had started, `skipped` where it had not
 *   C2  no approval or question is left that an answer could not reach
 *   C3  step, turn and a compaction that was being made have their end, and nothing complete is rewritten
 */
import { runningJobs } from '#protocol/conversation/jobs.ts';
import { openWork } from '#protocol/conversation/open.ts';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { ToolCall } from '#protocol/conversation/tool-call.ts';
import type { CommandMark, Draft } from '#protocol/event.ts';

export type Cause = 'crash' | 'shutdown' | 'abort' | 'fork' | 'fault';

const words: Record<
  Cause,
  { withdrawn: string; started: string; skipped: string; compaction: string; outcome: 'interrupted' | 'aborted' }
> = {
  crash: {
    withdrawn: 'Alcove stopped before this was answered, and the work around it was closed.',
    started:
      'Interrupted: Alcove stopped while this ran. It may have had some of its effects, all or none; it was not run again. Look before you repeat it.',
    skipped: 'Not run: Alcove stopped before this call was started.',
    compaction: 'Alcove stopped before the summary was made.',
    outcome: 'interrupted',
  },
  shutdown: {
    withdrawn: 'Alcove was shut down before this was answered, and the work around it was closed.',
    started:
      'Interrupted: Alcove was shut down while this ran, and ended it. It may have had some of its effects. Look before you repeat it.',
    skipped: 'Not run: Alcove was shut down before this call was started.',
    compaction: 'Alcove was shut down before the summary was made.',
    outcome: 'interrupted',
  },
  abort: {
    withdrawn: 'The person stopped the turn.',
    started:
      'Interrupted: the person stopped the turn while this ran. It may have had some of its effects. Look before you repeat it.',
    skipped: 'Not run: the person stopped the turn before this call was started.',
    compaction: 'The person stopped it before the summary was made.',
    outcome: 'aborted',
  },
  fault: {
    withdrawn: 'The turn failed before this was answered.',
    started:
      'Interrupted: the session could not go on while this ran. It may have had some of its effects, all or none; it was not run again. Look before you repeat it.',
    skipped: 'Not run: the session could not go on before this call was started.',
    compaction: 'The session could not go on before the summary was made.',
    outcome: 'interrupted',
  },
  fork: {
    withdrawn: 'The session was forked here; the request belongs to the original.',
    started: 'Interrupted: the session was forked while this ran in the original.',
    skipped: 'Not run: the session was forked before this call was started.',
    compaction: 'The session was forked before the summary was made.',
    outcome: 'interrupted',
  },
};

/** Empty where nothing is open. `command` marks the end of the turn with the command that asked for it. */
export function closeOpenWork(conversation: Conversation, cause: Cause, command?: CommandMark): Draft[] {
  const { withdrawn, started, skipped, outcome, compaction } = words[cause];
  const events: Draft[] =
    conversation.compacting === null ? [] : [{ type: 'compaction.ended', outcome: 'failed', reason: compaction }];
  const open = openWork(conversation);
  if (open === null) return events;
  events.push(
    ...open.approvals.map((approval): Draft => ({
      type: 'approval.withdrawn',
      approvalId: approval.approvalId,
      reason: withdrawn,
    })),
    ...open.questions.map((question): Draft => ({
      type: 'question.withdrawn',
      questionId: question.questionId,
      reason: withdrawn,
    })),
    ...open.parts.map((part): Draft => ({ type: 'part.ended', partId: part.partId })),
    ...open.calls.map((call): Draft => {
      const running = call.state === 'running';
      return {
        type: 'tool-call.ended',
        callId: call.callId,
        outcome: running ? 'interrupted' : 'skipped',
        content: [{ type: 'text', text: running ? withOutput(started, call) : skipped }],
      };
    }),
  );
  if (open.turn.check?.outcome === null)
    events.push({
      type: 'check.ended',
      turnId: open.turn.turnId,
      outcome,
      text: 'It was stopped before its end.',
    });
  if (open.step !== null) {
    const unanswered = open.step.reply === null;
    events.push({ type: 'step.ended', stepId: open.step.stepId, outcome, ...(unanswered ? { usage: null } : {}) });
  }
  events.push({ type: 'turn.ended', turnId: open.turn.turnId, outcome, ...(command === undefined ? {} : { command }) });
  return events;
}

/** Of the jobs that nobody runs any more, whatever turn is open. */
export function closeJobs({ jobs }: Conversation): Draft[] {
  return runningJobs(jobs).map(({ jobId }): Draft => ({
    type: 'job.ended',
    jobId,
    outcome: 'interrupted',
    exitCode: null,
    signal: null,
  }));
}

/** The model is told what the command had printed: it is all that is known of its effects. */
function withOutput(text: string, call: ToolCall): string {
  const { head, tail, omitted, skippedBytes } = call.output;
  if (head === '') return `${text} It had printed nothing.`;
  const gap = omitted + skippedBytes > 0 ? `\n[… ${omitted + skippedBytes} left out …]\n` : '';
  return `${text} It had printed:\n${clip(head, 8000, 'start')}${gap}${clip(tail, 4000, 'end')}`;
}

function clip(text: string, length: number, keep: 'start' | 'end'): string {
  if (text.length <= length) return text;
  return keep === 'start' ? `${text.slice(0, length)}\n[…]` : `[…]\n${text.slice(-length)}`;
}
