import { expect, it } from 'vitest';
import { waysOn } from './failure-ways.ts';

it('RT15: offers first what is likeliest to help, and no repeat of what is refused as it is', () => {
  expect([waysOn('unauthorized'), waysOn('model_unknown'), waysOn('context_full'), waysOn('provider_refused')]).toEqual(
    [
      ['connect', 'again', 'model'],
      ['model', 'connect'],
      ['model', 'new-session'],
      ['model', 'again', 'connect'],
    ],
  );
  expect([waysOn('provider_unreachable'), waysOn('storage_failed')]).toEqual([['again', 'model'], ['again']]);
});
