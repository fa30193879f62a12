import { describe, expect, it } from 'vitest';
import { eventSchemas, type Draft, type EventKind, type SessionEvent } from '../event.ts';
import { misfit } from '../schema.ts';
import {
  approvalId,
  callId,
  commandId,
  fold,
  inputId,
  jobId,
  LogBuilder,
  partId,
  projectId,
  questionId,
  sessionId,
  stepId,
  turnId,
} from '../testing/log-builder.ts';
import { commandMemoryMs, emptyConversation, maxAnomalies, maxWarnings } from './conversation.ts';
import { reduce } from './reduce.ts';

const session = () => new LogBuilder().session();
const asked = () => session().asks('Water the ferns.');
const turn = () => asked().turn();
const step = () => turn().step();
const streaming = () => step().says(['Going'], 'text', 'open');
const replied = () => step().says(['Going.']).replies();
const requested = () =>
  replied().requests('bash', { command: 'water' }, { title: 'Run', kind: 'command', target: 'water' });
const waiting = () => requested().needsApproval('Commands ask.');
const running = () => requested().starts();
const job = () => running().add({ type: 'job.started', jobId: jobId(1), callId: callId(1), title: 'water' });
const checked = () => turn().add({ type: 'check.started', turnId: turnId(1), title: 'water --check' });
const question = { type: 'question.requested' as const, questionId: questionId(1), text: 'Which?', options: [] };
/** Events without a field of their own. */
const bare = (type: EventKind) => ({ type }) as never;
const project = { projectId: projectId(1), name: 'garden', path: '/home/ada/garden', addedAt: 1 };
const parts = [{ type: 'text' as const, text: 'Water the moss.' }];
const failed = { code: 'rate_limited' as const, message: 'The provider asks to wait.' };
const file = (path: string, added: number, removed: number) =>
  ({
    type: 'file-change',
    path,
    change: 'modified',
    before: null,
    after: { sha256: 'a'.repeat(64), bytes: 1 },
    added,
    removed,
  }) as const;

/** Every kind, on a log that it fits onto. A kind without a row does not compile. */
const inItsPlace: { [Kind in EventKind]: [LogBuilder, Extract<Draft, { type: Kind }>] } = {
  'session.created': [
    new LogBuilder(),
    { type: 'session.created', logVersion: 1, sessionId: sessionId(1), project, folder: project.path },
  ],
  'session.forked': [
    asked(),
    { type: 'session.forked', sessionId: sessionId(2), parent: { sessionId: sessionId(1), seq: 3 } },
  ],
  'session.configured': [session(), { type: 'session.configured', mode: 'plan' }],
  'session.titled': [session(), { type: 'session.titled', title: 'Ferns', by: 'person' }],
  'session.archived': [session(), bare('session.archived')],
  'session.restored': [session().add(bare('session.archived')), bare('session.restored')],
  'session.deleted': [session(), bare('session.deleted')],
  'input.queued': [
    session(),
    { type: 'input.queued', inputId: inputId(1), target: 'next-turn', parts, origin: 'person' },
  ],
  'input.edited': [asked(), { type: 'input.edited', inputId: inputId(1), parts }],
  'input.moved': [asked(), { type: 'input.moved', inputId: inputId(1), target: 'next-step' }],
  'input.withdrawn': [asked(), { type: 'input.withdrawn', inputId: inputId(1), reason: 'taken back' }],
  'input.claimed': [turn().step([]), { type: 'input.claimed', stepId: stepId(1), inputIds: [inputId(1)] }],
  'turn.started': [asked(), { type: 'turn.started', turnId: turnId(1) }],
  'turn.paused': [turn(), { type: 'turn.paused', turnId: turnId(1) }],
  'turn.resumed': [turn().add({ type: 'turn.paused', turnId: turnId(1) }), { type: 'turn.resumed', turnId: turnId(1) }],
  'turn.ended': [turn(), { type: 'turn.ended', turnId: turnId(1), outcome: 'completed' }],
  'step.started': [
    turn(),
    { type: 'step.started', turnId: turnId(1), stepId: stepId(1), model: 'a/b', effort: null, mode: 'ask' },
  ],
  'step.retried': [
    step(),
    { type: 'step.retried', stepId: stepId(1), attempt: 1, delayMs: 500, reason: failed, usage: null },
  ],
  'step.replied': [
    step(),
    { type: 'step.replied', stepId: stepId(1), stop: 'end', usage: null, cost: null, firstTokenMs: null, totalMs: 5 },
  ],
  'step.ended': [replied(), { type: 'step.ended', stepId: stepId(1), outcome: 'completed' }],
  'part.started': [step(), { type: 'part.started', stepId: stepId(1), partId: partId(1), kind: 'text' }],
  'part.delta': [streaming(), { type: 'part.delta', partId: partId(1), text: ' on' }],
  'part.ended': [streaming(), { type: 'part.ended', partId: partId(1) }],
  'part.reclassified': [streaming(), { type: 'part.reclassified', partId: partId(1), kind: 'reasoning' }],
  'tool-call.requested': [
    replied(),
    {
      type: 'tool-call.requested',
      callId: callId(1),
      stepId: stepId(1),
      providerCallId: null,
      tool: 'bash',
      arguments: {},
      display: { title: 'Run', kind: 'command' },
    },
  ],
  'tool-call.started': [requested(), { type: 'tool-call.started', callId: callId(1) }],
  'tool-call.output': [running(), { type: 'tool-call.output', callId: callId(1), text: 'drip' }],
  'tool-call.ended': [running(), { type: 'tool-call.ended', callId: callId(1), outcome: 'completed', content: [] }],
  'approval.requested': [
    requested(),
    {
      type: 'approval.requested',
      approvalId: approvalId(1),
      callId: callId(1),
      reason: 'It asks.',
      caution: false,
      rulePattern: '*',
    },
  ],
  'approval.resolved': [
    waiting(),
    { type: 'approval.resolved', approvalId: approvalId(1), decision: 'allow', scope: 'once', by: 'phone' },
  ],
  'approval.withdrawn': [waiting(), { type: 'approval.withdrawn', approvalId: approvalId(1), reason: 'aborted' }],
  'question.requested': [running(), question],
  'question.resolved': [
    running().add(question),
    { type: 'question.resolved', questionId: questionId(1), answer: 'a', by: 'phone' },
  ],
  'question.withdrawn': [
    running().add(question),
    { type: 'question.withdrawn', questionId: questionId(1), reason: 'aborted' },
  ],
  'context.measured': [session(), { type: 'context.measured', used: 10, limit: null }],
  'compaction.requested': [turn(), { type: 'compaction.requested' }],
  'compaction.started': [turn(), { type: 'compaction.started', trigger: 'command' }],
  'compaction.ended': [
    turn(),
    { type: 'compaction.ended', outcome: 'completed', summary: 'Watered.', firstKeptSeq: 3 },
  ],
  'warning.raised': [session(), { type: 'warning.raised', code: 'other', message: 'It rains.' }],
  'annotation.pinned': [session(), { type: 'annotation.pinned', eventSeq: 1 }],
  'annotation.unpinned': [
    session().add({ type: 'annotation.pinned', eventSeq: 1 }),
    { type: 'annotation.unpinned', eventSeq: 1 },
  ],
  'annotation.reviewed': [session(), { type: 'annotation.reviewed', eventSeq: 1 }],
  'plan.proposed': [turn(), { type: 'plan.proposed', text: 'First water.' }],
  'plan.decided': [
    turn().add({ type: 'plan.proposed', text: 'First water.' }),
    { type: 'plan.decided', decision: 'accepted', by: 'phone' },
  ],
  'job.started': [running(), { type: 'job.started', jobId: jobId(1), callId: callId(1), title: 'water' }],
  'job.ended': [job(), { type: 'job.ended', jobId: jobId(1), outcome: 'completed', exitCode: 0, signal: null }],
  'check.started': [turn(), { type: 'check.started', turnId: turnId(1), title: 'water --check' }],
  'check.ended': [checked(), { type: 'check.ended', turnId: turnId(1), outcome: 'failed', text: 'dry' }],
  'todo.replaced': [turn(), { type: 'todo.replaced', todos: [{ text: 'water', state: 'doing' }] }],
  'agent.started': [turn(), { type: 'agent.started', agent: 'gardener' }],
  'agent.intent-stated': [turn(), { type: 'agent.intent-stated', agent: 'gardener', text: 'to water' }],
  'agent.handed-off': [turn(), { type: 'agent.handed-off', agent: 'gardener', to: 'botanist' }],
  'agent.ended': [turn(), { type: 'agent.ended', agent: 'gardener', outcome: 'completed' }],
  'skill.applied': [turn(), { type: 'skill.applied', skill: 'watering' }],
  'hook.started': [turn(), { type: 'hook.started', hook: 'before-edit' }],
  'hook.ended': [turn(), { type: 'hook.ended', hook: 'before-edit', outcome: 'completed' }],
  'checkpoint.made': [turn(), { type: 'checkpoint.made', checkpoint: 'c1' }],
  'checkpoint.restored': [turn(), { type: 'checkpoint.restored', checkpoint: 'c1' }],
  'change.baseline-taken': [turn(), { type: 'change.baseline-taken', turnId: turnId(1), checkpoint: 'c1' }],
  'change.summarised': [turn(), { type: 'change.summarised', turnId: turnId(1), files: [] }],
};

describe('an event in its place', () => {
  it.each(Object.entries(inItsPlace))('%s fits its schema and folds without an anomaly', (kind, [log, draft]) => {
    expect(misfit(eventSchemas[kind as EventKind], draft)).toBeNull();
    const before = log.conversation;
    const after = log.add(draft).conversation;
    expect(after.anomalies).toEqual([]);
    expect(after.seq).toBe(before.seq + 1);
  });
});

/** Each with what the fold says of it. The log of a row is what stands before; the draft is what does not fit there. */
const misfits: [problem: RegExp, log: LogBuilder, draft: Draft][] = [
  [/exists already/, session(), inItsPlace['session.created'][1]],
  [/no session yet/, new LogBuilder(), { type: 'session.titled', title: 'Ferns', by: 'person' }],
  [/is queued already/, asked(), inItsPlace['input.queued'][1]],
  [/is not waiting/, session(), inItsPlace['input.edited'][1]],
  [/is not waiting/, session(), inItsPlace['input.withdrawn'][1]],
  [/is not waiting/, step(), { type: 'input.claimed', stepId: stepId(1), inputIds: [inputId(1)] }],
  [/is not open/, asked(), { type: 'input.claimed', stepId: stepId(1), inputIds: [inputId(1)] }],
  [/is still open/, turn(), { type: 'turn.started', turnId: turnId(2) }],
  [/is not open/, session(), { type: 'turn.paused', turnId: turnId(1) }],
  [/is not paused/, turn(), { type: 'turn.resumed', turnId: turnId(1) }],
  [/is paused already/, turn().add({ type: 'turn.paused', turnId: turnId(1) }), inItsPlace['turn.paused'][1]],
  [/step stp_1 is still open/, step(), { type: 'turn.ended', turnId: turnId(1), outcome: 'completed' }],
  [/is not open/, session(), inItsPlace['step.started'][1]],
  [/is still open/, step(), { ...inItsPlace['step.started'][1], stepId: stepId(2) }],
  [/reply is complete/, replied(), inItsPlace['step.retried'][1]],
  [/complete already/, replied(), inItsPlace['step.replied'][1]],
  [/part prt_1 is still open/, streaming(), { type: 'step.ended', stepId: stepId(1), outcome: 'aborted' }],
  [/call cal_1 has no end/, running(), { type: 'step.ended', stepId: stepId(1), outcome: 'aborted' }],
  [/reply is complete/, replied(), { ...inItsPlace['part.started'][1], partId: partId(2) }],
  [/has ended/, step().says(['a']), { type: 'part.delta', partId: partId(1), text: 'b' }],
  [/not in the open step/, step(), { type: 'part.delta', partId: partId(1), text: 'b' }],
  [/no step is open/, turn(), { type: 'part.ended', partId: partId(1) }],
  [/reply is not complete/, step(), inItsPlace['tool-call.requested'][1]],
  [/waiting, it cannot become running/, waiting(), { type: 'tool-call.started', callId: callId(1) }],
  [/requested, it cannot become output/, requested(), { type: 'tool-call.output', callId: callId(1), text: 'a' }],
  [/ended, it cannot become ended/, running().ends('done'), inItsPlace['tool-call.ended'][1]],
  [/not in the open step/, replied(), inItsPlace['approval.requested'][1]],
  [/running, it cannot become waiting/, running(), inItsPlace['approval.requested'][1]],
  [/is not open/, waiting().answers('allow'), inItsPlace['approval.resolved'][1]],
  [/is not open/, requested(), inItsPlace['approval.withdrawn'][1]],
  [/is not open/, running(), inItsPlace['question.resolved'][1]],
  [/job job_1 exists already/, job(), inItsPlace['job.started'][1]],
  [/job job_1 does not run/, running(), inItsPlace['job.ended'][1]],
  [/job job_1 does not run/, job().add(inItsPlace['job.ended'][1]), inItsPlace['job.ended'][1]],
  [/is still open/, step(), inItsPlace['check.started'][1]],
  [/runs already/, checked(), inItsPlace['check.started'][1]],
  [/no check runs/, turn(), inItsPlace['check.ended'][1]],
  [/no plan/, turn(), inItsPlace['plan.decided'][1]],
];

describe('an event that does not fit', () => {
  it.each(misfits)('is recorded as "%s" and changes nothing else', (problem, log, draft) => {
    const before = log.conversation;
    const event = { ...draft, seq: before.seq + 1, at: before.at + 1 } as SessionEvent;
    expect(reduce(before, event)).toEqual({
      ...before,
      seq: event.seq,
      at: event.at,
      anomalies: [{ seq: event.seq, type: draft.type, problem: expect.stringMatching(problem) as string }],
    });
  });

  it('is not folded a second time', () => {
    const log = asked();
    const again = reduce(log.conversation, log.events[2]!);
    expect(again).toEqual({
      ...log.conversation,
      anomalies: [{ seq: 3, type: 'input.queued', problem: 'seq 3 was folded already' }],
    });
  });

  it('after a gap says which events are missing', () => {
    const { events } = asked();
    expect(fold([events[0]!, events[2]!]).anomalies).toEqual([
      { seq: 3, type: 'input.queued', problem: 'events 2 to 2 are missing' },
    ]);
  });

  it('is forgotten when there are many, so that a conversation stays small', () => {
    const log = session();
    for (let time = 0; time < 100; time += 1) log.add({ type: 'turn.paused', turnId: turnId(9) });
    expect(log.conversation.anomalies).toHaveLength(maxAnomalies);
  });
});

describe('RT5: an event of an unknown kind', () => {
  it('changes nothing but the place, at any point of a log', () => {
    const { events } = running().ends('done').endsStep().endsTurn();
    for (let place = 0; place <= events.length; place += 1) {
      const newer = { type: 'weather.changed', seq: place + 1, at: 1, wind: { from: 'north' } } as const;
      const shifted = events.slice(place).map((event) => ({ ...event, seq: event.seq + 1 }));
      const mixed = fold([...events.slice(0, place), newer, ...shifted]);
      expect(mixed.anomalies).toEqual([]);
      expect(mixed.turns[0]?.steps[0]?.parts).toEqual(fold(events).turns[0]?.steps[0]?.parts);
    }
  });

  it('of a known noun passes as well', () => {
    const log = session();
    const before = log.conversation;
    const after = log.addUnknown('session.coloured', { colour: 'green' }).conversation;
    expect({ ...after, seq: 0, at: 0 }).toEqual({ ...before, seq: 0, at: 0 });
  });

  it('named like a property of every object is unknown too', () => {
    const event = { type: 'constructor', seq: 1, at: 1 } as unknown as SessionEvent;
    expect(reduce(emptyConversation, event)).toEqual({ ...emptyConversation, seq: 1, at: 1 });
  });
});

describe('what is counted', () => {
  it('PR22: usage that never came is counted as unknown, never as zero', () => {
    const log = step().replies(null, null).endsStep().step().replies();
    expect(log.conversation.usage).toEqual({
      input: 1200,
      output: 80,
      cacheRead: 1000,
      cacheWrite: 0,
      reasoning: 0,
      steps: 2,
      unknownSteps: 1,
    });
    expect([log.conversation.cost, log.conversation.unknownCost]).toEqual([0.002, 1]);
  });

  it('PR22: usage of a failed reply counts, and that of a failed attempt is unknown', () => {
    const usage = { input: 7, output: 1, cacheRead: null, cacheWrite: null, reasoning: null };
    const log = step()
      .add(inItsPlace['step.retried'][1])
      .add({ type: 'step.ended', stepId: stepId(1), outcome: 'failed', failure: failed, usage });
    expect(log.conversation.usage).toMatchObject({ input: 7, output: 1, steps: 2, unknownSteps: 1 });
    expect(log.conversation.active?.usage).toEqual(log.conversation.usage);
  });

  it('files that a turn changed are summed by path', () => {
    const log = replied();
    for (const change of [file('a.md', 2, 0), file('b.md', 1, 1), file('a.md', 1, 3)])
      log.requests('edit', {}, { title: 'Edit', kind: 'edit' }).starts().ends('', 'completed', undefined, change);
    expect(log.conversation.active?.changed).toEqual([
      { path: 'a.md', added: 3, removed: 3 },
      { path: 'b.md', added: 1, removed: 1 },
    ]);
  });

  it('commands are remembered for a day of event time', () => {
    const log = asked()
      .waits(commandMemoryMs - 100)
      .asks('Again.');
    expect(log.conversation.commands.map((one) => one.id)).toEqual([commandId(1), commandId(2)]);
    log.waits(200).asks('Once more.');
    expect(log.conversation.commands.map((one) => one.id)).toEqual([commandId(2), commandId(3)]);
  });

  it('only the last warnings are kept', () => {
    const log = session();
    for (let time = 0; time < 30; time += 1) log.add({ type: 'warning.raised', code: 'other', message: `${time}` });
    expect(log.conversation.warnings).toHaveLength(maxWarnings);
    expect(log.conversation.warnings.at(-1)?.message).toBe('29');
  });
});

describe('an approval', () => {
  it('US1: is open until it is answered, and shows the whole call', () => {
    expect(waiting().conversation.approvals).toMatchObject([
      { approvalId: 'apr_1', tool: 'bash', title: 'Run', target: 'water', arguments: { command: 'water' } },
    ]);
    expect(waiting().answers('deny').conversation.approvals).toEqual([]);
  });

  it('PM2: for the session is a grant, once is none, denied is none', () => {
    expect(waiting().answers('allow', 'session').conversation.grants).toEqual([
      { tool: 'bash', pattern: '*', scope: 'session' },
    ]);
    expect(waiting().answers('allow', 'once').conversation.grants).toEqual([]);
    expect(waiting().answers('deny', 'session').conversation.grants).toEqual([]);
  });

  it('PM2: changes the arguments where the person changed them', () => {
    const log = waiting().add({
      type: 'approval.resolved',
      approvalId: approvalId(1),
      decision: 'allow',
      scope: 'once',
      by: 'phone',
      arguments: { command: 'water --gently' },
    });
    const call = log.conversation.active?.step?.calls[0];
    expect([call?.arguments, call?.approval?.changedArguments]).toEqual([{ command: 'water --gently' }, true]);
  });
});

it('a token replaces the open step and nothing of the history', () => {
  const log = replied().endsStep().endsTurn().asks('More.').turn().step().replies().endsStep().step();
  const before = log.says(['a'], 'text', 'open').conversation;
  const after = log.add({ type: 'part.delta', partId: partId(2), text: 'b' }).conversation;
  expect(after.turns).toBe(before.turns);
  expect(after.active?.steps).toBe(before.active?.steps);
  expect(after.inbox).toBe(before.inbox);
  expect(after.active?.step?.parts.at(-1)?.text).toBe('ab');
});

it('a list shows the first words of the first input, cut at a whole character', () => {
  expect(session().asks(`\n  ${'🌱'.repeat(200)}\nmore`).conversation.session?.opening).toBe(`${'🌱'.repeat(79)}…`);
});
