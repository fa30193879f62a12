import { expect, it } from 'vitest';
import { inputText } from './input-text.ts';

const blob = { sha256: 'a'.repeat(64), bytes: 303_000 };

it('fetches what is too long to come by itself', async () => {
  const parts = [
    { type: 'text' as const, text: 'look at' },
    { type: 'text-blob' as const, blob },
    { type: 'image' as const, blob, mediaType: 'image/png' },
  ];
  expect(await inputText(parts, () => Promise.resolve('the log'))).toBe('look at\nthe log');
});

it('rejects where a text cannot be had, so that no editor begins empty', async () => {
  await expect(inputText([{ type: 'text-blob', blob }], () => Promise.reject(new Error('gone')))).rejects.toThrow(
    'gone',
  );
});
