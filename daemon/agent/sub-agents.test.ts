import { expect, it } from 'vitest';
import type { SessionSummary } from '#protocol/commands/session-values.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import { maxAgentDepth, maxParallelSubAgents, subAgentTokens } from '../base/limits.ts';
import type { HomePaths } from '../base/files.ts';
import type { ModelRequest } from '../llm/item.ts';
import type { Action, Reply } from '../llm/scripted/scripted.ts';
import { allCalls, ended, fakeTool, says, textOfCall } from '../testing/agent-on.ts';
import { agentsIn } from '../testing/agents-in.ts';
import { until } from '../testing/session-with.ts';
import { sessionIdOf, temporaryHome } from '../testing/temporary-home.ts';
import { taskTool } from '../tools/work/task.ts';
import { proposePlanTool } from '../tools/work/propose-plan.ts';
import { askUserTool } from '../tools/work/ask-user.ts';
import type { Agents } from './agents.ts';
import type { Agent } from './agent.ts';

const task = (prompt: string, name = prompt): Action => ({
  type: 'call',
  tool: 'task',
  arguments: { description: name, prompt },
});
const call = (tool: string): Action => ({ type: 'call', tool, arguments: {} });
const spends = (input: number, output: number): Action => ({
  type: 'usage',
  usage: { input, output, cacheRead: null, cacheWrite: null, reasoning: null },
});

/** What an agent is told and how far it is: the script of each is chosen by its first input. */
function byInput(scripts: Record<string, Reply[]>) {
  return (request: ModelRequest): Reply => {
    const first = request.items.find((item) => item.type === 'person');
    const text = first?.type === 'person' && first.parts[0]?.type === 'text' ? first.parts[0].text : '';
    const replies = request.items.filter((item) => item.type === 'reply').length;
    return scripts[text]?.[replies] ?? says('nothing foreseen');
  };
}

async function setUp(scripts: Record<string, Reply[]>, more: Parameters<typeof agentsIn>[2] = {}, home?: HomePaths) {
  const made = await agentsIn(home ?? (await temporaryHome()), byInput(scripts), {
    tools: [taskTool, askUserTool, proposePlanTool, fakeTool('change', { effect: 'change' }), fakeTool('look')],
    ...more,
  });
  return made;
}

function gate<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve: (value: Value) => resolve(value) };
}

const root = sessionIdOf(1);
async function childOf(agents: Agents, parent: Agent, place = 0): Promise<Agent> {
  const now = await until(parent.session, (c) => (allCalls(c)[place]?.child ?? null) !== null);
  return agents.agent(allCalls(now)[place]?.child?.sessionId as SessionId);
}

it('OR8: a task is worked on in a session of its own, and its last reply is the result', async () => {
  const { agents, ids, request, rows, told, model } = await setUp({
    go: [[task('look around', 'Look')], says('So it is.')],
    'look around': [
      [call('look'), spends(100, 10)],
      [...says('All is moss.'), spends(50, 5)],
    ],
  });
  await agents.create(request(1, 'go'), ids.mark());
  const parent = await agents.agent(root);
  const after = await until(parent.session, ended());
  const [made] = allCalls(after);
  expect(textOfCall(made)).toBe('All is moss.');
  const child = await childOf(agents, parent);
  expect(child.conversation.session).toMatchObject({
    spawned: { sessionId: root, callId: 'cal_1', agent: 'Look', depth: 1 },
    title: 'Look',
  });
  // Counted in the parent's totals, apart from its own.
  expect(after.delegated.usage).toMatchObject({ input: 150, output: 15, steps: 2 });
  expect(after.usage.input).toBe(0);
  // Not in the list, but told, so that it can be looked at.
  expect(rows().map((row) => row.sessionId)).toEqual([root]);
  expect(told.find((row) => row.spawned !== undefined)?.spawned).toMatchObject({ sessionId: root, agent: 'Look' });
  const offered = model.requests.map((one) => one.tools.map((tool) => tool.name));
  expect(offered[1]).toContain('task');
  expect(offered[1]).not.toContain('propose_plan');
});

it('OR8: tasks side by side overlap, as many as the limit says', async () => {
  const many = maxParallelSubAgents + 1;
  const names = Array.from({ length: many }, (_, n) => `part ${n}`);
  let working = 0;
  let most = 0;
  const all = gate<undefined>();
  const meet = fakeTool('meet', {
    run: async () => {
      working += 1;
      most = Math.max(most, working);
      if (working === maxParallelSubAgents) all.resolve(undefined);
      await all.promise;
      working -= 1;
      return 'met';
    },
  });
  const { agents, ids, request } = await setUp(
    {
      go: [names.map((name) => task(name)), says('Done.')],
      ...Object.fromEntries(names.map((name) => [name, [[call('meet')], says(`${name} done`)]])),
    },
    { tools: [taskTool, meet] },
  );
  await agents.create(request(1, 'go'), ids.mark());
  const after = await until((await agents.agent(root)).session, ended());
  expect(most).toBe(maxParallelSubAgents);
  expect(allCalls(after).map(textOfCall)).toEqual(names.map((name) => `${name} done`));
});

it('OR8: a sub-agent that used up its tokens is stopped, and its work so far is the result, with a notice', async () => {
  const { agents, ids, request } = await setUp({
    go: [[task('dig')], says('Enough.')],
    dig: [
      [...says('Found a root.'), call('look'), spends(subAgentTokens - 1, 0)],
      [...says('And a stone.'), call('look'), spends(1, 0)],
    ],
  });
  await agents.create(request(1, 'go'), ids.mark());
  const after = await until((await agents.agent(root)).session, ended());
  const [made] = allCalls(after);
  expect(made?.outcome).toBe('completed');
  expect(textOfCall(made)).toBe(
    `[The sub-agent used up its ${subAgentTokens} tokens and was stopped.] Its work so far:\n\nFound a root.\n\nAnd a stone.`,
  );
});

it('US2 OR8: what a sub-agent two deep asks stands in the row of the root, names it, and is answered in its own session', async () => {
  const waits = gate<SessionSummary>();
  const rests = gate<SessionSummary>();
  const changed = (row: SessionSummary) => {
    if (row.sessionId === root && row.requests.length > 0) waits.resolve(row);
    if (row.sessionId === root && row.state === 'idle' && row.lastOutcome !== null) rests.resolve(row);
  };
  const { agents, ids, request } = await setUp(
    {
      go: [[task('middle', 'Middle')], says('All done.')],
      middle: [[task('deep', 'Deep')], says('Deep did it.')],
      deep: [[call('change')], says('Changed.')],
    },
    { changed },
  );
  await agents.create(request(1, 'go'), ids.mark());
  const row = await waits.promise;
  expect(row).toMatchObject({ state: 'waiting', requests: [{ approvalId: 'apr_1', tool: 'change', agent: 'Deep' }] });
  const [asked] = row.requests;
  const deep = await agents.agent(asked?.sessionId as SessionId);
  await deep.answer({ approvalId: asked!.approvalId, decision: 'allow', scope: 'session', by: 'Pixel' }, ids.mark());
  const after = await until((await agents.agent(root)).session, ended());
  expect(textOfCall(allCalls(after)[0])).toBe('Deep did it.');
  expect(await rests.promise).toMatchObject({ state: 'idle', requests: [] });
  // The grant is the sub-agent's own.
  expect(after.grants).toEqual([]);
  expect(deep.conversation.grants).toHaveLength(1);
});

it('OR8: deeper than the limit there is no tool for it, and a call all the same is told', async () => {
  const level = (n: number): Record<string, Reply[]> =>
    n > maxAgentDepth + 1 ? {} : { [`level ${n}`]: [[task(`level ${n + 1}`)], says(`up ${n}`)], ...level(n + 1) };
  const { agents, ids, request, model } = await setUp(level(0));
  await agents.create(request(1, 'level 0'), ids.mark());
  await until((await agents.agent(root)).session, ended());
  const deepest = model.requests.findLast((one) => JSON.stringify(one.items).includes(`"level ${maxAgentDepth}"`));
  expect(deepest?.tools.map((tool) => tool.name)).not.toContain('task');
  expect(model.requests.some((one) => JSON.stringify(one.items[0]).includes(`"level ${maxAgentDepth + 1}"`))).toBe(
    false,
  );
});

it('RT14 OR8: an abort ends the sub-agents first, and every call has one end', async () => {
  const { agents, ids, request } = await setUp({
    go: [[task('a'), task('b')]],
    a: [[{ type: 'hang' }]],
    b: [[call('change')]],
  });
  await agents.create(request(1, 'go'), ids.mark());
  const parent = await agents.agent(root);
  const a = await childOf(agents, parent, 0);
  const b = await childOf(agents, parent, 1);
  await until(b.session, (c) => c.approvals.length === 1);
  await parent.abort(ids.mark());
  expect(parent.conversation.lastOutcome).toBe('aborted');
  expect(allCalls(parent.conversation).map((one) => one.outcome)).toEqual(['interrupted', 'interrupted']);
  expect([a.conversation, b.conversation].map((one) => [one.lastOutcome, one.active, one.approvals])).toEqual([
    ['aborted', null, []],
    ['aborted', null, []],
  ]);
  expect(parent.conversation.anomalies).toEqual([]);
});

it('PM1 OR8: a sub-agent never may do more than its parent, also where the parent is held back later', async () => {
  const { agents, ids, request, model } = await setUp(
    {
      go: [[task('work')], says('ok')],
      work: [[call('look')], [call('change')], says('tried')],
    },
    { tools: [taskTool, fakeTool('change', { effect: 'change' }), fakeTool('look')] },
  );
  await agents.create({ ...request(1, 'go'), mode: 'plan' as const }, ids.mark());
  const parent = await agents.agent(root);
  await until(parent.session, ended());
  const child = await childOf(agents, parent);
  expect(child.conversation.settings.mode).toBe('plan');
  expect(allCalls(child.conversation).map((one) => one.outcome)).toEqual(['completed', 'denied']);
  await child.configure({ mode: 'auto' }, ids.mark());
  await child.submit({ target: 'next-turn', parts: [{ type: 'text', text: 'again' }], origin: 'person' }, ids.mark());
  await until(child.session, ended(2));
  expect(model.requests.at(-1)?.tools.map((tool) => tool.name)).toEqual(['task', 'look']);
});

it('RT25 OR8: a sub-agent that waits rests over a restart, its call with it; the answer takes both on', async () => {
  const home = await temporaryHome();
  const scripts = { go: [[task('work')], says('All done.')], work: [[call('change')], says('Changed.')] };
  const before = await setUp(scripts, {}, home);
  await before.agents.create(before.request(1, 'go'), before.ids.mark());
  const child = await childOf(before.agents, await before.agents.agent(root));
  await until(child.session, (c) => c.approvals.length === 1);
  const childId = child.conversation.session?.sessionId as SessionId;
  await before.close();

  const after = await setUp(scripts, {}, home);
  await after.agents.start();
  const parent = await after.agents.agent(root);
  expect(parent.state).toBe('paused');
  expect(allCalls(parent.conversation).map((one) => one.state)).toEqual(['running']);
  const again = await after.agents.agent(childId);
  await again.answer(
    { approvalId: again.conversation.approvals[0]!.approvalId, decision: 'allow', scope: 'once', by: 'x' },
    after.ids.mark(),
  );
  const done = await until(parent.session, ended());
  expect(textOfCall(allCalls(done)[0])).toBe('Changed.');
  expect(done.lastOutcome).toBe('completed');
});

it('RT25 OR8: an answer to a sub-agent that nobody has opened since takes its parent on too', async () => {
  const home = await temporaryHome();
  const scripts = { go: [[task('work')], says('All done.')], work: [[call('change')], says('Changed.')] };
  const before = await setUp(scripts, {}, home);
  await before.agents.create(before.request(1, 'go'), before.ids.mark());
  const child = await childOf(before.agents, await before.agents.agent(root));
  await until(child.session, (c) => c.approvals.length === 1);
  const childId = child.conversation.session?.sessionId as SessionId;
  await before.close();

  const after = await setUp(scripts, {}, home);
  await after.agents.start();
  expect(after.catalog.unfinished().find((row) => row.sessionId === root)).toMatchObject({
    state: 'waiting',
    requests: [{ sessionId: childId, agent: 'work' }],
  });
  const again = await after.agents.agent(childId);
  const [asked] = again.conversation.approvals;
  await again.answer({ approvalId: asked!.approvalId, decision: 'deny', scope: 'once', by: 'x' }, after.ids.mark());
  const parent = await after.agents.agent(root);
  expect((await until(parent.session, ended())).lastOutcome).toBe('completed');
});

it('PR24: a sub-agent takes the model that the settings name, and is billed apart', async () => {
  const { agents, ids, request } = await setUp(
    { go: [[task('work')], says('Done.')], work: [[...says('Worked.'), spends(10, 5)]] },
    { subAgentModel: () => 'scripted/cheap' },
  );
  await agents.create(request(1, 'go'), ids.mark());
  const parent = await agents.agent(root);
  const after = await until(parent.session, ended());
  const child = await childOf(agents, parent);
  expect(child.conversation.turns[0]?.steps.map((step) => step.model)).toEqual(['scripted/cheap']);
  expect(after.turns[0]?.steps.map((step) => step.model)).toEqual(['scripted/demo', 'scripted/demo']);
  expect(after.delegated).toMatchObject({ usage: { input: 10, output: 5 }, unknownCost: 1 });
});

it('RT4 OR8: a sub-agent that moved at the end closes the call that waited for it, and nothing runs again', async () => {
  const home = await temporaryHome();
  const scripts = { go: [[task('work')]], work: [[{ type: 'hang' as const }]] };
  const before = await setUp(scripts, {}, home);
  await before.agents.create(before.request(1, 'go'), before.ids.mark());
  const child = await childOf(before.agents, await before.agents.agent(root));
  await until(child.session, (c) => c.active?.step != null);
  await before.close();
  const after = await setUp(scripts, {}, home);
  await after.agents.start();
  const parent = await after.agents.agent(root);
  expect(parent.conversation.active).toBeNull();
  expect(allCalls(await hydrated(parent)).map((one) => one.outcome)).toEqual(['interrupted']);
  expect(after.model.requests).toEqual([]);
});

it('RT13 OR8: a pause holds the sub-agents at their next step, and resume takes all on', async () => {
  const held = gate<undefined>();
  const slow = fakeTool('slow', { run: async () => (await held.promise, 'slow done') });
  const { agents, ids, request } = await setUp(
    { go: [[task('work')], says('All done.')], work: [[call('slow')], says('Worked.')] },
    { tools: [taskTool, slow] },
  );
  await agents.create(request(1, 'go'), ids.mark());
  const parent = await agents.agent(root);
  const child = await childOf(agents, parent);
  await until(child.session, (c) => allCalls(c)[0]?.state === 'running');
  await parent.pause(ids.mark());
  held.resolve(undefined);
  await until(child.session, (c) => c.active?.paused === true);
  await parent.resume(ids.mark());
  const done = await until(parent.session, ended());
  expect(textOfCall(allCalls(done)[0])).toBe('Worked.');
});

async function hydrated(agent: Agent) {
  await agent.session.hydrate();
  return agent.conversation;
}
