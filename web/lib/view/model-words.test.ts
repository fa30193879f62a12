import { expect, it } from 'vitest';
import type { ModelChoice } from '#protocol/commands/model.ts';
import { effortsOf, fitEffort, modelFacts, modelWords } from './model-words.ts';

const fern: ModelChoice = {
  name: 'work/fern',
  label: 'Fern',
  provider: 'work',
  providerLabel: 'Work',
  available: true,
  reason: null,
  shortlisted: true,
  contextWindow: 200_000,
  maxOutput: null,
  price: { input: 0.25, output: 15, cacheRead: null, cacheWrite: null },
  efforts: ['low', 'medium'],
  pictures: true,
};

it('says what is known of a model, and of what is not that it is unknown', () => {
  expect(modelFacts(fern)).toEqual(['200k window', '$0.25 in, $15 out', 'sees pictures']);
  expect(modelFacts({ ...fern, contextWindow: null, price: null, pictures: null })).toEqual([
    'window unknown',
    'price unknown',
  ]);
  expect(modelFacts({ ...fern, price: { input: 1, output: null, cacheRead: null, cacheWrite: null } })[1]).toBe(
    '$1 in, unknown out',
  );
});

it('names the model with its effort, and one that is in no list by its name', () => {
  expect(modelWords(fern, 'work/fern', 'low')).toBe('Fern · low');
  expect(modelWords({ ...fern, efforts: [] }, 'work/fern', 'low')).toBe('Fern');
  expect(modelWords(undefined, 'work/moss', null)).toBe('work/moss');
  expect(modelWords(undefined, null, null)).toBe('No model');
});

it('PR7: keeps an effort that the model takes, else the strongest below it, else none', () => {
  const fit = (efforts: ModelChoice['efforts']) => fitEffort('high', { ...fern, efforts });
  expect([fit(['high']), fit(['low', 'medium']), fit(['xhigh']), fit([]), fit(null)]).toEqual([
    'high',
    'medium',
    null,
    null,
    'high',
  ]);
  expect(fitEffort(null, fern)).toBeNull();
});

it('offers every effort where nobody knows which a model takes', () => {
  expect(effortsOf({ ...fern, efforts: null })).toEqual(['off', 'low', 'medium', 'high', 'xhigh']);
  expect(effortsOf({ ...fern, efforts: [] })).toEqual([]);
});
