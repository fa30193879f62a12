/** The name that was meant. */
import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const names = [
  'anthropic/claude-opus-4-1-20250805',
  'anthropic/claude-sonnet-4-20250514',
  'openai/gpt-5',
  'openai/gpt-5-mini',
  'openrouter/qwen/qwen3-max',
];

test.each([
  ['anthropic/claude-sonet-4', 'anthropic/claude-sonnet-4-20250514'],
  ['anthropic/claude-sonnet-4', 'anthropic/claude-sonnet-4-20250514'],
  ['openai/gpt-5-mni', 'openai/gpt-5-mini'],
  ['opnai/gpt-5', 'openai/gpt-5'],
  ['openai/gtp-5', 'openai/gpt-5'],
  ['OpenAI/GPT_5', 'openai/gpt-5'],
  ['openai/gpt-5', 'openai/gpt-5'],
  ['qwen3-max', 'openrouter/qwen/qwen3-max'],
  ['mistral/codestral', null],
  ['', null],
])('%s was %s', (name, meant) => {
  expect(nearest(name, names)).toBe(meant);
});

test('nothing is near where nothing is known', () => {
  expect(nearest('a/b', [])).toBeNull();
});
