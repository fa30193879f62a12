/** The agent with the tools that it really has. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { findMarked } from '../base/process-table.ts';
import { FileQueue } from '../tools/file-queue.ts';
import { builtInTools } from '../tools/registry.ts';
import { agentOn, allCalls, calls, ended, says, textOfCall, type AgentSetup } from '../testing/agent-on.ts';
import { sessionWith } from '../testing/session-with.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { sessionIdOf } from '../testing/temporary-home.ts';

const auto: AgentSetup['events'] = [{ type: 'session.configured', mode: 'auto' }];

function project(): string {
  const folder = join(temporaryFolder(), 'garden');
  mkdirSync(folder);
  writeFileSync(join(folder, 'notes.md'), 'Roses\n');
  return folder;
}

const on = (folder: string, script: Parameters<typeof agentOn>[0], setup: AgentSetup = {}) =>
  agentOn(script, { folder, tools: builtInTools(new FileQueue()), ...setup });

const outcomes = (conversation: Conversation) => allCalls(conversation).map(({ tool, outcome }) => [tool, outcome]);

test('PM1 a plan changes nothing through any tool, even where the model calls what it was not offered', async () => {
  const folder = project();
  const made = await on(
    folder,
    [
      calls(
        ['write', { path: 'notes.md', content: 'x' }],
        ['write', { path: 'new.md', content: 'x' }],
        ['bash', { command: 'echo x > notes.md' }],
        ['bash', { command: 'ls' }],
        ['read', { path: 'notes.md' }],
      ),
      says('the plan'),
    ],
    { events: [{ type: 'session.configured', mode: 'plan' }] },
  );
  await made.submit('go');
  const conversation = await made.until(ended());
  expect(outcomes(conversation)).toEqual([
    ['write', 'denied'],
    ['write', 'denied'],
    ['bash', 'denied'],
    ['bash', 'completed'],
    ['read', 'completed'],
  ]);
  expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe('Roses\n');
});

test('a change asks with what it would change, and after it was allowed is done and known in the turn (PM2)', async () => {
  const folder = project();
  const made = await on(folder, [
    calls(['read', { path: 'notes.md' }]),
    calls(['write', { path: 'notes.md', content: 'Ferns\n' }]),
    says('done'),
  ]);
  await made.submit('go');
  const { approvals } = await made.until((now) => now.approvals.length === 1);
  expect(approvals[0]).toMatchObject({
    tool: 'write',
    target: 'notes.md',
    preview: { type: 'file-change', path: 'notes.md' },
  });
  expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe('Roses\n');
  await made.agent.answer(
    { approvalId: approvals[0]?.approvalId as never, decision: 'allow', scope: 'once', by: 'me' },
    made.ids.mark(),
  );
  const conversation = await made.until(ended());
  expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe('Ferns\n');
  expect(conversation.turns[0]?.changed).toEqual([{ path: 'notes.md', added: 1, removed: 1 }]);
});

test('two calls on one file of one reply both apply, in order', async () => {
  const folder = project();
  const made = await on(
    folder,
    [
      calls(['read', { path: 'notes.md' }]),
      calls(['bash', { command: 'echo Ferns >> notes.md' }], ['bash', { command: 'echo Moss >> notes.md' }]),
      says('done'),
    ],
    { events: auto },
  );
  await made.submit('go');
  expect(outcomes(await made.until(ended()))).toEqual([
    ['read', 'completed'],
    ['bash', 'completed'],
    ['bash', 'completed'],
  ]);
  expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe('Roses\nFerns\nMoss\n');
});

test('RT14 abort in a command leaves no process of it, and the model is told what it had printed', async () => {
  const made = await on(
    project(),
    [
      calls(['bash', { command: 'echo begun; sleep 60 & sleep 61' }], ['bash', { command: 'echo never' }]),
      says('after'),
    ],
    { events: auto },
  );
  await made.submit('go');
  await made.until((now) => allCalls(now)[0]?.output.head === 'begun\n');
  const began = performance.now();
  await made.agent.abort(made.ids.mark());
  expect(performance.now() - began).toBeLessThan(5000);
  const { conversation } = made.session;
  expect(outcomes(conversation)).toEqual([
    ['bash', 'interrupted'],
    ['bash', 'skipped'],
  ]);
  expect(textOfCall(allCalls(conversation)[0])).toContain('begun');
  expect(await findMarked(sessionIdOf(1))).toEqual([]);
});

test('RT23 closing in mid-command leaves no process, closes the call as interrupted, and what was left in the background is ended too', async () => {
  const made = await on(
    project(),
    [
      calls(['bash', { command: 'setsid -f sleep 60 </dev/null >/dev/null 2>&1; echo left' }]),
      calls(['bash', { command: 'echo begun; sleep 60' }]),
    ],
    { events: auto },
  );
  await made.submit('go');
  await made.until((now) => allCalls(now)[1]?.output.head === 'begun\n');
  expect((await findMarked(sessionIdOf(1))).length).toBeGreaterThan(1);
  await made.agent.close();
  expect(await findMarked(sessionIdOf(1))).toEqual([]);
  expect(outcomes(made.session.conversation)).toEqual([
    ['bash', 'completed'],
    ['bash', 'interrupted'],
  ]);
  expect(made.session.conversation.turns[0]?.outcome).toBe('interrupted');
});

test("Alcove's home is refused in every mode (TL29)", async () => {
  const { home } = await sessionWith();
  const inside = join(home.home, 'x');
  const made = await on(
    project(),
    [
      calls(
        ['write', { path: inside, content: 'x' }],
        ['read', { path: inside }],
        ['bash', { command: `echo x > ${inside}` }],
      ),
      says('x'),
    ],
    { events: auto, home, number: 2 },
  );
  await made.submit('go');
  const conversation = await made.until((now) => ended()(now) || now.approvals.length > 0);
  expect(outcomes(conversation).slice(0, 2)).toEqual([
    ['write', 'denied'],
    ['read', 'denied'],
  ]);
  expect(outcomes(conversation)[2]?.[1]).not.toBe('completed');
  expect(existsSync(inside)).toBe(false);
});

test('PM17 TL29 what was allowed for a file of the project is asked again where its name leads out of it by then', async () => {
  const folder = project();
  const outside = join(temporaryFolder(), 'outside.md');
  writeFileSync(outside, 'not yours\n');
  const made = await on(folder, [
    calls(['bash', { command: 'echo first' }], ['write', { path: 'notes.md', content: 'Ferns\n' }]),
    says('done'),
  ]);
  await made.submit('go');
  const asked = await made.until((now) => now.approvals.length === 1);
  await made.agent.answer(
    { approvalId: asked.approvals[0]!.approvalId, decision: 'allow', scope: 'once', by: 'test' },
    made.ids.mark(),
  );
  const second = await made.until((now) => now.approvals[0]?.tool === 'write');
  expect(second.approvals[0]).toMatchObject({ caution: false });
  rmSync(join(folder, 'notes.md'));
  symlinkSync(outside, join(folder, 'notes.md'));
  await made.agent.answer(
    { approvalId: second.approvals[0]!.approvalId, decision: 'allow', scope: 'once', by: 'test' },
    made.ids.mark(),
  );
  const again = await made.until((now) => now.approvals.length === 1 && now.counts.approvals === 3);
  expect(again.approvals[0]).toMatchObject({ tool: 'write', caution: true });
  expect(readFileSync(outside, 'utf8')).toBe('not yours\n');
});

test('changed arguments over the limit are refused by name, and the request stays open (RT28)', async () => {
  const made = await on(project(), [calls(['bash', { command: 'echo first' }]), says('done')]);
  await made.submit('go');
  const { approvals } = await made.until((now) => now.approvals.length === 1);
  const answer = made.agent.answer(
    {
      approvalId: approvals[0]!.approvalId,
      decision: 'allow',
      scope: 'once',
      by: 'test',
      arguments: { command: 'x'.repeat(300_000) },
    },
    made.ids.mark(),
  );
  await expect(answer).rejects.toMatchObject({ code: 'too_large' });
  expect(made.agent.conversation.approvals).toHaveLength(1);
});
