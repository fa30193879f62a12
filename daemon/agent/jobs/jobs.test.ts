/** Jobs of an agent with the real bash, its model scripted. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { maxEndedJobs } from '#protocol/conversation/jobs.ts';
import type { CallId } from '#protocol/values/ids.ts';
import { maxRunningJobs } from '../../base/limits.ts';
import { findMarked } from '../../base/process-table.ts';
import type { ModelRequest } from '../../llm/item.ts';
import { agentOn, allCalls, calls, ended, says, textOfCall } from '../../testing/agent-on.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { sessionIdOf } from '../../testing/temporary-home.ts';
import { textOf, ToolScratch } from '../../testing/tool-environment.ts';
import { bashTool } from '../../tools/bash.ts';
import { FileQueue } from '../../tools/file-queue.ts';
import { builtInTools } from '../../tools/registry.ts';
import { forkSession } from '../../session/fork.ts';
import { History } from '../../session/history.ts';
import { placeInHome } from '../../session/place.ts';
import { Jobs } from './jobs.ts';

const on = (script: Parameters<typeof agentOn>[0], folder = temporaryFolder()) =>
  agentOn(script, {
    folder,
    tools: builtInTools(new FileQueue()),
    events: [{ type: 'session.configured', mode: 'auto' }],
  });

const inBackground = (command: string) => ['bash', { command, background: 'true' }] as [string, Record<string, string>];
const job = (action: string, more: Record<string, string | number> = {}) =>
  ['job', { action, ...more }] as [string, Record<string, string | number>];
const told = (conversation: Conversation) => allCalls(conversation).map(textOfCall);
const states = ({ jobs }: Conversation) => jobs.map(({ jobId, end }) => [jobId, end?.outcome ?? 'runs']);
const ends = (number: number) => (conversation: Conversation) =>
  conversation.jobs.find(({ jobId }) => jobId === `job_${number}`)?.end != null;
const words = (request: ModelRequest | undefined) =>
  (request?.items ?? []).flatMap((item) =>
    item.type === 'person' ? item.parts.map((part) => (part.type === 'text' ? part.text : part.type)) : [],
  );
const marked = () => findMarked(sessionIdOf(1));

describe('OR9: background jobs', () => {
  test('a call returns at once with an id, the turn ends while the job runs, and its end is told with the next step', async () => {
    const folder = temporaryFolder();
    const made = await on(
      [
        calls(inBackground('until [ -e go ]; do sleep 0.05; done; echo grown; exit 3')),
        says('It runs.'),
        says('Seen.'),
      ],
      folder,
    );
    await made.submit('Let it grow.');
    const rests = await made.until(ended());
    expect(told(rests)).toEqual([
      'Runs in the background as job_1. The tool job reads what it prints, waits for it and stops it; you are told when it has ended.',
    ]);
    expect(states(rests)).toEqual([['job_1', 'runs']]);
    expect(await marked()).not.toEqual([]);

    writeFileSync(join(folder, 'go'), '');
    const after = await made.until(ends(1));
    expect(after.jobs[0]).toMatchObject({
      title: expect.stringContaining('grown') as string,
      end: { outcome: 'failed', exitCode: 3, signal: null, outputBytes: 6, by: null },
    });
    expect(after.counts.turns).toBe(1);
    await made.submit('And?');
    await made.until(ended(2));
    expect(words(made.model.requests.at(-1)).slice(1)).toEqual([
      expect.stringMatching(
        /^\[The background job job_1 ended with exit code 3 after \d+ s: until .*The tool job reads/,
      ),
      'And?',
    ]);
    expect(await marked()).toEqual([]);
  });

  test('the agent reads what is new, waits for the end, and the tool is offered from the first job on', async () => {
    const folder = temporaryFolder();
    const made = await on(
      [
        calls(inBackground('echo one; until [ -e go ]; do sleep 0.05; done; echo two')),
        calls(job('read', { job: 'job_1', wait: '0.5' })),
        calls(['write', { path: 'go', content: 'x' }], job('read', { job: 1, wait: 20 }), job('list')),
        says('Done.'),
      ],
      folder,
    );
    await made.submit('go');
    const [, first, , second, list] = told(await made.until(ended()));
    expect(first).toMatch(/^one\n\[job_1: runs for \d+ s \(echo one;/);
    expect(second).toMatch(/^two\n\[job_1: ended with exit code 0 \(echo one;/);
    expect(list).toMatch(/^job_1: ended with exit code 0/);
    const offered = made.model.requests.map(({ tools }) => tools.some(({ name }) => name === 'job'));
    expect(offered).toEqual([false, true, true, true]);
  });

  test('stopping one ends all that it started, is told as its end, and an id is never used again', async () => {
    const made = await on([
      calls(inBackground('(setsid sleep 300 & sleep 301) & wait')),
      calls(job('stop', { job: 'job_1' }), job('stop', { job: 'job_1' }), job('stop', { job: 'job_7' })),
      calls(inBackground('true')),
      says('Done.'),
    ]);
    await made.submit('go');
    const conversation = await made.until((now) => ended()(now) && ends(2)(now));
    expect(told(conversation).slice(1, 4)).toEqual([
      'Stopped job_1, with all it started.',
      expect.stringMatching(/^Nothing to stop: job_1: was stopped by the agent/),
      expect.stringMatching(/^There is no job job_7 in this session. job_1: was stopped/),
    ]);
    expect(states(conversation)).toEqual([
      ['job_1', 'aborted'],
      ['job_2', 'completed'],
    ]);
    expect(await marked()).toEqual([]);
    expect(words(made.model.requests[2])).toEqual(['go']);
  });

  test('a person stops one by a command, once; a job that has ended, or is not there, is said to be so', async () => {
    const made = await on([calls(inBackground('sleep 300')), says('It runs.')]);
    await made.submit('go');
    await made.until(ended());
    const mark = made.ids.mark();
    const seq = await made.agent.stopJob('job_1', 'phone', mark);
    expect(made.agent.conversation.jobs[0]?.end).toMatchObject({ outcome: 'aborted', by: 'phone', signal: 'SIGTERM' });
    expect(await made.agent.stopJob('job_1', 'phone', mark)).toBe(seq);
    await expect(made.agent.stopJob('job_1', 'phone', made.ids.mark())).rejects.toMatchObject({ code: 'conflict' });
    await expect(made.agent.stopJob('job_9', 'phone', made.ids.mark())).rejects.toMatchObject({ code: 'not_found' });
    expect(await marked()).toEqual([]);
  });

  test('an abort of the turn leaves jobs alone; the end of Alcove ends them as interrupted, and what they printed is kept', async () => {
    const made = await on([
      calls(inBackground('echo so far; sleep 300')),
      calls(['bash', { command: 'sleep 302' }]),
      says('later'),
      calls(job('read', { job: 'job_1' })),
      says('read'),
    ]);
    await made.submit('go');
    await made.until((now) =>
      allCalls(now).some((call) => call.state === 'running' && call.display.target === 'sleep 302'),
    );
    await made.agent.abort(made.ids.mark());
    expect(states(made.agent.conversation)).toEqual([['job_1', 'runs']]);
    await expect.poll(() => made.agent.showJob('job_1').text).toBe('so far\n');

    const again = await made.restart();
    expect(await marked()).toEqual([]);
    expect(states(again.agent.conversation)).toEqual([['job_1', 'interrupted']]);
    await again.submit('What was it?');
    await again.until(ended(2));
    await again.submit('Read it.');
    const conversation = await again.until(ended(3));
    expect(words(again.model.requests.at(-3)).join('\n')).toMatch(
      /The background job job_1 was interrupted: Alcove stopped, and ended it; it was not started again/,
    );
    expect(told(conversation).at(-1)).toMatch(/^so far\n\[job_1: was interrupted/);
  });

  test('RT28: one job more than maxRunningJobs is refused by that name, and nothing of it runs', async () => {
    const made = await on([
      calls(...Array.from({ length: maxRunningJobs + 1 }, (_, at) => inBackground(`touch ran-${at}; sleep 300`))),
      says('ok'),
    ]);
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.jobs).toHaveLength(maxRunningJobs);
    expect(told(conversation).at(-1)).toMatch(
      /16 background jobs run already \(maxRunningJobs\), so this one was not started/,
    );
    await made.agent.close();
    const { folder } = conversation.session as { folder: string };
    expect(existsSync(join(folder, `ran-${maxRunningJobs}`))).toBe(false);
  });

  test('a time limit that is named ends a job, and says so', async () => {
    const made = await on([calls(['bash', { command: 'sleep 300', background: 'true', timeout: '0.3' }]), says('ok')]);
    await made.submit('go');
    expect((await made.until(ends(1))).jobs[0]?.end).toMatchObject({ outcome: 'failed', timedOut: true });
  });

  test('where its start cannot be written, nothing of it runs', async () => {
    const scratch = new ToolScratch();
    onTestFinished(() => scratch.close());
    const jobs = new Jobs({
      conversation: () => emptyConversation,
      transact: () => Promise.reject(new Error('the disk is full')),
      makeSpills: () => Promise.resolve(),
      spills: scratch.environment.spills,
      now: () => 0,
      fault: () => undefined,
    });
    const call = bashTool.prepare({ command: 'touch ran', background: true });
    if ('problem' in call) throw new Error(call.problem);
    const environment = { ...scratch.environment, jobs: jobs.desk('cal_1' as CallId) };
    const result = await call.execute(environment, new AbortController().signal);
    expect(result).toMatchObject({ outcome: 'failed' });
    expect(textOf(result)).toBe('The command could not be started: the disk is full');
    expect(existsSync(scratch.path('ran'))).toBe(false);
    expect(await findMarked(scratch.mark)).toEqual([]);
  });

  test('a fork has the jobs that had been started, ended as interrupted; those of the original run on', async () => {
    const made = await on([calls(inBackground('sleep 300')), says('It runs.')]);
    await made.submit('go');
    const { seq } = await made.until(ended());
    const history = await History.open(made.place.log);
    const target = { place: placeInHome(made.home, sessionIdOf(2)), sessionId: sessionIdOf(2) };
    const source = { history, sessionId: sessionIdOf(1) };
    const fork = await forkSession(source, seq, target, made.options, made.ids.mark());
    expect(states(fork.conversation)).toEqual([['job_1', 'interrupted']]);
    expect(states(made.agent.conversation)).toEqual([['job_1', 'runs']]);
    await fork.close();
    await history.close();
  });

  test('what falls out of the list takes its file along', async () => {
    const made = await on([
      ...Array.from({ length: maxEndedJobs + 1 }, () => calls(inBackground('echo a'))),
      says('ok'),
    ]);
    await made.submit('go');
    await made.until((now) => ended()(now) && now.jobs.every(({ end }) => end !== null));
    const path = (jobId: string) => join(made.place.spills, `${jobId}.txt`);
    expect(existsSync(path('job_1'))).toBe(false);
    expect(readFileSync(path('job_2'), 'utf8')).toBe('a\n');
  });
});
