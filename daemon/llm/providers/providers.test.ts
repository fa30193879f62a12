/** Providers by configuration: what a row may say, what a name means, and whose connections are open when. */
import { expect, onTestFinished, test } from 'vitest';
import { messagesReply, startAnthropicServer } from '../../testing/anthropic-server.ts';
import { chatReply, startOpenAiServer } from '../../testing/openai-server.ts';
import { followedBy } from '../../testing/wire-server.ts';
import { aRequest, gather } from '../formats/contract.ts';
import type { ModelClient } from '../model-stream.ts';
import { parseProviders } from './provider-settings.ts';
import { Providers, type Environment, type Resolution } from './providers.ts';

const clock = { now: () => 0 };
const noKeys = { get: () => null };
const forever = new AbortController().signal;

function providersOf(settings: Record<string, unknown>, environment: Environment = {}): Providers {
  const parsed = parseProviders(settings);
  expect(parsed.problems).toEqual([]);
  const providers = new Providers({ settings: parsed.providers, environment, keys: noKeys, clock });
  onTestFinished(() => providers.close());
  return providers;
}

function clientOf(resolution: Resolution): ModelClient {
  if (resolution.type !== 'resolved') throw new Error(resolution.failure.message);
  return resolution.client;
}

function row(baseUrl: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { format: 'openai-chat', baseUrl, ...more };
}

test('a row makes a model, listed or not, and its client speaks to that server with that key (PR4)', async () => {
  const server = await startOpenAiServer();
  onTestFinished(() => server.close());
  const providers = providersOf(
    {
      mine: row(`${server.url}/`, { keyEnv: 'MINE_KEY', models: ['small', { id: 'vendor/big', contextWindow: 9000 }] }),
    },
    { MINE_KEY: ' sk-mine\n' },
  );
  expect(providers.resolve('mine/vendor/big')).toMatchObject({ type: 'resolved', model: 'vendor/big' });
  expect(providers.resolve('mine/small')).toMatchObject({ provider: 'mine', model: 'small' });
  expect(providers.resolve('mine/unlisted')).toMatchObject({ type: 'resolved', model: 'unlisted' });
  server.enqueue(chatReply({ text: 'hi' }));
  expect((await gather(clientOf(providers.resolve('mine/small')).stream(aRequest(), forever))).text).toBe('hi');
  expect(server.requests[0]).toMatchObject({
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer sk-mine' },
  });
});

test.each([
  ['nothing', 'model_unknown'],
  ['mine/', 'model_unknown'],
  ['other/model', 'model_unknown'],
  ['offline/gpt', 'model_unknown'],
  ['keyed/model', 'unauthorized'],
])('%s cannot be had: %s', (name, code) => {
  const providers = providersOf(
    {
      keyed: row('https://example.test/v1', { keyEnv: 'SOME_KEY' }),
    },
    { SOME_KEY: '' },
  );
  expect(providers.resolve(name)).toMatchObject({ type: 'unavailable', failure: { code } });
});

test('a row of Anthropic Messages is spoken to in its format, with the limit of its model (PR2, PR4)', async () => {
  const server = await startAnthropicServer();
  onTestFinished(() => server.close());
  const models = [{ id: 'claude-x', maxOutputTokens: 500 }];
  const providers = providersOf({ claude: { format: 'anthropic-messages', baseUrl: server.url, models } });
  server.enqueue(messagesReply({ text: 'hi' }));
  const request = { ...aRequest(), model: 'claude-x' };
  expect((await gather(clientOf(providers.resolve('claude/claude-x')).stream(request, forever))).text).toBe('hi');
  expect(server.requests[0]).toMatchObject({ path: '/v1/messages', body: { model: 'claude-x', max_tokens: 500 } });
});

test('all three formats resolve (PR2)', () => {
  const formats = ['anthropic-messages', 'openai-chat', 'openai-responses'];
  const providers = providersOf(Object.fromEntries(formats.map((format) => [format, { format, baseUrl: 'http://x' }])));
  expect(formats.map((format) => providers.resolve(`${format}/m`).type)).toEqual(formats.map(() => 'resolved'));
});

test('a missing key is named by its variable', () => {
  const providers = providersOf({
    keyed: row('https://example.test/v1', { keyEnv: 'SOME_KEY' }),
  });
  const said = (name: string) => {
    const resolution = providers.resolve(name);
    return resolution.type === 'unavailable' ? resolution.failure.message : '';
  };
  expect(said('keyed/m')).toContain('SOME_KEY');
});

test('a row that misfits is left out with a sentence, the others stay', () => {
  const parsed = parseProviders({
    good: row('http://localhost:1'),
    offline: row('http://localhost:1'),
    'a/b': row('http://localhost:1'),
    ftp: row('ftp://localhost'),
    text: 'no',
    secret: row('https://user:hunter2@example.test'),
    format: { format: 'soap', baseUrl: 'http://localhost' },
    variable: row('http://localhost', { keyEnv: 'NOT A NAME' }),
    models: row('http://localhost', { models: [{ id: 'x', contextWindow: 0 }] }),
  });
  expect([...parsed.providers.keys()]).toEqual(['good']);
  expect(parsed.problems.map((problem) => problem.split(' ')[0])).toEqual([
    'providers.offline',
    'providers.a/b',
    'providers.ftp',
    'providers.text',
    'providers.secret',
    'providers.format',
    'providers.variable',
    'providers.models',
  ]);
  expect(parsed.problems.join()).not.toContain('hunter2');
  expect(parseProviders(undefined).problems).toEqual([]);
  expect(parseProviders([]).problems).toHaveLength(1);
});

test('an added row is there at once; a changed one lets its running reply end, then leaves no connection (PR4, PR30)', async () => {
  const server = await startOpenAiServer();
  onTestFinished(() => server.close());
  const providers = providersOf({ a: row(server.url), b: row(server.url) });
  const kept = clientOf(providers.resolve('b/m'));
  let go = () => {};
  const gate = new Promise<void>((resolve) => (go = resolve));
  const [first, ...rest] = chatReply({ text: 'old' }).acts;
  server.enqueue({ ...chatReply({}), acts: [first!, { act: 'until', gate }, ...rest] });
  const before = clientOf(providers.resolve('a/m'));
  const running = gather(before.stream(aRequest(), forever));
  await server.request(1);

  const changed = { a: row(`${server.url}/new`), b: row(server.url), c: row(server.url) };
  providers.replace({ settings: parseProviders(changed).providers });
  expect(clientOf(providers.resolve('b/m'))).toBe(kept);
  expect(providers.resolve('c/m').type).toBe('resolved');
  expect(clientOf(providers.resolve('a/m'))).not.toBe(before);
  go();
  expect(await running).toMatchObject({ text: 'old', end: { type: 'done' } });
  await server.quiet();

  server.enqueue(chatReply({ text: 'late' }));
  expect((await gather(before.stream(aRequest(), forever))).text).toBe('late');
  await server.quiet();
});

test('close ends running replies and leaves no connection (PR30)', async () => {
  const server = await startOpenAiServer(() => followedBy({ ...chatReply({ text: 'x' }), acts: [] }, { act: 'hang' }));
  onTestFinished(() => server.close());
  const providers = providersOf({ a: row(server.url) });
  const client = clientOf(providers.resolve('a/m'));
  const running = gather(client.stream(aRequest(), forever));
  await server.request(1);
  providers.replace({ settings: new Map() });
  await providers.close();
  await providers.close();
  expect((await running).end.type).toBe('aborted');
  expect((await gather(client.stream(aRequest(), forever))).end.type).toBe('aborted');
  expect(providers.resolve('a/m').type).toBe('unavailable');
  await server.quiet();
});
