/**
 * Five whole logs. `golden.test.ts` keeps each as fixtures/NAME.jsonl with its fold, fixtures/NAME.conversation.json, so that a change of
 * an event or of the fold shows as a change of a file that somebody reads.
 */
import type { FileChange } from '../values/display.ts';
import { approvalId, callId, jobId, LogBuilder, questionId } from './log-builder.ts';

const hash = (digit: string) => ({ sha256: digit.repeat(64), bytes: 42 });

/** A turn with tools and an approval, then a short second turn; a rename, a pin, an event of a newer version. */
function toolsAndApproval(): LogBuilder {
  const log = new LogBuilder()
    .session()
    .asks('Add a watering plan to the notes.\nKeep it short.')
    .turn()
    .step()
    .says(['The notes come', ' first: let me', ' read them. 🌱'], 'reasoning')
    .says(['I will look at', ' the notes.'])
    .announces('read')
    .announces('bash')
    .replies()
    .requests('read', { path: 'notes.md' }, { title: 'Read', kind: 'read', target: 'notes.md', summary: 'lines 1-3' })
    .requests('bash', { command: 'ls' }, { title: 'Run', kind: 'command', target: 'ls' })
    .starts(1)
    .ends('1\tRoses\n2\tFerns\n3\tMoss', 'completed', 1, {
      type: 'file-read',
      path: 'notes.md',
      firstLine: 1,
      lastLine: 3,
      totalLines: 3,
    })
    .needsApproval('Commands ask in this mode.', 2)
    .waits(4000)
    .answers('allow', 'session')
    .starts(2)
    .prints('notes.md\n', 2)
    .prints('seeds/\n', 2)
    .ends('notes.md\nseeds/', 'completed', 2, {
      type: 'command',
      command: 'ls',
      exitCode: 0,
      signal: null,
      timedOut: false,
      outputBytes: 16,
    })
    .endsStep()
    .add({ type: 'context.measured', used: 1280, limit: 200_000 })
    .step()
    .announces('edit')
    .replies(null, null)
    .requests(
      'edit',
      { path: 'notes.md', edits: [{ oldText: 'Moss', newText: 'Moss\n\nWater on Mondays.' }] },
      { title: 'Edit', kind: 'edit', target: 'notes.md' },
    )
    .needsApproval('Changes ask in this mode.')
    .answers('allow')
    .starts()
    .ends('Edited notes.md.', 'completed', 3, {
      type: 'file-change',
      path: 'notes.md',
      change: 'modified',
      before: hash('a'),
      after: hash('b'),
      added: 2,
      removed: 0,
      diff: '@@ -3 +3,3 @@\n Moss\n+\n+Water on Mondays.\n',
    })
    .endsStep()
    .step()
    .says(['Done: the notes', ' now say when to', ' water.'])
    .replies()
    .endsStep()
    .endsTurn()
    .add({ type: 'session.titled', title: 'Watering plan', by: 'person' })
    .addUnknown('mood.noticed', { mood: 'green', leaves: 3 })
    .add({ type: 'annotation.pinned', eventSeq: 5, note: 'the first question' })
    .asks('Thanks!')
    .turn()
    .step()
    .says(['You are welcome.'])
    .replies()
    .endsStep()
    .endsTurn();
  return log;
}

/** Steered in mid-step, queued, edited, moved, withdrawn; paused and resumed over a question; aborted with three calls open. */
function steeredPausedAborted(): LogBuilder {
  const log = new LogBuilder().session().asks('Prune everything.').turn().step();
  log
    .says(['Starting with', ' the roses.'])
    .asks('Not the roses!', 'next-step')
    .asks('Later: the hedge.')
    .asks('Later: the compost.')
    .asks('Never mind this one.');
  const [, hedge, compost, never] = log.conversation.inbox.map((input) => input.inputId);
  if (hedge === undefined || compost === undefined || never === undefined) throw new Error('three inputs should wait');
  log
    .add({ type: 'input.edited', inputId: hedge, parts: [{ type: 'text', text: 'Later: the tall hedge.' }] })
    .add({ type: 'input.moved', inputId: compost, before: hedge })
    .add({ type: 'input.moved', inputId: compost, target: 'next-step' })
    .add({ type: 'input.withdrawn', inputId: never, reason: 'the person took it back' })
    .replies()
    .endsStep()
    .add({ type: 'turn.paused', turnId: log.turnId })
    .waits(60_000)
    .add({ type: 'session.configured', mode: 'auto', model: 'scripted/other', effort: 'high' })
    .add({ type: 'turn.resumed', turnId: log.turnId })
    .step([2, 4])
    .add({
      type: 'step.retried',
      stepId: log.stepId,
      attempt: 1,
      delayMs: 800,
      reason: { code: 'rate_limited', message: 'The provider asks to wait.' },
      usage: null,
    })
    .says(['Then the', ' hedge.'], 'text')
    .replies()
    .requests('bash', { command: 'prune hedge' }, { title: 'Run', kind: 'command', target: 'prune hedge' })
    .requests('bash', { command: 'prune ivy' }, { title: 'Run', kind: 'command', target: 'prune ivy' })
    .requests('bash', { command: 'rm -rf roses' }, { title: 'Run', kind: 'command', target: 'rm -rf roses' })
    .add({ type: 'question.requested', questionId: questionId(1), text: 'How tall?', options: [{ label: '1 m' }] })
    .add({ type: 'question.resolved', questionId: questionId(1), answer: '1 m', by: 'command line' })
    .starts(1)
    .prints('snip\n', 1)
    .ends('snip', 'completed', 1)
    .starts(2)
    .prints('snip snap\n', 2)
    .needsApproval('The command deletes files.', 3)
    .add({ type: 'approval.withdrawn', approvalId: 'apr_1' as never, reason: 'the turn was aborted' })
    .ends('Interrupted: it had started.', 'interrupted', 2)
    .ends('Skipped: it had not started.', 'skipped', 3)
    .endsStep('aborted')
    .endsTurn('aborted');
  return log;
}

/** Pictures and a file attached, one message edited and one withdrawn; a picture read, a patch of several files asked about and done. */
function patchAndPictures(): LogBuilder {
  const picture = (digit: string, name: string) => ({
    type: 'image' as const,
    blob: hash(digit),
    mediaType: 'image/png',
    name,
    width: 640,
    height: 480,
  });
  const log = new LogBuilder().session().asks('Make the plan look like this.');
  const first = log.conversation.inbox[0]?.inputId;
  if (first === undefined) throw new Error('an input should wait');
  log
    .add({
      type: 'input.edited',
      inputId: first,
      parts: [
        { type: 'text', text: 'Make the plan look like this.' },
        picture('a', 'plan.png'),
        picture('b', 'bed.png'),
        { type: 'text', text: 'Roses\n', name: 'notes.md' },
      ],
    })
    .turn()
    .step()
    .announces('read')
    .announces('apply_patch')
    .replies()
    .requests('read', { path: 'old.png' }, { title: 'Read', kind: 'read', target: 'old.png' })
    .requests(
      'apply_patch',
      { patch: '*** Begin Patch\n*** End Patch' },
      { title: 'Patch', kind: 'edit', target: 'plan.md, beds.md, old.md', summary: '3 files' },
    )
    .starts(1)
    .add({
      type: 'tool-call.ended',
      callId: callId(1),
      outcome: 'completed',
      content: [{ type: 'text', text: 'old.png: 640 x 480 png.' }, picture('c', 'old.png')],
    })
    .asks('And this?');
  const second = log.conversation.inbox[0]?.inputId;
  if (second === undefined) throw new Error('an input should wait');
  const files: FileChange[] = [
    {
      type: 'file-change',
      path: 'plan.md',
      change: 'created',
      before: null,
      after: hash('d'),
      added: 1,
      removed: 0,
      diff: '--- /dev/null\n+++ b/plan.md\n@@ -0,0 +1,1 @@\n+Roses\n',
    },
    {
      type: 'file-change',
      path: 'beds.md',
      movedFrom: 'bed.md',
      change: 'modified',
      before: hash('e'),
      after: hash('f'),
      added: 2000,
      removed: 1,
      diffBlob: hash('1'),
    },
    {
      type: 'file-change',
      path: 'old.md',
      change: 'deleted',
      before: hash('2'),
      after: null,
      added: 0,
      removed: 1,
      diff: '--- a/old.md\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-Moss\n',
    },
  ];
  return log
    .add({ type: 'input.edited', inputId: second, parts: [picture('3', 'more.png')] })
    .add({ type: 'input.withdrawn', inputId: second, reason: 'the person took it back' })
    .add({
      type: 'approval.requested',
      approvalId: approvalId(1),
      callId: callId(2),
      reason: 'Changes ask in this mode.',
      caution: false,
      rulePattern: 'apply_patch bed.md beds.md old.md plan.md',
      preview: { type: 'file-changes', files },
    })
    .waits(4000)
    .answers('allow')
    .starts(2)
    .ends('Added plan.md: +1 -0 lines.', 'completed', 2, { type: 'file-changes', files })
    .endsStep()
    .step()
    .says(['Done', ' as asked.'])
    .replies()
    .endsStep()
    .endsTurn();
}

/** One autonomous turn of twenty steps, most of which read a file; the reply of the last is cut by a crash and closed afterwards. */
function twentySteps(): LogBuilder {
  const log = new LogBuilder().session().asks('Count the leaves in every bed.').turn();
  for (let step = 1; step <= 19; step += 1) {
    log
      .step()
      .says(['Bed ', `${step}`, ' comes', ' next.'])
      .announces('bash')
      .replies(
        step % 5 === 0 ? null : { input: 1000 + step, output: 20, cacheRead: null, cacheWrite: null, reasoning: null },
      );
    log
      .requests(
        'bash',
        { command: `count bed-${step}` },
        { title: 'Run', kind: 'command', target: `count bed-${step}` },
      )
      .starts()
      .prints(`bed-${step}: `)
      .prints(`${step * 7} leaves\n`)
      .ends(`bed-${step}: ${step * 7} leaves`)
      .endsStep()
      .add({ type: 'context.measured', used: 1000 + step * 60, limit: null });
    if (step === 7) log.asks('And the moss?', 'next-step');
    if (step === 12)
      log.add({ type: 'compaction.started', trigger: 'threshold' }).add({
        type: 'compaction.ended',
        outcome: 'completed',
        summary: 'Beds 1 to 10 were counted.',
        firstKeptSeq: 100,
        before: 1720,
        after: 900,
      });
  }
  return log
    .step()
    .says(['In all there are', ' 1330 lea'], 'text', 'open')
    .add({ type: 'warning.raised', code: 'interrupted', message: 'Alcove was ended while a reply was coming.' })
    .add({ type: 'part.ended', partId: `prt_${log.conversation.counts.parts}` as never })
    .endsStep('interrupted')
    .endsTurn('interrupted');
}

/** A turn that is checked twice, and three jobs: one that ends while the agent rests, one that a person stops, one that a crash interrupts. */
function backgroundJobs(): LogBuilder {
  const run = (log: LogBuilder, command: string) =>
    log
      .requests('bash', { command, background: true }, { title: 'Run', kind: 'command', target: command })
      .starts()
      .add({
        type: 'job.started',
        jobId: jobId(log.conversation.counts.jobs + 1),
        callId: callId(log.conversation.counts.calls),
        title: command,
      })
      .ends(`Runs in the background as job_${log.conversation.counts.jobs}.`);
  const log = new LogBuilder().session().asks('Water while I read.').turn().step().replies();
  for (const command of ['water ferns', 'watch moss', 'warm greenhouse']) run(log, command);
  return log
    .endsStep()
    .step()
    .says(['They run.'])
    .replies()
    .endsStep()
    .add({ type: 'check.started', turnId: log.turnId, title: 'weed --check' })
    .add({ type: 'check.ended', turnId: log.turnId, outcome: 'failed', text: 'Two weeds.\n[Exit code 2.]' })
    .step()
    .says(['Weeded.'])
    .replies()
    .endsStep()
    .add({ type: 'check.started', turnId: log.turnId, title: 'weed --check' })
    .add({ type: 'check.ended', turnId: log.turnId, outcome: 'completed', text: '[Exit code 0.]' })
    .endsTurn()
    .waits(60_000)
    .add({ type: 'job.ended', jobId: jobId(1), outcome: 'failed', exitCode: 3, signal: null, outputBytes: 42 })
    .add({
      type: 'job.ended',
      jobId: jobId(2),
      outcome: 'aborted',
      exitCode: null,
      signal: 'SIGTERM',
      outputBytes: 0,
      by: "Ada's laptop",
    })
    .asks('Well?')
    .turn()
    .step()
    .says(['The ', 'ferns'], 'text', 'open')
    .add({ type: 'job.ended', jobId: jobId(3), outcome: 'interrupted', exitCode: null, signal: null })
    .add({ type: 'part.ended', partId: `prt_${log.conversation.counts.parts}` as never })
    .endsStep('interrupted')
    .endsTurn('interrupted');
}

export const goldenLogs: Readonly<Record<string, () => LogBuilder>> = {
  'tools-and-approval': toolsAndApproval,
  'steered-paused-aborted': steeredPausedAborted,
  'twenty-steps': twentySteps,
  'patch-and-pictures': patchAndPictures,
  'background-jobs': backgroundJobs,
};
