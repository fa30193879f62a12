import { expect, test } from 'vitest';
import { SerialQueue } from './serial.ts';

test('work runs in the order it was asked for, one at a time, and a failure reaches only its caller', async () => {
  const queue = new SerialQueue();
  const said: string[] = [];
  const slow = queue.run(async () => {
    said.push('slow begins');
    await new Promise(setImmediate);
    said.push('slow ends');
    return 1;
  });
  const failing = queue.run(() => {
    said.push('failing');
    throw new Error('no');
  });
  const quick = queue.run(() => said.push('quick'));
  await expect(failing).rejects.toThrow('no');
  expect(await slow).toBe(1);
  await quick;
  await queue.idle();
  expect(said).toEqual(['slow begins', 'slow ends', 'failing', 'quick']);
});
