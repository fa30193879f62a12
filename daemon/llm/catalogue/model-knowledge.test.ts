/** What is known of models, and what follows from it: catalogue, efforts, cost. Tables, without network. */
import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import type { Effort } from '#protocol/values/model.ts';
import type { Usage } from '#protocol/values/usage.ts';
import { refreshCatalogue } from '../../model-access.ts';
import { startJsonServer, type JsonAnswer } from '../../testing/json-server.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { Catalogue, catalogueFile } from './catalogue.ts';
import { costOf } from './cost.ts';
import { effortsOf, nearestEffort } from './efforts.ts';
import { readList } from './listed-models.ts';
import { offered } from './model-facts.ts';
import { rowsOf } from '../providers/provider-rows.ts';
import { vendors } from './vendors.ts';

const clock = { now: () => 1_790_000_000_000 };

// ---- the catalogue (PR13) ----

async function served(answer: JsonAnswer): Promise<string> {
  const server = await startJsonServer(() => answer);
  onTestFinished(() => server.close());
  return `${server.url}/api.json`;
}

const fetched = {
  openai: {
    models: {
      'gpt-9': {
        name: 'GPT-9',
        tool_call: true,
        reasoning: true,
        release_date: '2026-11-01',
        modalities: { input: ['text', 'image'], output: ['text'] },
        limit: { context: 2_000_000, output: 200_000 },
        cost: { input: 1.5, output: 12 },
      },
      'gpt-free': { name: 'Free', tool_call: true, cost: { input: 0, output: 0 }, limit: { context: 0 } },
      'gpt-mystery': { name: 'Mystery', tool_call: true },
      'not a name': { name: 'x', tool_call: true },
      broken: 7,
    },
  },
  somebody: { models: { 'their-model': { tool_call: true } } },
};

test('every vendor has models in the bundled catalogue, without any network (PR13)', async () => {
  const view = await new Catalogue(temporaryFolder()).load();
  expect(vendors.filter(({ catalogue }) => view.of(catalogue).length === 0)).toEqual([]);
  expect(view.find('anthropic', 'claude-sonnet-4-20250514')).toMatchObject({
    label: 'Claude Sonnet 4',
    contextWindow: 200_000,
    price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    pictures: true,
    reasoning: true,
  });
});

test('a catalogue that was fetched wins for its vendors at once; what it does not say is unknown, not zero (PR13)', async () => {
  const home = temporaryFolder();
  const catalogue = new Catalogue(home);
  const before = await catalogue.load();
  const address = await served({ body: fetched });
  expect(await refreshCatalogue(home, address, clock)).toEqual({ models: 3, from: address });
  const view = await catalogue.load();
  expect(view.of('openai').map(({ id }) => id)).toEqual(['gpt-9', 'gpt-free', 'gpt-mystery']);
  expect(view.of('anthropic')).toEqual(before.of('anthropic'));
  expect(view.find('openai', 'gpt-9')?.price).toEqual({ input: 1.5, output: 12, cacheRead: null, cacheWrite: null });
  expect(view.find('openai', 'gpt-free')).toMatchObject({ price: { input: 0, output: 0 }, contextWindow: null });
  expect(view.find('openai', 'gpt-mystery')).toMatchObject({ price: null, contextWindow: null, reasoning: null });
});

test.each<[string, JsonAnswer, string]>([
  ['no JSON', { body: '<html>' }, 'is not JSON'],
  ['JSON of another kind', { body: { hello: [1] } }, 'is no catalogue'],
  ['a refusal', { status: 500 }, 'answered 500'],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'answered 302'],
])('%s is no catalogue: the one before stays in force (PR13)', async (_, answer, words) => {
  const home = temporaryFolder();
  await refreshCatalogue(home, await served({ body: fetched }), clock);
  await expect(refreshCatalogue(home, await served(answer), clock)).rejects.toThrow(words);
  expect((await new Catalogue(home).load()).of('openai')).toHaveLength(3);
});

test('a kept catalogue that is damaged is as good as none', async () => {
  const home = temporaryFolder();
  writeFileSync(catalogueFile(home), '{"providers":{"openai":[{"id":7}]}}');
  expect((await new Catalogue(home).load()).of('openai').length).toBeGreaterThan(10);
});

test('what a provider lists itself is offered beside the catalogue, newest first, without what is no model to talk to', async () => {
  const home = temporaryFolder();
  await refreshCatalogue(home, await served({ body: fetched }), clock);
  const view = await new Catalogue(home).load();
  const listed = readList({
    data: [
      { id: 'gpt-10', created: 1_795_000_000 },
      { id: 'gpt-9', created: 1_793_500_000 },
      { id: 'text-embedding-4' },
      { id: 'gpt-image-2' },
      { id: 'mute', capabilities: { function_calling: false } },
    ],
  });
  const row = rowsOf(new Map(), []).get('openai')!;
  expect(
    offered(row, view, listed).map(({ id, shortlisted, price }) => [id, shortlisted, price?.input ?? null]),
  ).toEqual([
    ['gpt-10', true, null],
    ['gpt-9', true, 1.5],
    ['gpt-free', false, 0],
    ['gpt-mystery', false, null],
  ]);
});

test('of a router the newest of each well-known maker comes first; of a vendor five, one of a family', async () => {
  const view = await new Catalogue(temporaryFolder()).load();
  const rows = rowsOf(new Map(), []);
  const first = (name: string) =>
    offered(rows.get(name)!, view, null).flatMap(({ id, shortlisted }) => (shortlisted ? [id] : []));
  const makers = first('openrouter').map((id) => id.split('/')[0]);
  expect(makers.slice(0, 3)).toEqual(['anthropic', 'openai', 'google']);
  expect(new Set(makers).size).toBe(makers.length);
  expect(first('openai').length).toBe(5);
  expect(first('openai')[0]).toBe('gpt-5');
});

test('lists of models are read in the shapes that vendors have, and nothing else is taken for one', () => {
  expect(readList({ data: [{ id: 'models/gemini-3' }] })?.[0]?.id).toBe('gemini-3');
  expect(readList([{ id: 'a', context_length: 5 }])?.[0]).toMatchObject({ id: 'a', contextWindow: 5 });
  const claude = { id: 'claude-x', display_name: 'Claude X', created_at: '2026-02-05T00:00:00Z' };
  expect(readList({ data: [claude] })).toEqual([
    { id: 'claude-x', label: 'Claude X', releasedAt: '2026-02-05', contextWindow: null, tools: null },
  ]);
  expect(readList({ data: [{ id: 'y', supported_parameters: ['tools'] }] })?.[0]?.tools).toBe(true);
  expect([readList('x'), readList({}), readList({ data: [{ no: 'id' }] })]).toEqual([null, null, null]);
});

// ---- efforts (PR7) ----

type Format = Parameters<typeof effortsOf>[0]['format'];
const all = 'off low medium high xhigh';

test.each<[Format, string | null, string, boolean | null, string | null]>([
  ['anthropic-messages', 'anthropic', 'claude-3-5-haiku-20241022', false, ''],
  ['anthropic-messages', 'anthropic', 'claude-sonnet-4-20250514', true, 'off low medium high'],
  ['anthropic-messages', 'anthropic', 'claude-opus-4-6', null, 'off low medium high'],
  ['anthropic-messages', 'anthropic', 'claude-opus-4-7', null, all],
  ['anthropic-messages', null, 'kimi', null, null],
  ['openai-responses', 'openai', 'gpt-4.1', false, ''],
  ['openai-responses', 'openai', 'gpt-5', true, 'low medium high'],
  ['openai-responses', 'openai', 'gpt-5.1', null, 'off low medium high'],
  ['openai-responses', 'openai', 'gpt-5.2', null, all],
  ['openai-responses', 'openai', 'gpt-5-chat-latest', true, ''],
  ['openai-responses', 'openai', 'gpt-5-pro', true, 'high'],
  ['openai-responses', 'openai', 'gpt-5.1-codex-max', null, 'low medium high xhigh'],
  ['openai-responses', 'openai', 'o3', true, 'low medium high'],
  ['openai-responses', 'openai', 'somewhat-new', null, null],
  ['openai-chat', 'xai', 'grok-4', true, ''],
  ['openai-chat', 'xai', 'grok-3-mini', true, 'low high'],
  ['openai-chat', 'google', 'gemini-2.5-pro', true, 'low medium high'],
  ['openai-chat', 'google', 'gemini-2.0-flash', false, ''],
  ['openai-chat', 'groq', 'openai/gpt-oss-120b', true, 'low medium high'],
  ['openai-chat', 'openrouter', 'anthropic/claude-sonnet-4', true, all],
  ['openai-chat', 'openrouter', 'qwen/qwen3-next-80b-a3b-instruct', false, ''],
  ['openai-chat', 'deepseek', 'deepseek-reasoner', true, ''],
  ['openai-chat', null, 'gpt-5', null, null],
])('%s, %s: %s (reasons: %s) takes %s (PR7)', (format, vendor, model, reasoning, takes) => {
  expect(effortsOf({ format, vendor, model, reasoning, named: null })?.join(' ') ?? null).toBe(takes);
});

test('what the settings say of efforts goes before all else, weakest first', () => {
  const named: Effort[] = ['high', 'off'];
  expect(effortsOf({ format: 'openai-responses', vendor: 'openai', model: 'gpt-4', reasoning: false, named })).toEqual([
    'off',
    'high',
  ]);
});

test.each<[Effort | null, Effort[] | null, Effort | null]>([
  ['high', null, 'high'],
  [null, ['low'], null],
  ['xhigh', ['low', 'high'], 'high'],
  ['medium', ['low', 'high'], 'low'],
  ['off', ['low', 'high'], 'low'],
  ['low', [], null],
])('wanted %s of %s: %s is sent (PR7)', (wanted, takes, sent) => {
  expect(nearestEffort(wanted, takes)).toBe(sent);
});

// ---- cost ----

const million = 1_000_000;
const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

test.each<[string, Partial<Usage> | null, Partial<typeof price> | null, number | null]>([
  ['plain', { input: million, output: million }, price, 18],
  [
    'each part of the input at its own price',
    { input: 10 * million, output: 0, cacheRead: 8 * million, cacheWrite: million },
    price,
    9.15,
  ],
  ['free is zero', { input: 5, output: 5 }, { input: 0, output: 0 }, 0],
  ['no usage', null, price, null],
  ['half a usage', { input: 5 }, price, null],
  ['no price', { input: 5, output: 5 }, null, null],
  [
    'the price of the cache is needed and unknown',
    { input: 5, output: 5, cacheRead: 2 },
    { input: 3, output: 15 },
    null,
  ],
  ['it is unknown but not needed', { input: million, output: 0, cacheRead: 0 }, { input: 3 }, 3],
])('cost: %s', (_, used, prices, cost) => {
  const none = { input: null, output: null, cacheRead: null, cacheWrite: null };
  const usage = used === null ? null : { ...none, reasoning: null, ...used };
  const got = costOf(usage, prices === null ? null : { ...none, ...prices });
  if (cost === null) expect(got).toBeNull();
  else expect(got).toBeCloseTo(cost, 9);
});
