import { describe, expect, test } from 'vitest';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import type { Draft } from '#protocol/event.ts';
import { LogBuilder } from '#protocol/testing/log-builder.ts';
import type { ApprovalId, CommandId } from '#protocol/values/ids.ts';
import { decideAnswer, decideConfigure, decideNext, repeated, type NextOptions, noCap } from './decide.ts';

const options: NextOptions = {
  defaultModel: 'scripted/default',
  efforts: null,
  pausing: false,
  woken: false,
  maxSteps: 10,
  maxTokens: null,
  cap: noCap,
  compactAt: null,
  check: null,
};
const command = { id: '019b0000-0000-7000-8000-000000000001' as CommandId, digest: 'd' };

const display = { title: 'Run', kind: 'command' as const };
const begun = () => new LogBuilder().session();
const called = () => begun().asks('go').turn().step().replies().requests('bash', {}, display);
const stepDone = () => called().starts().ends('done').endsStep();
const answered = () => begun().asks('go').turn().step().says(['hi']).replies().endsStep();

/** The kinds that a decision makes, and that they fit. */
function decided(conversation: Conversation, more: Partial<NextOptions> = {}) {
  const { events, next } = decideNext(conversation, { ...options, ...more });
  let after = conversation;
  for (const draft of events) after = reduce(after, { seq: after.seq + 1, at: after.at, ...draft });
  expect(after.anomalies).toEqual([]);
  return {
    kinds: events.map(({ type }) => type),
    claims: claimsOf(events),
    do: next.do,
    paused: 'paused' in next && next.paused,
    after,
  };
}

function claimsOf(events: readonly Draft[]): number {
  return events.flatMap((event) => (event.type === 'input.claimed' ? event.inputIds : [])).length;
}

const startsTurn = ['turn.started', 'step.started', 'input.claimed'];

describe('what the driver does next', () => {
  test.each<
    [string, LogBuilder, Partial<NextOptions>, { kinds: string[]; do: string; claims?: number; paused?: boolean }]
  >([
    ['nothing waits', begun(), {}, { kinds: [], do: 'rest' }],
    ['a follow-up waits', begun().asks('a'), {}, { kinds: startsTurn, do: 'step', claims: 1 }],
    [
      'two follow-ups wait: one is taken (RT9)',
      begun().asks('a').asks('b'),
      {},
      { kinds: startsTurn, do: 'step', claims: 1 },
    ],
    ['a steer alone starts a turn', begun().asks('a', 'next-step'), {}, { kinds: startsTurn, do: 'step', claims: 1 }],
    [
      'steers and follow-ups wait: all steers, one follow-up (RT9)',
      begun().asks('a').asks('s', 'next-step').asks('b').asks('t', 'next-step'),
      {},
      { kinds: startsTurn, do: 'step', claims: 3 },
    ],
    ['a step is open', begun().asks('go').turn().step(), {}, { kinds: [], do: 'step' }],
    ['its reply is there', called(), {}, { kinds: [], do: 'calls' }],
    ['the last step called tools', stepDone(), {}, { kinds: ['step.started'], do: 'step' }],
    [
      '... and a steer waits',
      stepDone().asks('s', 'next-step'),
      {},
      { kinds: ['step.started', 'input.claimed'], do: 'step', claims: 1 },
    ],
    [
      '... and a follow-up waits: not yet',
      stepDone().asks('b'),
      {},
      { kinds: ['step.started'], do: 'step', claims: 0 },
    ],
    [
      '... and a person asked to pause (RT13)',
      stepDone(),
      { pausing: true },
      { kinds: ['turn.paused'], do: 'rest', paused: true },
    ],
    ['the last step called none', answered(), {}, { kinds: ['turn.ended'], do: 'rest' }],
    [
      '... and a steer waits (RT11)',
      answered().asks('s', 'next-step'),
      {},
      { kinds: ['step.started', 'input.claimed'], do: 'step', claims: 1 },
    ],
    [
      '... and a follow-up waits',
      answered().asks('b'),
      {},
      { kinds: ['turn.ended', ...startsTurn], do: 'step', claims: 1 },
    ],
    ['... and a person asked to pause', answered(), { pausing: true }, { kinds: ['turn.ended'], do: 'rest' }],
    [
      '... and a person asked to pause while a follow-up waits',
      answered().asks('b'),
      { pausing: true },
      { kinds: ['turn.paused'], do: 'rest', paused: true },
    ],
    [
      'the turn is paused',
      stepDone().add({ type: 'turn.paused', turnId: 'trn_1' as never }),
      {},
      { kinds: [], do: 'rest', paused: true },
    ],
    ['the step limit is reached', stepDone(), { maxSteps: 1 }, { kinds: ['turn.ended'], do: 'rest' }],
    [
      'input waits behind an aborted turn',
      begun().asks('a').turn().step().endsStep('aborted').endsTurn('aborted').asks('b'),
      {},
      { kinds: [], do: 'rest' },
    ],
    [
      '... and a person acts',
      begun().asks('a').turn().step().endsStep('aborted').endsTurn('aborted').asks('b'),
      { woken: true },
      { kinds: startsTurn, do: 'step', claims: 1 },
    ],
  ])('%s', (_, log, more, wanted) => {
    expect(decided(log.conversation, more)).toMatchObject({ claims: 0, paused: false, ...wanted });
  });

  test('the model, effort and mode of a step are those of the session then; without one the default (PR6)', () => {
    const log = begun().asks('a');
    const { after } = decided(log.conversation);
    expect(after.active?.step).toMatchObject({ model: 'scripted/demo', effort: null, mode: 'ask' });
    const bare = { ...log.conversation, settings: { model: null, effort: 'low' as const, mode: 'auto' as const } };
    expect(decided(bare).after.active?.step).toMatchObject({ model: 'scripted/default', effort: 'low', mode: 'auto' });
  });

  test('an effort that the model does not take is brought into its range, and that is said once (PR7)', () => {
    const log = stepDone();
    const model = 'other/model';
    const settings = { ...log.conversation.settings, model, effort: 'xhigh' as const };
    const efforts = { model, takes: ['low', 'high'] as const };
    const first = decided({ ...log.conversation, settings }, { efforts });
    expect(first.kinds).toEqual(['warning.raised', 'step.started']);
    expect(first.after.active?.step).toMatchObject({ model, effort: 'high' });
    expect(first.after.warnings.at(-1)?.message).toBe(
      'other/model does not take the effort “xhigh” but low or high; it is asked with “high”.',
    );
    const { active } = first.after;
    if (active?.step == null) throw new Error('no step was opened');
    const done = {
      ...active,
      step: null,
      steps: [
        ...active.steps,
        { ...active.step, calls: log.conversation.active!.steps[0]!.calls, outcome: 'completed' as const },
      ],
    };
    expect(decided({ ...first.after, active: done }, { efforts }).kinds).toEqual(['step.started']);
    expect(
      decided({ ...log.conversation, settings }, { efforts: { model, takes: [] } }).after.active?.step?.effort,
    ).toBeNull();
    // What was looked up for another model says nothing of this one.
    const late = decided({ ...log.conversation, settings }, { efforts: { model: 'scripted/demo', takes: [] } });
    expect(late).toMatchObject({ kinds: ['step.started'], after: { active: { step: { effort: 'xhigh' } } } });
  });

  test('the step limit says what it is and that all is kept', () => {
    const { after } = decided(stepDone().conversation, { maxSteps: 1 });
    expect(after.turns[0]).toMatchObject({ outcome: 'failed', failure: { code: 'step_limit' } });
  });
});

describe('a repeat of a command', () => {
  const now = Number.parseInt('019b00000000', 16);
  const known = begun().add({ type: 'session.titled', title: 'x', by: 'person', command }).conversation;
  test('has the place of the first', () => expect(repeated(known, command, now)).toBe(3));
  test('with other parameters is a conflict', () =>
    expect(() => repeated(known, { ...command, digest: 'other' }, now)).toThrow('used before with other parameters'));
  test('is not a new one', () => expect(repeated(begun().conversation, command, now)).toBeNull());
  test('made more than a day ago cannot be told', () =>
    expect(() => repeated(begun().conversation, command, now + 25 * 3600_000)).toThrow('more than a day ago'));
});

describe('an answer', () => {
  const asked = called().needsApproval('Commands ask.');
  const answer = { approvalId: 'apr_1' as ApprovalId, decision: 'allow' as const, scope: 'once' as const, by: 'me' };
  test('to an open request resolves it', () =>
    expect(decideAnswer(asked.conversation, { ...answer, note: '' }, command)).toEqual([
      { type: 'approval.resolved', command, ...answer },
    ]));
  test.each<[string, Conversation, string]>([
    ['one that was never asked', begun().conversation, 'earlier turn'],
    ['one that was allowed', called().needsApproval('x').answers('allow').conversation, "allowed by Ada's laptop"],
    ['one that was denied', called().needsApproval('x').answers('deny').conversation, "denied by Ada's laptop"],
    [
      'one that was withdrawn',
      called()
        .needsApproval('x')
        .add({ type: 'approval.withdrawn', approvalId: 'apr_1' as never, reason: 'It rained.' }).conversation,
      'It rained.',
    ],
  ])('to %s says what became of it (RT25)', (_, conversation, words) =>
    expect(() => decideAnswer(conversation, answer, command)).toThrow(words),
  );
});

test('settings that are the same already leave no event', () => {
  const { conversation } = begun();
  expect(decideConfigure(conversation, { model: 'scripted/demo', mode: 'ask', effort: null }, command)).toEqual([]);
  expect(decideConfigure(conversation, { mode: 'plan' }, command)).toEqual([
    { type: 'session.configured', command, mode: 'plan' },
  ]);
});
