import { expect, it } from 'vitest';
import type { ModelChoice } from '#protocol/commands/model.ts';
import { searchModels } from './model-search.ts';

function model(name: string, label: string, more: Partial<ModelChoice> = {}): ModelChoice {
  return {
    name,
    label,
    provider: name.split('/', 1)[0] ?? '',
    providerLabel: more.providerLabel ?? name.split('/', 1)[0] ?? '',
    available: true,
    reason: null,
    shortlisted: false,
    contextWindow: null,
    maxOutput: null,
    price: null,
    efforts: null,
    pictures: null,
    ...more,
  };
}

const models = [
  model('anthropic/claude-sonnet-4', 'Claude Sonnet 4', { providerLabel: 'Anthropic' }),
  model('anthropic/claude-opus-4', 'Claude Opus 4', { providerLabel: 'Anthropic' }),
  model('openai/gpt-5-mini', 'GPT-5 mini', { providerLabel: 'OpenAI' }),
  model('openrouter/anthropic/claude-sonnet-4', 'Claude Sonnet 4', { providerLabel: 'OpenRouter' }),
];
const names = (query: string) => searchModels(models, query).found.map((one) => one.name);

it.each([
  ['', models.map((one) => one.name)],
  ['sonnet', ['anthropic/claude-sonnet-4', 'openrouter/anthropic/claude-sonnet-4']],
  ['router sonnet', ['openrouter/anthropic/claude-sonnet-4']],
  ['OPUS', ['anthropic/claude-opus-4']],
  ['gpt5', ['openai/gpt-5-mini']],
  ['openai/gpt-5-mini', ['openai/gpt-5-mini']],
  ['zebra', []],
])('PR11: "%s" finds what has all of its words', (query, found) => {
  expect(names(query)).toEqual(found);
});

it('PR11: a slip of the fingers is answered with the nearest, by its id alone or by its whole name', () => {
  expect(searchModels(models, 'claude-sonet-4x').nearest?.label).toBe('Claude Sonnet 4');
  expect(searchModels(models, 'openai/gpt-5-mnii').nearest?.name).toBe('openai/gpt-5-mini');
  expect(searchModels(models, 'zebra').nearest).toBeNull();
  expect(searchModels(models, 'sonnet').nearest).toBeNull();
});

it('PR11: a whole name that is not in the list can be used, one that is and half a name cannot', () => {
  const unlisted = (query: string) => searchModels(models, query).unlisted;
  expect([unlisted('openai/gpt-9'), unlisted('openai/gpt-5-mini'), unlisted('gpt-9'), unlisted('openai/')]).toEqual([
    'openai/gpt-9',
    null,
    null,
    null,
  ]);
});

it('puts what can be used before what cannot, where both fit alike', () => {
  const two = [model('a/fern', 'Fern', { available: false }), model('b/fern', 'Fern')];
  expect(searchModels(two, 'fern').found.map((one) => one.name)).toEqual(['b/fern', 'a/fern']);
});
