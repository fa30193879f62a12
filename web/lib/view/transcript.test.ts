import { describe, expect, it } from 'vitest';
import { toBase } from '#protocol/conversation/base.ts';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import type { Draft } from '#protocol/event.ts';
import type { ApprovalId, CallId, InputId, PartId, StepId, TurnId } from '#protocol/values/ids.ts';
import type { CallDisplay } from '#protocol/values/display.ts';
import { transcriptRows, type Row } from './transcript.ts';

const turnId = 'trn_1' as TurnId;
const stepId = 'stp_1' as StepId;
const usage = { input: 100, output: 10, cacheRead: null, cacheWrite: null, reasoning: null };

function fold(drafts: readonly Draft[], from: Conversation = emptyConversation): Conversation {
  return drafts.reduce((conversation, draft) => {
    const next = conversation.seq + 1;
    return reduce(conversation, { ...draft, seq: next, at: next * 1000 });
  }, from);
}

const opening: Draft[] = [
  {
    type: 'input.queued',
    inputId: 'input-1' as InputId,
    target: 'next-turn',
    parts: [{ type: 'text', text: 'look around' }],
    origin: 'person',
  },
  { type: 'turn.started', turnId },
  ...stepStart(1),
  { type: 'input.claimed', stepId, inputIds: ['input-1' as InputId] },
];

function stepStart(number: number): Draft[] {
  return [
    {
      type: 'step.started',
      turnId,
      stepId: `stp_${number}` as StepId,
      model: 'scripted/demo',
      effort: null,
      mode: 'ask',
    },
  ];
}

function said(number: number, kind: 'text' | 'reasoning', text: string, step = stepId): Draft[] {
  const partId = `prt_${number}` as PartId;
  return [
    { type: 'part.started', stepId: step, partId, kind },
    { type: 'part.delta', partId, text },
    { type: 'part.ended', partId },
  ];
}

const replied = (step = stepId, stop: 'end' | 'tool-calls' | 'length' = 'tool-calls'): Draft => ({
  type: 'step.replied',
  stepId: step,
  stop,
  usage,
  cost: 0.01,
  firstTokenMs: 5,
  totalMs: 50,
});

function asked(number: number, display: CallDisplay, step = stepId): Draft {
  return {
    type: 'tool-call.requested',
    callId: `cal_${number}` as CallId,
    stepId: step,
    providerCallId: null,
    tool: 'tool',
    arguments: {},
    display,
  };
}

function done(number: number): Draft[] {
  const callId = `cal_${number}` as CallId;
  return [
    { type: 'tool-call.started', callId },
    { type: 'tool-call.ended', callId, outcome: 'completed', content: [] },
  ];
}

const read: CallDisplay = { title: 'Read', kind: 'read', target: 'src/cart.ts' };
const run: CallDisplay = { title: 'Run', kind: 'command', target: 'npm test' };
const stepEnd = (step = stepId): Draft => ({ type: 'step.ended', stepId: step, outcome: 'completed' });

/** One word a row, with what tells it from others of its kind. */
const told = (rows: readonly Row[]): string[] =>
  rows.map((row) => {
    if (row.type === 'text' || row.type === 'reasoning')
      return `${row.type} ${row.part.text}${row.streaming ? '…' : ''}`;
    if (row.type === 'call')
      return `${row.call.display.title} ${row.call.callId}${row.approval === null ? '' : ' asked'}`;
    if (row.type === 'calls') return `${row.calls.length} reads, ${row.running} running`;
    if (row.type === 'turn-end') return `end ${row.outcome}`;
    return row.type;
  });

describe('the rows of a turn', () => {
  it('stand in the order in which things happened, with reads folded also across steps', () => {
    const second = 'stp_2' as StepId;
    const conversation = fold([
      ...opening,
      ...said(1, 'reasoning', 'hm'),
      ...said(2, 'text', 'I look.'),
      replied(),
      asked(1, read),
      ...done(1),
      stepEnd(),
      ...stepStart(2),
      replied(second),
      asked(2, read, second),
      asked(3, run, second),
      ...done(2),
      ...done(3),
      stepEnd(second),
      { type: 'turn.ended', turnId, outcome: 'completed' },
    ]);
    expect(conversation.anomalies).toEqual([]);
    expect(told(transcriptRows(conversation))).toEqual([
      'input',
      'reasoning hm',
      'text I look.',
      '2 reads, 0 running',
      'Run cal_3',
      'end completed',
    ]);
  });

  it('end with what the turn came to', () => {
    const conversation = fold([
      ...opening,
      replied(stepId, 'length'),
      stepEnd(),
      { type: 'turn.ended', turnId, outcome: 'completed' },
    ]);
    expect(transcriptRows(conversation).slice(1)).toMatchObject([
      { type: 'cut', stop: 'length' },
      { type: 'turn-end', durationMs: 5000, calls: 0, files: 0, cost: 0.01, usage: { input: 100, output: 10 } },
    ]);
  });

  it('show each check of what a turn changed where it was made, and the running one by its time', () => {
    const started: Draft = { type: 'check.started', turnId, title: 'npm test' };
    const ended = (outcome: 'completed' | 'failed'): Draft => ({ type: 'check.ended', turnId, outcome, text: outcome });
    const running = fold([...opening, replied(stepId), stepEnd(), started]);
    expect(transcriptRows(running).at(-1)).toMatchObject({ type: 'check', outcome: null, since: running.at });
    const second = 'stp_2' as StepId;
    const again = fold(
      [
        ended('failed'),
        { type: 'step.started', turnId, stepId: second, model: 'scripted/demo', effort: null, mode: 'ask' },
        replied(second),
        { type: 'step.ended', stepId: second, outcome: 'completed' },
        started,
        ended('completed'),
        { type: 'turn.ended', turnId, outcome: 'completed' },
      ],
      running,
    );
    const checks = transcriptRows(again).filter((row) => row.type === 'check');
    expect(checks.map((row) => row.outcome)).toEqual(['failed', 'completed']);
    expect(new Set(checks.map((row) => row.key)).size).toBe(2);
  });

  it('say that the model was asked until it says something', () => {
    const waiting = fold(opening);
    const speaking = fold([{ type: 'part.started', stepId, partId: 'prt_1' as PartId, kind: 'text' }], waiting);
    expect(told(transcriptRows(waiting))).toEqual(['input', 'working']);
    expect(told(transcriptRows(speaking))).toEqual(['input']);
    const delta: Draft = { type: 'part.delta', partId: 'prt_1' as PartId, text: 'I' };
    expect(told(transcriptRows(fold([delta], speaking)))).toEqual(['input', 'text I…']);
  });

  it('show a coming call under the key that the call will have', () => {
    const partId = 'prt_1' as PartId;
    const coming = fold([...opening, { type: 'part.started', stepId, partId, kind: 'tool-call', tool: 'bash' }]);
    const there = fold([{ type: 'part.ended', partId }, replied(), { ...asked(1, run), partId } as Draft], coming);
    const [before, after] = [coming, there].map((conversation) => transcriptRows(conversation)[1]);
    expect([before?.type, after?.type, before?.key === after?.key]).toEqual(['coming-call', 'call', true]);
  });

  it('show a request at its call, and no read that waits for a person is folded away', () => {
    const conversation = fold([
      ...opening,
      replied(),
      asked(1, read),
      asked(2, read),
      {
        type: 'approval.requested',
        approvalId: 'apr_1' as ApprovalId,
        callId: 'cal_2' as CallId,
        reason: 'outside',
        caution: false,
        rulePattern: '*',
      },
    ]);
    expect(told(transcriptRows(conversation))).toEqual(['input', 'Read cal_1', 'Read cal_2 asked']);
  });

  it('show a retry as pending until the model speaks', () => {
    const retried: Draft = {
      type: 'step.retried',
      stepId,
      attempt: 1,
      delayMs: 500,
      reason: { code: 'rate_limited', message: 'slow down' },
      usage: null,
    };
    const pending = fold([...opening, retried]);
    const over = fold(said(1, 'text', 'hi'), pending);
    const of = (conversation: Conversation) => transcriptRows(conversation).find((row) => row.type === 'retry');
    expect([of(pending)?.pending, of(over)?.pending]).toEqual([true, false]);
    const failed = (message: string): Draft => ({
      type: 'turn.ended',
      turnId,
      outcome: 'failed',
      failure: { code: 'rate_limited', message },
    });
    const given = (message: string) =>
      fold([{ type: 'step.ended', stepId, outcome: 'failed' }, failed(message)], pending);
    // The end says the same in full; another failure does not tell this one.
    expect([of(pending)?.told, of(given('slow down'))?.told, of(given('no key'))?.told]).toEqual([false, true, false]);
  });

  it('tell a steer from what opened the turn', () => {
    const inputId = 'input-2' as InputId;
    const conversation = fold([
      ...opening,
      { type: 'input.queued', inputId, target: 'next-step', parts: [{ type: 'text', text: 'and' }], origin: 'person' },
      { type: 'input.claimed', stepId, inputIds: [inputId] },
    ]);
    const inputs = transcriptRows(conversation).filter((row) => row.type === 'input');
    expect(inputs.map((row) => row.steered)).toEqual([false, true]);
  });
});

describe('identity', () => {
  const closed = fold([...opening, ...said(1, 'text', 'done'), replied(), asked(1, read), asked(2, read)]);
  const ended = fold([...done(1), ...done(2), stepEnd(), { type: 'turn.ended', turnId, outcome: 'completed' }], closed);

  it('rows of closed turns are the same objects, and a token makes one row new', () => {
    const later: Draft[] = [
      { type: 'turn.started', turnId: 'trn_2' as TurnId },
      {
        type: 'step.started',
        turnId: 'trn_2' as TurnId,
        stepId: 'stp_2' as StepId,
        model: 'a/b',
        effort: null,
        mode: 'ask',
      },
      ...said(2, 'text', 'first', 'stp_2' as StepId),
      { type: 'part.started', stepId: 'stp_2' as StepId, partId: 'prt_3' as PartId, kind: 'text' },
      { type: 'part.delta', partId: 'prt_3' as PartId, text: 'a' },
    ];
    const before = fold(later, ended);
    const after = fold([{ type: 'part.delta', partId: 'prt_3' as PartId, text: 'b' }], before);
    const [rows, next] = [transcriptRows(before), transcriptRows(after)];
    expect(next.flatMap((row, index) => (row === rows[index] ? [] : [row.key]))).toEqual(['prt_3']);
  });

  it('a folded line is the same until one of its calls changes', () => {
    const fold1 = transcriptRows(closed).find((row) => row.type === 'calls');
    const pinned = fold([{ type: 'annotation.pinned', eventSeq: 1 }], closed);
    const started = fold([{ type: 'tool-call.started', callId: 'cal_1' as CallId }], closed);
    expect(transcriptRows(pinned).find((row) => row.type === 'calls')).toBe(fold1);
    expect(transcriptRows(started).find((row) => row.type === 'calls')).not.toBe(fold1);
  });

  it('keys are unique', () => {
    const keys = transcriptRows(ended).map((row) => row.key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('warnings', () => {
  const warned = fold([
    { type: 'warning.raised', code: 'other', message: 'early' },
    ...opening,
    replied(),
    stepEnd(),
    { type: 'turn.ended', turnId, outcome: 'completed' },
    { type: 'warning.raised', code: 'log_repaired', message: 'late' },
  ]);

  it('stand where they were raised', () => {
    expect(told(transcriptRows(warned))).toEqual(['warning', 'input', 'end completed', 'warning']);
  });

  it('of turns that are not here are not here either', () => {
    const tail = fold([{ type: 'turn.started', turnId: 'trn_2' as TurnId }], toBase(warned));
    expect(told(transcriptRows(tail))).toEqual([]);
  });
});
