import { expect, test } from 'vitest';
import { contextWords } from './context-words.ts';

test('CX3: the command line tells each part with its share; what is small never reads as nothing, what is unknown is said to be', () => {
  const parts = [
    { part: 'prompt' as const, name: 'base', tokens: 1200, share: 1000 },
    { part: 'instructions' as const, name: 'AGENTS.md', tokens: 1, share: 0 },
  ];
  expect(contextWords({ model: 'a/b', limit: null, measured: null, estimated: 1201, parts }).split('\n')).toEqual([
    'Model       a/b',
    'Window      unknown',
    'Measured    unknown',
    'Estimated   1,201 tokens for the next request:',
    '  base            1,200  100.0%',
    '  AGENTS.md           1   <0.1%',
    '',
  ]);
  expect(contextWords({ model: 'a/b', limit: 1000, measured: 10, estimated: 0, parts: [] })).toContain(
    '10 tokens (1.0% of the window) by the provider',
  );
});
