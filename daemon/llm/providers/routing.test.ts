/** Which provider a name means. */
import { expect, test } from 'vitest';
import { routeOf } from './routing.ts';

const there = new Set(['openai', 'anthropic', 'groq', 'work', 'openrouter', 'ollama']);
const aliases = new Map([
  ['fast', 'groq/llama-3.3'],
  ['best', 'claude-opus-4-5'],
  ['twice', 'fast'],
  ['team/main', 'work/some-model'],
  ['gpt-5', 'work/gpt-5'],
  ['one', 'other'],
  ['other', 'one'],
]);
const routes = { has: (name: string) => there.has(name), aliases };

test.each([
  // A provider that there is wins over everything.
  ['work/some-model', 'work', 'some-model'],
  ['openai/gpt-5', 'openai', 'gpt-5'],
  ['openrouter/openai/gpt-5', 'openrouter', 'openai/gpt-5'],
  ['work/qwen2.5-coder:7b', 'work', 'qwen2.5-coder:7b'],
  ['ollama/qwen3', 'ollama', 'qwen3'],
  // Aliases, of aliases too, and before the beginnings of names.
  ['fast', 'groq', 'llama-3.3'],
  ['twice', 'groq', 'llama-3.3'],
  ['best', 'anthropic', 'claude-opus-4-5'],
  ['team/main', 'work', 'some-model'],
  ['gpt-5', 'work', 'gpt-5'],
  ['one', 'openrouter', 'one'],
  // Those with a name of their own, set up or not.
  ['@cf/meta/llama-3.1-8b-instruct', 'cloudflare', '@cf/meta/llama-3.1-8b-instruct'],
  ['copilot/gpt-4.1', 'copilot', 'gpt-4.1'],
  ['chatgpt/gpt-5-codex', 'chatgpt', 'gpt-5-codex'],
  ['groq/openai/gpt-oss-120b', 'groq', 'openai/gpt-oss-120b'],
  ['together/meta-llama/Llama-3', 'together', 'meta-llama/Llama-3'],
  // Any other slash.
  ['mistralai/mistral-large', 'openrouter', 'mistralai/mistral-large'],
  ['deepseek/deepseek-r1:free', 'openrouter', 'deepseek/deepseek-r1:free'],
  // A colon.
  ['qwen2.5-coder:latest', 'ollama', 'qwen2.5-coder:latest'],
  ['gpt-oss:20b', 'ollama', 'gpt-oss:20b'],
  // Beginnings.
  ['gpt-4.1-mini', 'openai', 'gpt-4.1-mini'],
  ['o3', 'openai', 'o3'],
  ['o4-mini', 'openai', 'o4-mini'],
  ['claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
  ['gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
  ['gemma-3-27b', 'google', 'gemma-3-27b'],
  ['codestral-latest', 'mistral', 'codestral-latest'],
  ['ministral-8b', 'mistral', 'ministral-8b'],
  ['open-mistral-nemo', 'mistral', 'open-mistral-nemo'],
  ['grok-4', 'xai', 'grok-4'],
  ['deepseek-chat', 'deepseek', 'deepseek-chat'],
  ['qwen-max', 'alibaba', 'qwen-max'],
  ['qwq-32b', 'alibaba', 'qwq-32b'],
  ['kimi-k2', 'moonshot', 'kimi-k2'],
  ['glm-4.6', 'zai', 'glm-4.6'],
  // The rest.
  ['gpt-oss-120b', 'openrouter', 'gpt-oss-120b'],
  ['unheard-of', 'openrouter', 'unheard-of'],
  ['opus', 'openrouter', 'opus'],
])('PR9: %s means %s, model %s', (name, provider, model) => {
  expect(routeOf(name, routes)).toEqual({ provider, model });
});
