import { describe, expect, test } from 'vitest';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { isKnown } from '#protocol/event.ts';
import { fold } from '#protocol/testing/log-builder.ts';
import type { ApprovalId } from '#protocol/values/ids.ts';
import { maxAttempts } from '../base/limits.ts';
import type { Item, ModelRequest } from '../llm/item.ts';
import { scriptedModel, type Action } from '../llm/scripted/scripted.ts';
import { History } from '../session/history.ts';
import {
  agentFor,
  agentOn,
  allCalls,
  calls,
  ended,
  fakeTool,
  says,
  textOfCall,
  type MadeAgent,
} from '../testing/agent-on.ts';
import { FaultyDisk } from '../testing/faulty-disk.ts';
import { queued, sessionWith } from '../testing/session-with.ts';

/** A promise that a test opens, and a count of those who came. */
function gate() {
  let open = () => {};
  let arrive = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  return { opened, open: () => open(), arrived, arrive: () => arrive() };
}

/** A tool that says when it has begun and ends when it is told to, or when it is aborted. */
function heldTool(name: string, options: { deaf?: boolean; effect?: 'read' | 'change' } = {}) {
  const held = gate();
  const tool = fakeTool(name, {
    effect: options.effect ?? 'read',
    run: async (_, environment, signal) => {
      held.arrive();
      environment.output(`${name} has begun\n`);
      const aborted = new Promise<never>((_resolve, reject) => {
        if (options.deaf !== true) signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
      });
      await Promise.race([held.opened, aborted]);
      return `${name} done`;
    },
  });
  return { ...held, tool };
}

const personTexts = (request: ModelRequest | undefined): string[] =>
  (request?.items ?? []).flatMap((item) =>
    item.type === 'person' ? item.parts.map((part) => (part.type === 'text' ? part.text : '<image>')) : [],
  );

/** Some moments of the event loop later, none of which is a turn of its timers. */
async function after(moments: number, act: () => Promise<unknown>): Promise<void> {
  for (let moment = 0; moment < moments; moment += 1) await Promise.resolve();
  await act();
}

/** X1: every call of a reply has exactly one result right behind it, in order. */
function pairing(items: readonly Item[]): string {
  const owed: string[] = [];
  for (const item of items) {
    if (item.type === 'result') {
      const next = owed.shift();
      if (item.callId !== next) return `result ${item.callId} where ${next ?? 'none'} was owed`;
    } else if (owed.length > 0) return `no result for ${owed.join()}`;
    if (item.type === 'reply') for (const piece of item.pieces) if (piece.type === 'tool-call') owed.push(piece.callId);
  }
  return owed.length > 0 ? `no result for ${owed.join()}` : 'valid';
}

async function eventsOf(made: MadeAgent) {
  const history = await History.open(made.place.log);
  try {
    const events = [];
    for await (const { event } of history.stored({ offset: 0, seq: 0 }, 0)) events.push(event);
    return events;
  } finally {
    await history.close();
  }
}

const kindsOf = async (made: MadeAgent) => (await eventsOf(made)).map((event) => event.type);

describe('turns', () => {
  test('a message is answered, and each state of the driver is told (RT12)', async () => {
    const made = await agentOn([says('hello')]);
    await made.submit('hi');
    const conversation = await made.until(ended());
    await made.driver('idle');
    expect(conversation.turns[0]).toMatchObject({ outcome: 'completed', steps: [{ parts: [{ text: 'hello' }] }] });
    expect(made.states).toEqual(['running', 'idle']);
    expect(made.model.requests).toHaveLength(1);
  });

  test('RT11 a message at the very moment a turn ends: none lost, none doubled, never two drivers', async () => {
    const rounds = 1000;
    let open = 0;
    let most = 0;
    let sent = 0;
    let claims = 0;
    const script = () => {
      most = Math.max(most, (open += 1));
      return says('ok');
    };
    const made = await agentOn(script, {
      options: {
        published: (_, events) => {
          if (events.some((event) => event.type === 'step.replied')) open -= 1;
          for (const event of events)
            if (isKnown(event) && event.type === 'input.claimed') claims += event.inputIds.length;
          // One message is under way at a time, sent from within the turn's last writes and some moments later: before the turn's end is
          // decided, after, and between, when nothing else waits.
          const moment = (['step.replied', 'step.ended', 'turn.ended', 'step.ended'] as const)[sent % 4];
          const now = claims === sent && sent < rounds && events.some((event) => event.type === moment);
          if (now) void after(sent % 13, () => Promise.resolve(send()));
        },
      },
    });
    const acknowledged: Promise<number>[] = [];
    const send = () => {
      const number = (sent += 1);
      acknowledged.push(made.submit(`message ${number}`, number % 2 === 0 ? 'next-turn' : 'next-step'));
    };
    send();
    const conversation = await made.until((now) => claims >= rounds && now.active === null);
    await Promise.all(acknowledged);
    const claimed = conversation.turns.flatMap((turn) => turn.steps.flatMap((step) => step.inputs));
    const texts = claimed.map((input) => (input.parts[0]?.type === 'text' ? input.parts[0].text : ''));
    expect(texts.toSorted()).toEqual(Array.from({ length: rounds }, (_, at) => `message ${at + 1}`).toSorted());
    expect(most).toBe(1);
    expect(made.faults).toEqual([]);
    expect(conversation.anomalies).toEqual([]);
  }, 120_000);

  test('RT9 a steer joins the next model call of the running turn, a follow-up waits for a turn of its own; one follow-up a turn', async () => {
    const held = heldTool('look');
    const made = await agentOn([calls('look'), says('steered'), says('second'), says('third')], { tools: [held.tool] });
    await made.submit('first');
    await held.arrived;
    await made.submit('follow-up a');
    await made.submit('steer a', 'next-step');
    await made.submit('follow-up b');
    await made.submit('steer b', 'next-step');
    held.open();
    const conversation = await made.until(ended(3));
    expect(
      conversation.turns.map((turn) => turn.steps.map((step) => step.inputs.map((input) => textOf(input.parts)))),
    ).toEqual([[['first'], ['steer a', 'steer b']], [['follow-up a']], [['follow-up b']]]);
    expect(made.model.requests.map(personTexts)).toEqual([
      ['first'],
      ['first', 'steer a', 'steer b'],
      ['first', 'steer a', 'steer b', 'follow-up a'],
      ['first', 'steer a', 'steer b', 'follow-up a', 'follow-up b'],
    ]);
  });

  test('waiting messages can be edited, moved and withdrawn until they are claimed; then it is said that they were', async () => {
    const held = heldTool('look');
    const made = await agentOn([calls('look'), says('a'), says('b')], { tools: [held.tool] });
    await made.submit('first');
    await held.arrived;
    const { agent, ids } = made;
    const [one, two, three] = [ids.mark(), ids.mark(), ids.mark()];
    for (const [mark, text] of [
      [one, 'one'],
      [two, 'two'],
      [three, 'three'],
    ] as const)
      await agent.submit({ target: 'next-turn', parts: [{ type: 'text', text }], origin: 'person' }, mark);
    await agent.editInput(one.id, [{ type: 'text', text: 'one, edited' }], ids.mark());
    await agent.moveInput(two.id, { target: 'next-step' }, ids.mark());
    await agent.withdrawInput(three.id, ids.mark());
    held.open();
    await made.until(ended(2));
    expect(personTexts(made.model.requests.at(-1))).toEqual(['first', 'two', 'one, edited']);
    await expect(agent.withdrawInput(one.id, ids.mark())).rejects.toMatchObject({ code: 'conflict' });
    await expect(agent.editInput(three.id, [], ids.mark())).rejects.toMatchObject({ code: 'conflict' });
  });

  test('a repeat of a command changes nothing and has the first answer; the same id with other parameters is a conflict', async () => {
    const made = await agentOn([says('a')]);
    const mark = made.ids.mark('one');
    const submit = (command = mark) =>
      made.agent.submit({ target: 'next-turn', parts: [{ type: 'text', text: 'hi' }], origin: 'person' }, command);
    const [first, second] = await Promise.all([submit(), submit()]);
    await made.until(ended());
    expect(await submit()).toBe(first);
    expect(second).toBe(first);
    await expect(submit({ ...mark, digest: 'other' })).rejects.toMatchObject({ code: 'conflict' });
    expect(made.model.requests).toHaveLength(1);
    const old = made.ids.mark();
    made.clock.advance(25 * 60 * 60 * 1000);
    await expect(submit(old)).rejects.toMatchObject({ code: 'stale' });
  });

  test('a message too long for an event stands in a blob and reaches the model whole (RT7)', async () => {
    const made = await agentOn([says('a')]);
    const text = `${'long 🌱 '.repeat(60_000)}end`;
    await made.submit(text);
    await made.until(ended());
    expect(personTexts(made.model.requests[0])).toEqual([text]);
  });

  test('a reply too fast to be written token by token is whole in the log', async () => {
    const words = Array.from({ length: 3000 }, (_, at) => `w${at}🌱 `);
    const made = await agentOn([[{ type: 'say', text: words }]]);
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.turns[0]?.steps[0]?.parts[0]?.text).toBe(words.join(''));
    expect((await kindsOf(made)).filter((kind) => kind === 'part.delta').length).toBeLessThan(1000);
  });

  test('a delta of a megabyte is split at code points, and nothing is lost', async () => {
    const text = 'é🌱'.repeat(300_000);
    const made = await agentOn([[{ type: 'say', text: [text] }]]);
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.turns[0]?.steps[0]?.parts[0]?.text === text).toBe(true);
  });
});

describe('pause', () => {
  test('RT13 takes effect when the call has ended and its result is stored; resume goes on without an added message', async () => {
    const held = heldTool('look');
    const made = await agentOn([calls('look'), says('went on')], { tools: [held.tool] });
    await made.submit('first');
    await held.arrived;
    await made.agent.pause(made.ids.mark());
    expect(made.agent.state).toBe('pausing');
    held.open();
    await made.driver('paused');
    expect(made.session.conversation.active).toMatchObject({
      paused: true,
      step: null,
      steps: [{ calls: [{ outcome: 'completed' }] }],
    });
    expect(made.model.requests).toHaveLength(1);
    await made.agent.resume(made.ids.mark());
    const conversation = await made.until(ended());
    expect(conversation.turns).toHaveLength(1);
    expect(personTexts(made.model.requests[1])).toEqual(['first']);
    await made.driver('idle');
    expect(made.states).toEqual(['running', 'pausing', 'paused', 'running', 'idle']);
  });

  test('RT13 survives a restart; a message waits behind it; resume goes on from the fold alone', async () => {
    const held = heldTool('look');
    const made = await agentOn([calls('look'), says('went on'), says('next')], { tools: [held.tool] });
    await made.submit('first');
    await held.arrived;
    await made.agent.pause(made.ids.mark());
    held.open();
    await made.driver('paused');
    const again = await made.restart();
    expect(again.agent.state).toBe('paused');
    expect(again.session.conversation.warnings).toEqual([]);
    await again.submit('later');
    expect(again.agent.state).toBe('paused');
    await again.agent.resume(again.ids.mark());
    await again.until(ended(2));
    expect(again.model.requests.map(personTexts)).toEqual([['first'], ['first'], ['first', 'later']]);
    expect(again.model.requests.map(({ items }) => pairing(items))).toEqual(['valid', 'valid', 'valid']);
  });

  test('is forgotten where the turn ends by itself, and taken back by resume before its boundary', async () => {
    const held = heldTool('look');
    const made = await agentOn([calls('look'), says('on'), says('b')], { tools: [held.tool] });
    await made.submit('first');
    await held.arrived;
    await made.agent.pause(made.ids.mark());
    await made.agent.resume(made.ids.mark());
    held.open();
    await made.until(ended());
    await made.driver('idle');
    expect(made.states).toEqual(['running', 'pausing', 'running', 'idle']);
    await made.submit('second');
    await made.until((now) => now.active !== null);
    await made.agent.pause(made.ids.mark());
    await made.until(ended(2));
    await made.driver('idle');
  });

  test('a resume that meets the pause as it is written wins: the turn never rests with nobody to go on', async () => {
    for (let round = 0; round < 20; round += 1) {
      const held = heldTool('look');
      const made = await agentOn([calls('look'), says('on')], {
        tools: [held.tool],
        options: {
          published: (_, events) => {
            if (!events.some((event) => event.type === 'step.ended')) return;
            // With another event to be written, its decision stands just before that of the pause.
            if (round % 2 === 0) void made.session.append([{ type: 'todo.replaced', todos: [] }]);
            void after(round % 10, () => made.agent.resume(made.ids.mark()));
          },
        },
      });
      await made.submit('first');
      await held.arrived;
      await made.agent.pause(made.ids.mark());
      held.open();
      await made.driver('idle');
      expect(made.session.conversation.turns[0]?.outcome).toBe('completed');
      await made.agent.close();
    }
  });
});

describe('abort', () => {
  test('RT14 with three calls: what was done keeps its result, what runs and ignores its signal is interrupted within 5 s, what was not started is skipped; the next request is valid', async () => {
    const done = fakeTool('done', { effect: 'change' });
    const deaf = heldTool('deaf', { deaf: true, effect: 'change' });
    const never = fakeTool('never', { effect: 'change' });
    const made = await agentOn([calls('done', 'deaf', 'never'), says('after')], {
      tools: [done, deaf.tool, never],
      events: [{ type: 'session.configured', mode: 'auto' }],
    });
    await made.submit('go');
    await deaf.arrived;
    const began = performance.now();
    await made.agent.abort(made.ids.mark());
    expect(performance.now() - began).toBeLessThan(5000);
    const { conversation } = made.session;
    expect(allCalls(conversation).map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['done', 'completed'],
      ['deaf', 'interrupted'],
      ['never', 'skipped'],
    ]);
    expect(textOfCall(allCalls(conversation)[1])).toContain('deaf has begun');
    expect(conversation.turns[0]?.outcome).toBe('aborted');
    expect(made.agent.state).toBe('idle');
    await made.submit('and now?');
    await made.until(ended(2));
    expect(pairing(made.model.requests[1]?.items ?? [])).toBe('valid');
    deaf.open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(made.faults).toEqual([]);
    expect(made.session.conversation.anomalies).toEqual([]);
  });

  test('of calls that overlap, none writes behind the closing of the turn (RT14)', async () => {
    const quick = heldTool('quick');
    const slow = gate();
    const stubborn = fakeTool('stubborn', {
      run: async (_, __, signal) => {
        slow.arrive();
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        await new Promise((resolve) => setTimeout(resolve, 150));
        return 'done all the same';
      },
    });
    const made = await agentOn([calls('quick', 'stubborn'), says('after')], { tools: [quick.tool, stubborn] });
    await made.submit('go');
    await Promise.all([quick.arrived, slow.arrived]);
    await made.agent.abort(made.ids.mark());
    expect(allCalls(made.session.conversation).map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['quick', 'interrupted'],
      ['stubborn', 'completed'],
    ]);
    expect(made.faults).toEqual([]);
  });

  test('during a reply: what came is kept as text, the usage that came is counted, and nothing of it runs (PR22)', async () => {
    const usage = { input: 5, output: 3, cacheRead: null, cacheWrite: null, reasoning: null };
    const made = await agentOn(
      [[...says('half a'), ...calls('look'), { type: 'usage', usage }, { type: 'hang' }], says('after')],
      {
        tools: [fakeTool('look')],
      },
    );
    await made.submit('go');
    await made.until((now) => (now.active?.step?.parts.length ?? 0) === 2);
    await made.agent.abort(made.ids.mark());
    const { conversation } = made.session;
    expect(conversation.turns[0]).toMatchObject({ outcome: 'aborted', steps: [{ calls: [], outcome: 'aborted' }] });
    expect(conversation.usage).toMatchObject({ input: 5, output: 3, steps: 1, unknownSteps: 0 });
    await made.submit('go on');
    await made.until(ended(2));
    expect(made.model.requests[1]?.items.map((item) => item.type)).toEqual(['person', 'reply', 'person']);
    expect(pairing(made.model.requests[1]?.items ?? [])).toBe('valid');
  });

  test('RT17 during the wait before a repeat it stops at once, and the attempt that was not made is not counted', async () => {
    const busy: Action = { type: 'fail', failure: { code: 'rate_limited', message: 'slower' }, retryAfterMs: 50_000 };
    const made = await agentOn([[busy]]);
    await made.submit('go');
    await made.until((now) => (now.active?.step?.retries.length ?? 0) === 1);
    const began = performance.now();
    await made.agent.abort(made.ids.mark());
    expect(performance.now() - began).toBeLessThan(1000);
    expect(made.session.conversation.turns[0]?.outcome).toBe('aborted');
    expect(made.session.conversation.usage).toMatchObject({ steps: 1, unknownSteps: 1 });
    expect(made.model.requests).toHaveLength(1);
  });

  test('RT25 during an approval it withdraws the request, and an answer says what became of it', async () => {
    const made = await agentOn([calls('change'), says('after')], { tools: [fakeTool('change', { effect: 'change' })] });
    await made.submit('go');
    const { approvals } = await made.until((now) => now.approvals.length === 1);
    await made.agent.abort(made.ids.mark());
    expect(made.session.conversation.approvals).toEqual([]);
    expect(allCalls(made.session.conversation)[0]).toMatchObject({
      outcome: 'skipped',
      approval: { decision: 'withdrawn' },
    });
    const answer = {
      approvalId: approvals[0]?.approvalId as ApprovalId,
      decision: 'allow' as const,
      scope: 'once' as const,
      by: 'me',
    };
    await expect(made.agent.answer(answer, made.ids.mark())).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('stopped the turn') as string,
    });
  });

  test('C07 a steer that waits is back at the head of the queue, and reaches the next request once, in order', async () => {
    const held = heldTool('look');
    const made = await agentOn([calls('look'), says('after'), says('more')], { tools: [held.tool] });
    await made.submit('first');
    await held.arrived;
    await made.submit('steer', 'next-step');
    await made.submit('later');
    await made.agent.abort(made.ids.mark());
    expect(made.session.conversation.inbox.map(({ parts, target }) => [textOf(parts), target])).toEqual([
      ['steer', 'next-step'],
      ['later', 'next-turn'],
    ]);
    expect(made.agent.state).toBe('idle');
    expect(made.model.requests).toHaveLength(1);
    await made.agent.resume(made.ids.mark());
    await made.until(ended(2));
    expect(personTexts(made.model.requests[1])).toEqual(['first', 'steer', 'later']);
    expect(pairing(made.model.requests[1]?.items ?? [])).toBe('valid');
  });

  test('C07 a steer that an abort overtakes as the step is about to begin is in the queue or in the history, never in neither and never in both', async () => {
    for (let round = 0; round < 30; round += 1) {
      let aborted = false;
      const held = heldTool('look');
      const script = (request: ModelRequest) =>
        request.items.length === 1
          ? calls('look')
          : personTexts(request).includes('next')
            ? says('x')
            : [{ type: 'hang' as const }];
      const made = await agentOn(script, {
        tools: [held.tool],
        options: {
          published: (_, events) => {
            const moments = ['tool-call.ended', 'step.ended', 'step.started'] as const;
            if (aborted || !events.some((event) => event.type === moments[round % 3] && event.seq > 12)) return;
            aborted = true;
            void made.agent.abort(made.ids.mark());
          },
        },
      });
      await made.submit('first');
      await held.arrived;
      await made.submit('steer', 'next-step');
      held.open();
      const conversation = await made.until(ended());
      await made.driver('idle');
      const claimed = conversation.turns
        .flatMap((turn) => turn.steps.flatMap((step) => step.inputs))
        .map(({ parts }) => textOf(parts));
      const waiting = conversation.inbox.map(({ parts }) => textOf(parts));
      expect([...claimed, ...waiting]).toEqual(['first', 'steer']);
      await made.submit('next');
      await made.until((now) => now.active === null && now.inbox.length === 0);
      expect(personTexts(made.model.requests.at(-1))).toEqual(['first', 'steer', 'next']);
      await made.agent.close();
    }
  });

  test('twice at once is once; a message that comes meanwhile starts a turn that can be aborted in its turn', async () => {
    const deaf = heldTool('deaf', { deaf: true });
    const made = await agentOn([calls('deaf'), [{ type: 'hang' }]], { tools: [deaf.tool] });
    await made.submit('go');
    await deaf.arrived;
    const aborts = [made.agent.abort(made.ids.mark()), made.agent.abort(made.ids.mark())];
    await made.submit('meanwhile');
    deaf.open();
    await Promise.all(aborts);
    await made.until((now) => now.counts.turns === 2 && now.active?.step?.inputs.length === 1);
    await made.agent.abort(made.ids.mark());
    expect(made.session.conversation.turns.map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted']);
    expect(made.agent.state).toBe('idle');
  });

  test('of a paused turn closes it; of nothing does nothing', async () => {
    const held = heldTool('look');
    const made = await agentOn([calls('look')], { tools: [held.tool] });
    await made.agent.abort(made.ids.mark());
    expect(made.session.seq).toBe(2);
    await made.submit('go');
    await held.arrived;
    await made.agent.pause(made.ids.mark());
    held.open();
    await made.driver('paused');
    await made.agent.abort(made.ids.mark());
    expect(made.session.conversation.turns[0]?.outcome).toBe('aborted');
    expect(made.agent.state).toBe('idle');
  });
});

describe('a provider that fails', () => {
  const broken: Action = {
    type: 'fail',
    failure: { code: 'provider_failed', message: 'the server broke' },
    retryable: false,
  };

  test('RT15 in mid-turn: the turn ends failed with the reason, the log folds, what waits waits, and sending again works', async () => {
    const held = heldTool('look');
    const made = await agentOn([calls('look'), [...says('half'), broken], says('again')], { tools: [held.tool] });
    await made.submit('first');
    await held.arrived;
    await made.submit('waits');
    held.open();
    const failed = await made.until(ended());
    await made.driver('idle');
    expect(failed.turns[0]).toMatchObject({
      outcome: 'failed',
      failure: { code: 'provider_failed', message: 'the server broke' },
    });
    expect(failed.inbox.map(({ parts }) => textOf(parts))).toEqual(['waits']);
    expect(fold(await eventsOf(made))).toStrictEqual(JSON.parse(JSON.stringify(failed)));
    await made.submit('try again');
    await made.until((now) => now.inbox.length === 0 && now.active === null);
    expect(personTexts(made.model.requests[2])).toEqual(['first', 'waits']);
    expect(pairing(made.model.requests[2]?.items ?? [])).toBe('valid');
  });

  test('RT17 PR22 429 then 200 is one answer, an event with the delay, and an attempt whose usage is unknown', async () => {
    const busy: Action = { type: 'fail', failure: { code: 'rate_limited', message: 'slower' }, retryAfterMs: 5 };
    const usage = { input: 10, output: 2, cacheRead: null, cacheWrite: null, reasoning: null };
    const made = await agentOn([[busy], [...says('answer'), { type: 'usage', usage }]]);
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.turns[0]?.steps).toMatchObject([
      { parts: [{ text: 'answer' }], retries: [{ attempt: 2, delayMs: 5, reason: { code: 'rate_limited' } }] },
    ]);
    expect(conversation.usage).toMatchObject({ input: 10, output: 2, steps: 2, unknownSteps: 1 });
    expect(conversation.context).toEqual({ used: 12, limit: 1000, estimated: false });
  });

  test('RT17 without Retry-After the wait grows; a wait longer than the longest fails at once', async () => {
    const broke: Action = { type: 'fail', failure: { code: 'provider_failed', message: 'x' } };
    const made = await agentOn([[broke], [{ ...broke, retryAfterMs: 3_600_000 }]]);
    await made.submit('go');
    const conversation = await made.until(ended());
    const [retry, ...more] = conversation.turns[0]?.steps[0]?.retries ?? [];
    expect(retry?.delayMs).toBeGreaterThanOrEqual(500);
    expect(retry?.delayMs).toBeLessThanOrEqual(1000);
    expect(more).toEqual([]);
    expect(conversation.turns[0]?.outcome).toBe('failed');
  });

  test('RT16 PR22 two failures then success: two repeats with delay and reason, no tool run again, their usage unknown', async () => {
    const cut: Action = { type: 'fail', failure: { code: 'provider_unreachable', message: 'gone' }, retryAfterMs: 1 };
    const made = await agentOn([[cut], [cut], says('answer')]);
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.turns[0]?.steps[0]?.retries).toMatchObject([
      { attempt: 2, delayMs: 1, reason: { code: 'provider_unreachable', message: 'gone' } },
      { attempt: 3, delayMs: 1, reason: { code: 'provider_unreachable' } },
    ]);
    expect(conversation.turns[0]?.outcome).toBe('completed');
    expect(conversation.usage).toMatchObject({ unknownSteps: 3 });
  });

  test('RT16 a third failure is the last: there is no fourth attempt (maxAttempts)', async () => {
    const cut: Action = { type: 'fail', failure: { code: 'provider_failed', message: 'down' }, retryAfterMs: 1 };
    const made = await agentOn(Array.from({ length: maxAttempts + 1 }, () => [cut]));
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.turns[0]).toMatchObject({ outcome: 'failed', failure: { code: 'provider_failed' } });
    expect(made.model.requests).toHaveLength(maxAttempts);
  });

  test('is not asked again once something was said: a person decides (RT17)', async () => {
    const made = await agentOn([[...says('half'), { ...broken, retryable: true }]]);
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.turns[0]).toMatchObject({
      outcome: 'failed',
      steps: [{ retries: [], parts: [{ text: 'half' }] }],
    });
    expect(made.model.requests).toHaveLength(1);
  });

  test('PR22 usage that came with the failure is counted', async () => {
    const usage = { input: 7, output: 1, cacheRead: null, cacheWrite: null, reasoning: null };
    const made = await agentOn([[{ type: 'usage', usage }, broken]]);
    await made.submit('go');
    expect((await made.until(ended())).usage).toMatchObject({ input: 7, output: 1, steps: 1, unknownSteps: 0 });
  });

  test('a model that cannot be had fails the turn with the reason, and counts as no request (PR22)', async () => {
    const made = await agentOn([], {
      models: { 'scripted/demo': { code: 'unauthorized', message: 'There is no key.' } },
    });
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.turns[0]).toMatchObject({ outcome: 'failed', failure: { code: 'unauthorized' } });
    expect(conversation.usage).toMatchObject({ steps: 0, unknownSteps: 0 });
  });

  test('an adapter that breaks its contract fails its step, not the session', async () => {
    const thrower = {
      async *stream(): AsyncGenerator<never> {
        await Promise.resolve();
        throw new TypeError('oops');
      },
      close: () => Promise.resolve(),
    };
    const made = await agentOn([says('fine')], { models: { 'scripted/broken': thrower } });
    await made.agent.configure({ model: 'scripted/broken' }, made.ids.mark());
    await made.submit('go');
    expect((await made.until(ended())).turns[0]).toMatchObject({ failure: { code: 'fault' } });
    await made.agent.configure({ model: 'scripted/demo' }, made.ids.mark());
    await made.submit('go');
    expect((await made.until(ended(2))).turns[1]?.outcome).toBe('completed');
  });

  test('PR6 a model switched in mid-turn is used by the next request, and the event stands before it', async () => {
    const held = heldTool('look');
    const other = scriptedModel([says('from the other')]);
    const made = await agentOn([calls('look')], { tools: [held.tool], models: { 'other/two': other } });
    await made.submit('go');
    await held.arrived;
    await made.agent.configure({ model: 'other/two', effort: 'high' }, made.ids.mark());
    held.open();
    await made.until(ended());
    expect(other.requests).toMatchObject([{ model: 'two', effort: 'high' }]);
    const events = await eventsOf(made);
    const chosen = events.findLast((event) => event.type === 'session.configured')?.seq ?? 0;
    const used = events.find((event) => event.type === 'step.started' && event['model'] === 'other/two')?.seq ?? 0;
    expect(chosen).toBeLessThan(used);
    const reply = other.requests[0]?.items.find((item) => item.type === 'reply');
    expect(reply).toMatchObject({ provider: 'scripted', model: 'demo' });
  });

  test('PR7 an effort that the model does not take is sent as the nearest it takes, and said once', async () => {
    const made = await agentOn([calls('look'), says('done')], {
      tools: [fakeTool('look')],
      facts: { efforts: ['low', 'high'] },
    });
    await made.agent.configure({ effort: 'xhigh' }, made.ids.mark());
    await made.submit('go');
    const after = await made.until(ended());
    expect(made.model.requests.map(({ effort }) => effort)).toEqual(['high', 'high']);
    expect(after.turns[0]?.steps.map(({ effort }) => effort)).toEqual(['high', 'high']);
    expect(after.warnings.map(({ message }) => message)).toEqual([
      'scripted/demo does not take the effort “xhigh” but low or high; it is asked with “high”.',
    ]);
  });

  test('a model that takes no effort is sent none', async () => {
    const made = await agentOn([says('done')], { facts: { efforts: [] } });
    await made.agent.configure({ effort: 'low' }, made.ids.mark());
    await made.submit('go');
    await made.until(ended());
    expect(made.model.requests).toMatchObject([{ effort: null }]);
  });

  test('a reply says what it cost, by the prices of its model', async () => {
    const usage = { input: 1_000_000, output: 1000, cacheRead: null, cacheWrite: null, reasoning: null };
    const price = { input: 2, output: 10, cacheRead: null, cacheWrite: null };
    const made = await agentOn([[{ type: 'usage', usage }, ...says('hi')]], { facts: { price } });
    await made.submit('go');
    await made.until(ended());
    const replied = (await eventsOf(made)).find((event) => event.type === 'step.replied');
    expect(replied).toMatchObject({ cost: 2.01 });
  });
});

describe('calls', () => {
  test('PR21 of three calls one has bad argument JSON: that one is answered with an error, the others run', async () => {
    const ran: unknown[] = [];
    const tool = fakeTool('look', { run: (args) => Promise.resolve(`saw ${ran.push(args)}`) });
    const made = await agentOn(
      [
        [
          { type: 'call', tool: 'look', arguments: { at: 1 } },
          { type: 'call', tool: 'look', arguments: '{"at": 2' },
          { type: 'call', tool: 'look', arguments: { at: 3 } },
        ],
        says('done'),
      ],
      { tools: [tool] },
    );
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(ran).toEqual([{ at: 1 }, { at: 3 }]);
    expect(allCalls(conversation).map(({ outcome }) => outcome)).toEqual(['completed', 'failed', 'completed']);
    expect(textOfCall(allCalls(conversation)[1])).toContain('not valid JSON');
    expect(pairing(made.model.requests[1]?.items ?? [])).toBe('valid');
  });

  test('an unknown tool and arguments that do not fit fail their call only, and say what there is', async () => {
    const strict = { ...fakeTool('strict'), prepare: () => ({ problem: '"path" is missing.' }) };
    const made = await agentOn([calls('nothing', 'strict', 'look'), says('done')], {
      tools: [strict, fakeTool('look')],
    });
    await made.submit('go');
    const found = allCalls(await made.until(ended()));
    expect(found.map((call) => [call.outcome, textOfCall(call)])).toEqual([
      ['failed', 'There is no tool "nothing". Tools: strict, look.'],
      ['failed', '"path" is missing.'],
      ['completed', 'look done'],
    ]);
  });

  test('a tool that throws fails its call only', async () => {
    const thrower = fakeTool('thrower', { run: () => Promise.reject(new TypeError('undefined is not a tool')) });
    const unjudged = fakeTool('unjudged', {
      assess: () => {
        throw new Error('cannot look');
      },
    });
    const made = await agentOn([calls('thrower', 'unjudged', 'look'), says('done')], {
      tools: [thrower, unjudged, fakeTool('look')],
    });
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(allCalls(conversation).map(({ outcome }) => outcome)).toEqual(['failed', 'denied', 'completed']);
    expect(textOfCall(allCalls(conversation)[0])).toContain('undefined is not a tool');
    expect(conversation.turns[0]?.outcome).toBe('completed');
  });

  test('neighbours that only look overlap; a change waits for them, and what follows waits for it', async () => {
    const running = new Set<string>();
    const overlaps: string[] = [];
    const noted = (name: string, effect: 'read' | 'change') =>
      fakeTool(name, {
        effect,
        run: async () => {
          running.add(name);
          await new Promise((resolve) => setTimeout(resolve, 20));
          overlaps.push([...running].toSorted().join('+'));
          running.delete(name);
          return name;
        },
      });
    const made = await agentOn([calls('a', 'b', 'change', 'c'), says('done')], {
      tools: [noted('a', 'read'), noted('b', 'read'), noted('change', 'change'), noted('c', 'read')],
      events: [{ type: 'session.configured', mode: 'auto' }],
    });
    await made.submit('go');
    await made.until(ended());
    expect(overlaps).toEqual(['a+b', expect.any(String), 'change', 'c']);
    expect(made.model.requests[1]?.items.filter((item) => item.type === 'result').map((item) => item.tool)).toEqual([
      'a',
      'b',
      'change',
      'c',
    ]);
  });

  test('arguments too long for an event stand in a blob, reach the tool, and are sent back as they were', async () => {
    const content = 'x🌱'.repeat(100_000);
    const got: unknown[] = [];
    const tool = fakeTool('look', { run: (args) => Promise.resolve(String(got.push(args))) });
    const made = await agentOn([[{ type: 'call', tool: 'look', arguments: { content } }], says('done')], {
      tools: [tool],
    });
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(allCalls(conversation)[0]).toMatchObject({
      arguments: null,
      argumentsBlob: { bytes: expect.any(Number) as number },
    });
    expect(got).toEqual([{ content }]);
    const reply = made.model.requests[1]?.items.find((item) => item.type === 'reply');
    expect(reply?.type === 'reply' && reply.pieces[0]).toMatchObject({ argumentsText: JSON.stringify({ content }) });
  });
});

describe('approvals', () => {
  async function asking(fake: Parameters<typeof fakeTool>[1] = {}, replies = 1) {
    const ran: unknown[] = [];
    const tool = fakeTool('change', {
      effect: 'change',
      rulePattern: 'change garden',
      ...fake,
      run: (args) => Promise.resolve(`ran ${ran.push(args)}`),
    });
    const made = await agentOn(
      [...Array.from({ length: replies }, (_, at) => calls(['change', { at }])), says('done')],
      { tools: [tool, fakeTool('look')] },
    );
    await made.submit('go');
    const { approvals } = await made.until((now) => now.approvals.length === 1);
    const approvalId = approvals[0]?.approvalId as ApprovalId;
    const answer = (more: Partial<Parameters<typeof made.agent.answer>[0]>) =>
      made.agent.answer({ approvalId, decision: 'allow', scope: 'once', by: "Ada's phone", ...more }, made.ids.mark());
    return { ...made, ran, answer, approval: approvals[0], approvalId };
  }

  test('PM2 allowed once: it runs, and the next one asks again', async () => {
    const made = await asking({}, 2);
    expect(made.approval).toMatchObject({
      tool: 'change',
      reason: 'Asked because change asks first in garden.',
      caution: false,
    });
    expect(made.ran).toEqual([]);
    await made.answer({});
    const next = await made.until(
      (now) => now.approvals.length === 1 && now.approvals[0]?.approvalId !== made.approvalId,
    );
    expect(made.ran).toEqual([{ at: 0 }]);
    expect(next.approvals[0]?.approvalId).toBe('apr_2');
  });

  test('PM2 allowed for the session: the same pattern does not ask again, here; no rule is made', async () => {
    const made = await asking({}, 3);
    await made.answer({ scope: 'session' });
    const conversation = await made.until(ended());
    expect(made.ran).toHaveLength(3);
    expect(conversation.counts.approvals).toBe(1);
    expect(made.rules).toEqual([]);
  });

  test('PM2 allowed always: a rule is made of the tool and the pattern, and holds', async () => {
    const made = await asking({}, 2);
    await made.answer({ scope: 'always' });
    await made.until(ended());
    expect(made.rules).toEqual([{ tool: 'change', pattern: 'change garden' }]);
    expect(made.ran).toHaveLength(2);
  });

  test('PM2 a rule that was taken back asks again from the next call', async () => {
    const tool = fakeTool('change', { effect: 'change', rulePattern: 'p' });
    const made = await agentOn([calls('change'), calls('change')], {
      tools: [tool],
      rules: [{ tool: 'change', pattern: 'p' }],
    });
    await made.submit('go');
    await made.until((now) => allCalls(now)[0]?.outcome === 'completed');
    made.rules.splice(0);
    await made.until((now) => now.approvals.length === 1);
  });

  test('PM2 denied with a note: it does not run, the model is told the words, and the turn goes on', async () => {
    const made = await asking();
    await made.answer({ decision: 'deny', note: 'not the roses' });
    const conversation = await made.until(ended());
    expect(made.ran).toEqual([]);
    expect(allCalls(conversation)[0]).toMatchObject({ outcome: 'denied' });
    expect(textOfCall(allCalls(conversation)[0])).toBe('Denied by the person; it did not run. They say: not the roses');
    expect(conversation.turns[0]?.outcome).toBe('completed');
  });

  test('PM2 with changed arguments it runs those, the model sees them and is told; they are a grant for nothing else', async () => {
    const made = await asking({}, 1);
    await expect(made.answer({ scope: 'session', arguments: { at: 7 } })).rejects.toMatchObject({
      code: 'invalid_params',
    });
    await made.answer({ arguments: { at: 7 } });
    const conversation = await made.until(ended());
    expect(made.ran).toEqual([{ at: 7 }]);
    expect(conversation.grants).toEqual([]);
    const [, reply, result] = made.model.requests[1]?.items ?? [];
    expect(reply).toMatchObject({ pieces: [{ argumentsText: '{"at":7}' }] });
    expect(JSON.stringify(result)).toContain('changed the arguments');
  });

  test('PM2 a caution can be allowed once only, whatever was allowed before', async () => {
    const made = await asking({ caution: 'It deletes files.' }, 2);
    await expect(made.answer({ scope: 'session' })).rejects.toMatchObject({ code: 'invalid_params' });
    await expect(made.answer({ scope: 'always' })).rejects.toMatchObject({ code: 'invalid_params' });
    made.rules.push({ tool: 'change', pattern: 'change garden' });
    await made.answer({});
    await made.until((now) => now.approvals[0]?.approvalId === 'apr_2');
    expect(made.ran).toHaveLength(1);
  });

  test('an answer to a dead request says what became of it; a repeat of the one that answered is answered again', async () => {
    const made = await asking();
    const mark = made.ids.mark();
    const answer = {
      approvalId: made.approvalId,
      decision: 'allow' as const,
      scope: 'once' as const,
      by: "Ada's phone",
    };
    const [first, second] = await Promise.allSettled([
      made.agent.answer(answer, mark),
      made.answer({ decision: 'deny', by: 'the laptop' }),
    ]);
    expect(second).toMatchObject({
      status: 'rejected',
      reason: { code: 'conflict', message: expect.stringContaining("allowed by Ada's phone") as string },
    });
    await made.until(ended());
    expect(await made.agent.answer(answer, mark)).toBe((first as PromiseFulfilledResult<number>).value);
    expect(made.ran).toHaveLength(1);
  });

  test('RT25 an approval survives a restart with its age; the answer alone continues the turn, and nothing is run twice (RT24)', async () => {
    const before: string[] = [];
    const look = fakeTool('look', { run: () => Promise.resolve(`${before.push('look')}`) });
    const change = fakeTool('change', { effect: 'change', run: () => Promise.resolve(`${before.push('change')}`) });
    const made = await agentOn([calls('look', 'change'), says('done')], { tools: [look, change] });
    await made.submit('go');
    const asked = await made.until((now) => now.approvals.length === 1);
    made.clock.advance(60_000);
    const again = await made.restart();
    expect(again.agent.state).toBe('paused');
    expect(again.session.conversation.approvals).toEqual(asked.approvals);
    expect(again.session.seq).toBe(asked.seq);
    const approvalId = asked.approvals[0]?.approvalId as ApprovalId;
    await again.agent.answer({ approvalId, decision: 'allow', scope: 'once', by: 'me' }, again.ids.mark());
    const conversation = await again.until(ended());
    expect(before).toEqual(['look', 'change']);
    expect(conversation.turns[0]?.outcome).toBe('completed');
    expect(pairing(again.model.requests[1]?.items ?? [])).toBe('valid');
  });

  test('a request whose call may no longer run is withdrawn: no button is left that nobody hears (RT25)', async () => {
    let refuse = false;
    const change = fakeTool('change', {
      assess: () =>
        refuse
          ? { effect: 'refused', reason: 'The file changed since it was read.' }
          : { effect: 'change', caution: null, preview: null, rulePattern: 'x' },
    });
    const made = await agentOn([calls('change'), says('done')], { tools: [change] });
    await made.submit('go');
    await made.until((now) => now.approvals.length === 1);
    const again = await made.restart();
    refuse = true;
    await again.agent.resume(again.ids.mark());
    const conversation = await again.until(ended());
    expect(conversation.approvals).toEqual([]);
    expect(allCalls(conversation)[0]).toMatchObject({ outcome: 'denied' });
    expect(conversation.anomalies).toEqual([]);
  });

  test('where nobody can answer, the call ends denied and says how it could run; the run goes on', async () => {
    const made = await agentOn([calls('change'), says('done')], {
      tools: [fakeTool('change', { effect: 'change' })],
      unattended: () => 'Use --mode auto.',
    });
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(allCalls(conversation)[0]).toMatchObject({ outcome: 'denied' });
    expect(textOfCall(allCalls(conversation)[0])).toContain('Use --mode auto.');
    expect(conversation.counts.approvals).toBe(0);
  });
});

describe('modes', () => {
  test('PM1 a mode switched in mid-turn applies to the next call', async () => {
    const held = heldTool('look');
    const ran: string[] = [];
    const change = fakeTool('change', { effect: 'change', run: () => Promise.resolve(`${ran.push('change')}`) });
    const made = await agentOn([calls('look', 'change'), calls('change'), says('done')], {
      tools: [held.tool, change],
    });
    await made.submit('go');
    await held.arrived;
    await made.agent.configure({ mode: 'auto' }, made.ids.mark());
    held.open();
    const conversation = await made.until(ended());
    expect(ran).toHaveLength(2);
    expect(conversation.counts.approvals).toBe(0);
  });

  test('PM1 plan mode cannot write through any tool: none is offered, and one that is called all the same is refused', async () => {
    const ran: string[] = [];
    const writer = (name: string, effect: 'change' | 'command') =>
      fakeTool(name, { effect, run: () => Promise.resolve(`${ran.push(name)}`) });
    const made = await agentOn([calls('write', 'bash', 'look'), says('plan')], {
      tools: [writer('write', 'change'), writer('bash', 'command'), fakeTool('look')],
      rules: [
        { tool: 'write', pattern: 'write *' },
        { tool: 'bash', pattern: 'bash *' },
      ],
      events: [{ type: 'session.configured', mode: 'plan' }],
    });
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(ran).toEqual([]);
    expect(allCalls(conversation).map(({ outcome }) => outcome)).toEqual(['denied', 'denied', 'completed']);
    expect(made.model.requests[0]?.tools.map(({ name }) => name)).toEqual(['look']);
    expect(made.model.requests[0]?.hints).toContain('Mode: plan');
  });

  test('PM1 a change that a person allows after the mode became plan does not run', async () => {
    const ran: string[] = [];
    const change = fakeTool('change', { effect: 'change', run: () => Promise.resolve(`${ran.push('x')}`) });
    const made = await agentOn([calls('change'), says('done')], { tools: [change] });
    await made.submit('go');
    const { approvals } = await made.until((now) => now.approvals.length === 1);
    await made.agent.configure({ mode: 'plan' }, made.ids.mark());
    const approvalId = approvals[0]?.approvalId as ApprovalId;
    await made.agent.answer({ approvalId, decision: 'allow', scope: 'once', by: 'me' }, made.ids.mark());
    const conversation = await made.until(ended());
    expect(ran).toEqual([]);
    expect(allCalls(conversation)[0]?.outcome).toBe('denied');
  });
});

describe('a disk that refuses', () => {
  test('in mid-turn: the turn fails in words about storage, and the session goes on when there is space', async () => {
    const disk = new FaultyDisk();
    const held = heldTool('look');
    const made = await agentOn([calls('look'), says('later')], {
      tools: [held.tool],
      options: { openFile: disk.open },
    });
    await made.submit('go');
    await held.arrived;
    await made.until((now) => allCalls(now)[0]?.state === 'running');
    disk.full = 'ENOSPC';
    held.open();
    await made.driver('paused');
    expect(made.session.conversation.active).not.toBeNull();
    disk.full = null;
    await made.submit('there is space');
    const conversation = await made.until((now) => now.active === null && now.inbox.length === 0);
    expect(conversation.turns[0]).toMatchObject({ outcome: 'failed', failure: { code: 'storage_failed' } });
    expect(conversation.turns[0]?.failure?.message).toContain('ENOSPC');
    expect(allCalls(conversation)[0]?.outcome).toBe('interrupted');
    expect(conversation.turns[1]?.outcome).toBe('completed');
    expect(pairing(made.model.requests[1]?.items ?? [])).toBe('valid');
  });

  test('for one write only: the turn is failed at once', async () => {
    const disk = new FaultyDisk();
    const held = heldTool('look');
    const made = await agentOn([calls('look'), says('later')], {
      tools: [held.tool],
      options: { openFile: disk.open },
    });
    await made.submit('go');
    await held.arrived;
    await made.until((now) => allCalls(now)[0]?.state === 'running');
    disk.full = 'ENOSPC';
    disk.times = 1;
    held.open();
    const failed = await made.until(ended());
    await made.driver('idle');
    expect(failed.turns[0]).toMatchObject({ outcome: 'failed', failure: { code: 'storage_failed' } });
    expect(textOfCall(allCalls(failed)[0])).toContain('could not go on while this ran');
  });

  test('with a message waiting does not spin: nothing is tried again until a person acts', async () => {
    const disk = new FaultyDisk();
    const held = heldTool('look');
    const made = await agentOn([calls('look')], { tools: [held.tool], options: { openFile: disk.open } });
    await made.submit('go');
    await held.arrived;
    await made.submit('waits', 'next-step');
    disk.full = 'ENOSPC';
    held.open();
    await made.driver('paused');
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(made.faults.length).toBeLessThan(5);
  });

  test('an abort that cannot be written is not said to be done, and can be repeated', async () => {
    const disk = new FaultyDisk();
    const made = await agentOn([calls('change')], {
      tools: [fakeTool('change', { effect: 'change' })],
      options: { openFile: disk.open },
    });
    await made.submit('go');
    await made.until((now) => now.approvals.length === 1);
    disk.full = 'ENOSPC';
    await expect(made.agent.abort(made.ids.mark())).rejects.toMatchObject({ code: 'storage_failed' });
    expect(made.agent.state).toBe('paused');
    disk.full = null;
    await made.agent.abort(made.ids.mark());
    expect(made.session.conversation).toMatchObject({ active: null, approvals: [], lastOutcome: 'aborted' });
    expect(made.agent.state).toBe('idle');
  });

  test('a piece of a reply that was not written is never followed by the rest: no reply has a hole', async () => {
    const disk = new FaultyDisk();
    const made = await agentOn(
      [
        [
          { type: 'say', text: ['one '] },
          { type: 'wait', ms: 40 },
          { type: 'say', text: ['two '] },
          { type: 'wait', ms: 1 },
          { type: 'say', text: ['three'] },
        ],
      ],
      {
        options: { openFile: disk.open },
      },
    );
    await made.submit('go');
    await made.until((now) => (now.active?.step?.parts.length ?? 0) > 0);
    disk.full = 'ENOSPC';
    await made.driver('paused');
    disk.full = null;
    await made.agent.resume(made.ids.mark());
    const conversation = await made.until(ended());
    expect(conversation.turns[0]).toMatchObject({ outcome: 'failed', steps: [{ reply: null }] });
  });
});

describe('closing the agent', () => {
  test('in mid-tool: the call is interrupted, step and turn are closed, and after a restart nothing runs again (RT24)', async () => {
    const held = heldTool('look');
    let runs = 0;
    const counted = {
      ...held.tool,
      prepare: (args: Record<string, unknown>) => {
        runs += 1;
        return held.tool.prepare(args);
      },
    };
    const made = await agentOn([calls('look')], { tools: [counted] });
    await made.submit('go');
    await held.arrived;
    await made.submit('waits');
    const again = await made.restart();
    const { conversation } = again.session;
    expect(conversation.turns[0]).toMatchObject({ outcome: 'interrupted' });
    expect(textOfCall(allCalls(conversation)[0])).toContain('shut down while this ran');
    expect(conversation.inbox).toHaveLength(1);
    const before = runs;
    await new Promise((resolve) => setImmediate(resolve));
    expect({ state: again.agent.state, runs: runs - before, asked: again.model.requests.length }).toEqual({
      state: 'idle',
      runs: 0,
      asked: 1,
    });
    expect(conversation.warnings).toEqual([]);
  });

  test('twice is once, and what comes after is refused', async () => {
    const made = await agentOn([]);
    await Promise.all([made.agent.close(), made.agent.close()]);
    await expect(made.submit('late')).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('RT8 input that waits behind a turn that ended well starts by itself after a restart; behind an interrupted one it waits', async () => {
    const made = await sessionWith();
    await made.session.append([queued(made.ids, 'left over')]);
    const agent = agentFor(made, scriptedModel([says('hello')]));
    const conversation = await agent.until(ended());
    expect(conversation.turns[0]?.steps[0]?.inputs.map(({ parts }) => textOf(parts))).toEqual(['left over']);
  });

  test('a session as long as an index reaches is driven on its whole history', async () => {
    const replies = 60;
    const long = 'leaf '.repeat(800);
    const made = await agentOn(() => says(long));
    for (let turn = 1; turn <= replies; turn += 1) {
      await made.submit(`message ${turn}`);
      await made.until(ended(turn));
    }
    const again = await made.restart();
    expect(again.session.conversation.omittedTurns).toBeGreaterThan(0);
    await again.submit('and all before?');
    await again.until(ended(replies + 1));
    expect(personTexts(again.model.requests.at(-1))).toHaveLength(replies + 1);
  });

  test('a session whose history is damaged says so where a person sees it, and sends nothing', async () => {
    const made = await agentOn(() => says('leaf '.repeat(8000)));
    for (let turn = 1; turn <= 8; turn += 1) {
      await made.submit(`message ${turn}`);
      await made.until(ended(turn));
    }
    await made.agent.close();
    const { readFileSync, writeFileSync } = await import('node:fs');
    const bytes = readFileSync(made.place.log);
    bytes[300] = (bytes[300] ?? 0) ^ 0xff;
    writeFileSync(made.place.log, bytes);
    const again = await made.restart();
    const asked = again.model.requests.length;
    await again.submit('go on');
    const conversation = await again.until((now) => now.warnings.length > 0);
    expect(conversation.warnings[0]?.message).toContain('cannot be read after event');
    expect(again.model.requests.length).toBe(asked);
    await again.driver('idle');
    expect(conversation.inbox).toHaveLength(1);
  });
});

function textOf(parts: Conversation['inbox'][number]['parts']): string {
  return parts.map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('');
}
