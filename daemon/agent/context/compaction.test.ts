import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import { LogBuilder } from '#protocol/testing/log-builder.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import { maxSummaryFiles } from '../../base/limits.ts';
import type { Item, ModelRequest } from '../../llm/item.ts';
import type { Action } from '../../llm/scripted/scripted.ts';
import { agentOn, calls, ended, fakeTool, says, type AgentSetup } from '../../testing/agent-on.ts';
import { isCompactionDue, planCompaction, touchedFiles } from './compaction.ts';
import { Context } from './context.ts';

const full: Failure = { code: 'context_full', message: 'The request is longer than the model reads.' };
const used = (input: number): Action => ({
  type: 'usage',
  usage: { input, output: 10, cacheRead: null, cacheWrite: null, reasoning: null },
});
const isSummary = (request: ModelRequest) => request.system.includes('You keep the memory');
const textOf = (items: readonly Item[]) => JSON.stringify(items);
/** Each of about 1,000 tokens. */
const long = fakeTool('long', { run: () => Promise.resolve(`found ${'x'.repeat(4000)}`) });
const window: AgentSetup = { tools: [long], compactAt: 0.5, facts: { contextWindow: 10_000 } };

/** As a provider would count them. */
const sizeOf = (request: ModelRequest) => Math.ceil(textOf(request.items).length / 4);

/** Calls `long` so often and then is done; the window is said to be as full as `fill` says for each request. */
function works(
  times: number,
  fill: (asked: number, request: ModelRequest) => number,
  summary: () => Action[] = () => says('## Goal\nDig.'),
) {
  let asked = 0;
  return (request: ModelRequest): Action[] => {
    if (isSummary(request)) return summary();
    asked += 1;
    return asked <= times
      ? [...calls('long'), used(fill(asked, request))]
      : [...says('done'), used(fill(asked, request))];
  };
}

const endings = (conversation: Conversation) =>
  conversation.compactions.map(({ trigger, outcome }) => `${trigger} ${outcome}`);

describe('CX1 CX2 at a threshold', () => {
  test('old steps are summarised before the next one; the newest stay word for word, and the log keeps all', async () => {
    const made = await agentOn(
      works(6, (_, request) => sizeOf(request)),
      window,
    );
    await made.submit('dig a pond');
    const conversation = await made.until(ended());
    expect(endings(conversation)).toEqual(['threshold completed']);
    const [summary] = made.model.requests.filter(isSummary);
    expect(textOf(summary?.items ?? [])).toContain('dig a pond');
    expect(summary?.tools).toEqual([]);
    const after = made.model.requests.at(-1)?.items ?? [];
    expect(after[0]).toMatchObject({
      type: 'person',
      parts: [{ text: expect.stringContaining('## Goal\nDig.') as string }],
    });
    expect(textOf(after)).not.toContain('dig a pond');
    expect(after.filter((item) => item.type === 'result').length).toBeGreaterThan(1);
    await made.session.hydrate();
    expect(conversation.turns[0]?.steps).toHaveLength(7);
    expect(made.faults).toEqual([]);
  });

  test('what it cost is counted, and the window is as full as is estimated until it is measured again', async () => {
    const made = await agentOn(
      works(
        6,
        (_, request) => sizeOf(request),
        () => [...says('short'), used(700)],
      ),
      window,
    );
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.usage.steps).toBe(conversation.counts.steps + 1);
    const sent = made.model.requests
      .filter((request) => !isSummary(request))
      .reduce((sum, one) => sum + sizeOf(one), 0);
    expect(conversation.usage.input).toBe(sent + 700);
    const [mark] = conversation.compactions;
    expect(mark?.after).toBeLessThan(mark?.before ?? 0);
  });

  test('a summary that fails changes nothing, says why, and is not tried again at each step', async () => {
    const made = await agentOn(
      works(
        8,
        () => 6000,
        () => [{ type: 'fail', failure: { code: 'provider_refused', message: 'No.' }, retryable: false }],
      ),
      window,
    );
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.compaction).toBeNull();
    expect(conversation.lastOutcome).toBe('completed');
    expect(conversation.compactions[0]).toMatchObject({ outcome: 'failed', reason: 'No.' });
    expect(made.model.requests.filter(isSummary).length).toBeLessThan(4);
    expect(textOf(made.model.requests.at(-1)?.items ?? [])).toContain('go');
  });

  test('a summary as long as what it stands for is refused', async () => {
    const made = await agentOn(
      works(
        5,
        (request) => 1500 * request,
        () => says('long '.repeat(8000)),
      ),
      window,
    );
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.compaction).toBeNull();
    expect(conversation.compactions[0]?.reason).toContain('as long as what it should stand for');
  });

  test('a window that is full of what cannot be summarised does not make it loop', async () => {
    const made = await agentOn(
      works(6, () => 9500),
      { ...window, tools: [fakeTool('long')] },
    );
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(conversation.lastOutcome).toBe('completed');
    expect(made.model.requests.filter(isSummary)).toEqual([]);
  });

  test('the next one takes up the summary before it, and both keep the task list and the files', async () => {
    let summaries = 0;
    const made = await agentOn(
      works(
        14,
        (request) => 900 * (1 + (request % 7)),
        () => says(`summary ${(summaries += 1)}`),
      ),
      { ...window, events: [{ type: 'todo.replaced', todos: [{ text: 'Line the pond', state: 'doing' }] }] },
    );
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(summaries).toBeGreaterThan(1);
    const questions = made.model.requests.filter(isSummary).map((request) => textOf(request.items));
    expect(questions[1]).toContain('summary 1');
    expect(conversation.compaction?.summary).toContain('- [doing] Line the pond');
    expect(conversation.compaction?.summary).not.toContain('summary 1');
  });
});

describe('CX2 on overflow', () => {
  test('one compaction and one more try; what was steered meanwhile is not lost', async () => {
    let refused = false;
    const made = await agentOn(
      (request) => {
        if (isSummary(request)) return says('all that was');
        const items = textOf(request.items);
        if (items.includes('now more') && !refused) {
          refused = true;
          return [{ type: 'fail', failure: full, retryable: false }];
        }
        return made.model.requests.length < 6 ? calls('long') : says('done');
      },
      { ...window, compactAt: 0.9 },
    );
    await made.submit('first');
    await made.until(ended(1));
    await made.submit('now more');
    const conversation = await made.until(ended(2));
    expect(endings(conversation)).toEqual(['overflow completed']);
    expect(conversation.lastOutcome).toBe('completed');
    const after = textOf(made.model.requests.at(-1)?.items ?? []);
    expect(after).toContain('all that was');
    expect(after.split('now more')).toHaveLength(2);
  });

  test('what is too long even so fails as it is, after one try', async () => {
    const made = await agentOn(
      (request) => {
        if (isSummary(request)) return says('all that was');
        return textOf(request.items).includes('too long')
          ? [{ type: 'fail', failure: full, retryable: false }]
          : calls('long');
      },
      { ...window, compactAt: 0.9 },
    );
    made.model.enqueue();
    await made.submit('work', 'next-turn');
    await made.until((now) => now.counts.steps > 5);
    await made.submit('too long', 'next-step');
    const conversation = await made.until(ended());
    expect(conversation.lastOutcome).toBe('failed');
    expect(conversation.turns[0]?.failure?.code).toBe('context_full');
    expect(endings(conversation)).toEqual(['overflow completed']);
  });

  test('one message that alone is larger than the window fails without a summary being asked for', async () => {
    const made = await agentOn(() => [{ type: 'fail', failure: full, retryable: false }], window);
    await made.submit('x'.repeat(100_000));
    const conversation = await made.until(ended());
    expect(conversation.lastOutcome).toBe('failed');
    expect(conversation.compactions[0]).toMatchObject({ trigger: 'overflow', outcome: 'failed' });
    expect(made.model.requests).toHaveLength(1);
  });

  test('where the question for the summary is too long itself, it is asked with shorter results, and not for ever', async () => {
    const lengths: number[] = [];
    const made = await agentOn(
      (request) => {
        if (isSummary(request)) {
          lengths.push(textOf(request.items).length);
          return [{ type: 'fail', failure: full, retryable: false }];
        }
        return made.model.requests.length <= 6 ? calls('long') : [{ type: 'fail', failure: full, retryable: false }];
      },
      { ...window, compactAt: 0.9 },
    );
    await made.submit('go');
    const conversation = await made.until(ended());
    expect(lengths).toHaveLength(3);
    expect(lengths).toEqual(lengths.toSorted((one, other) => other - one));
    expect(conversation.compactions[0]?.reason).toContain('too long for scripted/demo');
    expect(conversation.lastOutcome).toBe('failed');
  });

  test('switched off, it fails as it comes', async () => {
    const made = await agentOn(() => [{ type: 'fail', failure: full, retryable: false }], {
      ...window,
      compactAt: null,
    });
    await made.submit('go');
    expect((await made.until(ended())).compactions).toEqual([]);
  });
});

describe('CX2 by command', () => {
  async function worked(script: (request: ModelRequest) => Action[]) {
    const made = await agentOn(script, { ...window, compactAt: null });
    await made.submit('dig');
    await made.until(ended());
    return made;
  }

  test('at once where nothing moves; asked for twice it is made once', async () => {
    const made = await worked(works(6, () => 100));
    const mark = made.ids.mark();
    const seq = await made.agent.compact(mark);
    expect(await made.agent.compact(mark)).toBe(seq);
    const conversation = await made.until((now) => now.compactions.length > 0);
    expect(endings(conversation)).toEqual(['command completed']);
    expect(conversation.active).toBeNull();
    await made.submit('and now?');
    await made.until(ended(2));
    expect(textOf(made.model.requests.at(-1)?.items ?? [])).not.toContain('"dig"');
  });

  test('nothing to compact is refused, or said', async () => {
    const fresh = await agentOn(() => says('hi'), window);
    await expect(fresh.agent.compact(fresh.ids.mark())).rejects.toMatchObject({ code: 'conflict' });
    await fresh.submit('hello');
    await fresh.until(ended());
    await fresh.agent.compact(fresh.ids.mark());
    const conversation = await fresh.until((now) => now.compactions.length > 0);
    expect(conversation.compactions[0]?.reason).toContain('nothing yet');
  });

  test('stopped, or cut by a restart, it is said to have failed, and the history is as it was', async () => {
    for (const how of ['abort', 'restart'] as const) {
      const made = await worked(
        works(
          6,
          () => 100,
          () => [{ type: 'hang' }],
        ),
      );
      await made.agent.compact(made.ids.mark());
      await made.until((now) => now.compacting !== null);
      const now = how === 'restart' ? await made.restart() : made;
      if (how === 'abort') await made.agent.abort(made.ids.mark());
      const conversation = await now.until((one) => one.compactions.length > 0);
      expect(conversation).toMatchObject({ compacting: null, compaction: null, active: null });
      expect(conversation.compactions[0]?.outcome).toBe('failed');
      await now.submit('go on');
      await now.until(ended(2));
      expect(textOf(now.model.requests.at(-1)?.items ?? [])).toContain('"dig"');
    }
  });

  test('what is sent while the summary is made waits, and is taken up behind it', async () => {
    let release = () => undefined as void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const made = await worked(works(6, () => 100));
    const { model } = made;
    const stream = model.stream.bind(model);
    model.stream = async function* (request, signal) {
      if (isSummary(request)) await held;
      yield* stream(request, signal);
    };
    await made.agent.compact(made.ids.mark());
    await made.until((now) => now.compacting !== null);
    await made.submit('meanwhile');
    release();
    const conversation = await made.until(ended(2));
    expect(endings(conversation)).toEqual(['command completed']);
    expect(textOf(made.model.requests.at(-1)?.items ?? [])).toContain('meanwhile');
  });

  test('what waits behind a turn that was stopped waits on, and what was sent meanwhile is not lost behind it', async () => {
    let hang = false;
    const script = works(6, () => 100);
    const made = await worked((request) => (hang && !isSummary(request) ? [{ type: 'hang' }] : script(request)));
    hang = true;
    await made.submit('stop this');
    await made.until((now) => now.active?.step != null);
    await made.submit('waits behind it');
    await made.agent.abort(made.ids.mark());
    hang = false;
    await made.agent.compact(made.ids.mark());
    const conversation = await made.until((now) => now.compactions.length > 0);
    expect(conversation.inbox).toHaveLength(1);
    await made.driver('idle');
    expect(made.session.conversation.inbox).toHaveLength(1);

    await made.agent.compact(made.ids.mark());
    await made.submit('go on');
    const after = await made.until((now) => now.inbox.length === 0 && now.active === null);
    expect(after.compactions).toHaveLength(2);
    expect(textOf(made.model.requests.at(-1)?.items ?? [])).toContain('go on');
  });

  test('afterwards a restart reads no more of the log than stands behind the summary', async () => {
    const made = await worked(works(30, () => 100));
    await made.agent.compact(made.ids.mark());
    await made.until((now) => now.compactions.length > 0);
    const again = await made.restart();
    await again.submit('go on');
    await again.until(ended(2));
    const items = again.model.requests.at(-1)?.items ?? [];
    expect(textOf(items)).toContain('## Goal');
    expect(textOf(items)).not.toContain('"dig"');
  });
});

// ---- the plan itself ----

const workOf = (steps: readonly { calls: number; characters: number }[]) => {
  const log = new LogBuilder().session().asks('go').turn();
  for (const { calls: count, characters } of steps) {
    const before = log.conversation.counts.calls;
    log
      .step()
      .says(['x'.repeat(characters)])
      .replies();
    for (let call = 1; call <= count; call += 1) log.requests('read', { path: 'a' }, { title: 'Read', kind: 'read' });
    for (let call = 1; call <= count; call += 1)
      log.starts(before + call).ends('y'.repeat(characters), 'completed', before + call);
    log.endsStep();
  }
  return log.conversation;
};

test('CX1 a plan never parts a call from its result, keeps the newest that have room, and takes whole steps (property)', async () => {
  const steps = fc.array(fc.record({ calls: fc.nat(3), characters: fc.nat(8000) }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(null, 2_000, 20_000, 400_000), async (made, limit) => {
      const conversation = workOf(made);
      const plan = planCompaction(conversation, limit);
      if (plan === null) return;
      const compaction = { summary: 'before', firstKeptSeq: plan.firstKeptSeq, filesRead: [], filesChanged: [] };
      const items = await new Context(() => Promise.resolve(null)).items({ ...conversation, compaction });
      const requested = items.flatMap((item) =>
        item.type === 'reply' ? item.pieces.flatMap((piece) => (piece.type === 'tool-call' ? [piece.callId] : [])) : [],
      );
      const answered = items.flatMap((item) => (item.type === 'result' ? [item.callId] : []));
      expect(answered).toEqual(requested);
      expect(items[0]?.type).toBe('person');
      expect(plan.steps.length).toBeGreaterThan(0);
      expect(plan.kept).toBeLessThanOrEqual(limit === null ? 20_000 : limit * 0.2);
    }),
    { numRuns: 200 },
  );
});

test('the files of old steps are those that calls read and changed, the latest last, and bounded', () => {
  const before = {
    compaction: {
      summary: '',
      firstKeptSeq: 1,
      filesRead: Array.from({ length: maxSummaryFiles + 1 }, (_, place) => `r${place}`),
      filesChanged: ['c'],
    },
  };
  const step = {
    calls: [
      { details: { type: 'file-read', path: 'r3' } },
      { details: { type: 'file-read', path: 'c' } },
      { details: { type: 'file-change', path: 'r5' } },
    ],
  } as unknown as Parameters<typeof touchedFiles>[1][number];
  const { filesRead, filesChanged } = touchedFiles(before, [step]);
  expect(filesRead).toHaveLength(maxSummaryFiles);
  expect(filesRead.at(-1)).toBe('r3');
  expect(filesRead).not.toContain('r5');
  expect(filesChanged).toEqual(['c', 'r5']);
});

test('it is never due without a figure that a provider measured, nor without a known window', () => {
  const conversation = workOf([
    { calls: 2, characters: 40_000 },
    { calls: 2, characters: 40_000 },
  ]);
  const due = (context: Conversation['context']) => isCompactionDue({ ...conversation, context }, { compactAt: 0.5 });
  expect(due({ used: 90_000, limit: 100_000, estimated: false })).toBe(true);
  expect(due({ used: 90_000, limit: 100_000, estimated: true })).toBe(false);
  expect(due({ used: 90_000, limit: null, estimated: false })).toBe(false);
  expect(due(null)).toBe(false);
});
