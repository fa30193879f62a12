/** The scripted model keeps the contract of adapters, and nothing but its script. */
import { expect, test } from 'vitest';
import { aRequest, gather, person } from '../formats/contract.ts';
import { scriptedModel, type Action } from './scripted.ts';

const forever = new AbortController().signal;
const usage = { input: 3, output: 2, cacheRead: null, cacheWrite: null, reasoning: null };

test('a script is played in order: reasoning, words, calls, usage (EV2)', async () => {
  const model = scriptedModel([
    [
      { type: 'reason', text: ['h', 'm'], signature: 's' },
      { type: 'say', text: 'two words' },
      { type: 'call', tool: 'read', arguments: { path: 'a' } },
      { type: 'call', tool: 'read', arguments: '{"path":' },
      { type: 'usage', usage },
    ],
  ]);
  const got = await gather(model.stream(aRequest(), forever));
  expect(got).toMatchObject({ reasoning: 'hm', text: 'two words' });
  expect(got.events).toContainEqual({ type: 'part-ended', key: 'reasoning-1', signature: 's' });
  expect(got.events.filter((event) => event.type === 'part-delta' && event.key === 'text-2')).toHaveLength(2);
  expect(got.end).toMatchObject({
    type: 'done',
    stop: 'tool-calls',
    usage,
    calls: [
      { tool: 'read', arguments: { path: 'a' }, problem: null },
      { tool: 'read', arguments: {}, problem: expect.any(String) as string },
    ],
  });
});

test('each request takes the next reply; one too many is refused, not improvised', async () => {
  const model = scriptedModel([[{ type: 'say', text: 'one' }]]);
  model.enqueue([{ type: 'say', text: 'two' }]);
  expect((await gather(model.stream(aRequest(), forever))).text).toBe('one');
  expect((await gather(model.stream(aRequest([person('again')]), forever))).text).toBe('two');
  const third = await gather(model.stream(aRequest(), forever));
  expect(third.end).toMatchObject({ type: 'failed', failure: { code: 'provider_refused' }, retryable: false });
  expect(model.requests).toHaveLength(3);
});

test('a function answers by what it is asked', async () => {
  const model = scriptedModel((request) => [{ type: 'say', text: `${request.items.length} items` }]);
  expect((await gather(model.stream(aRequest(), forever))).text).toBe('1 items');
});

test('a failure is retryable only while nothing was said (RT17)', async () => {
  const fail: Action = { type: 'fail', failure: { code: 'rate_limited', message: 'm' }, retryAfterMs: 10 };
  const model = scriptedModel([[fail], [{ type: 'say', text: 'x' }, fail]]);
  expect((await gather(model.stream(aRequest(), forever))).end).toMatchObject({ retryable: true, retryAfterMs: 10 });
  expect((await gather(model.stream(aRequest(), forever))).end).toMatchObject({ retryable: false });
});

test('a script that throws ends the stream as a fault', async () => {
  const model = scriptedModel(() => {
    throw new Error('no such scene');
  });
  const got = await gather(model.stream(aRequest(), forever));
  expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'fault' }, retryable: false });
});

test.each([
  [{ type: 'hang' }],
  [{ type: 'wait', ms: 60_000 }],
  [{ type: 'say', text: 'slow', paceMs: 60_000 }],
] as Action[][])('abort ends %o at once, and so does close', async (action) => {
  const model = scriptedModel(() => [action]);
  const abort = new AbortController();
  const running = gather(model.stream(aRequest(), abort.signal));
  setImmediate(() => abort.abort());
  expect((await running).end).toEqual({ type: 'aborted', usage: null });
  const another = gather(model.stream(aRequest(), forever));
  setImmediate(() => void model.close());
  expect((await another).end).toEqual({ type: 'aborted', usage: null });
  expect((await gather(model.stream(aRequest(), forever))).end.type).toBe('aborted');
});
