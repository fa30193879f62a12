/** Turns are counted by session, and a wait for one ends, whatever becomes of the server. */
import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

const never = new Promise<void>(() => undefined);

it('resolves when every turn that was sent has ended, in whatever order that is told', async () => {
  const turns = new Turns();
  turns.ended('early');
  turns.sent('early');
  await turns.done('early', never);
  turns.sent('two');
  turns.sent('two');
  let done = false;
  const waiting = turns.done('two', never).then(() => (done = true));
  turns.ended('other');
  turns.ended('two');
  await Promise.resolve();
  expect(done).toBe(false);
  turns.ended('two');
  await waiting;
});

it('rejects when the server ends before the turn', async () => {
  const turns = new Turns();
  turns.sent('lost');
  await expect(turns.done('lost', Promise.resolve())).rejects.toThrow('the server ended before the turn did');
});
