import { expect, test } from 'vitest';
import { Scope } from './scope.ts';

test('closing aborts the signal, then closes in reverse order, each awaited, once', async () => {
  const scope = new Scope();
  const said: string[] = [];
  scope.signal.addEventListener('abort', () => said.push('aborted'));
  scope.own({ close: () => void said.push('first') });
  scope.onClose(async () => {
    await Promise.resolve();
    said.push('second');
  });
  await Promise.all([scope.close(), scope.close()]);
  expect(said).toEqual(['aborted', 'second', 'first']);
});

test('everything is closed whatever the others throw, and the errors come together', async () => {
  const scope = new Scope();
  let closed = false;
  scope.onClose(() => void (closed = true));
  scope.onClose(() => Promise.reject(new Error('one')));
  scope.onClose(() => {
    throw new Error('two');
  });
  const error = await scope.close().catch((reason: unknown) => reason as AggregateError);
  expect(closed).toBe(true);
  expect((error as AggregateError).errors.map(String)).toEqual(['Error: two', 'Error: one']);
});

test('a child ends with its parent, and may end sooner', async () => {
  const scope = new Scope();
  const early = scope.child();
  const late = scope.child();
  const said: string[] = [];
  early.onClose(() => void said.push('early'));
  late.onClose(() => void said.push('late'));
  await early.close();
  expect(said).toEqual(['early']);
  await scope.close();
  expect(said).toEqual(['early', 'late']);
  expect(late.signal.aborted).toBe(true);
});

test('background work is awaited at the end; its failure is heard at once', async () => {
  const scope = new Scope();
  const heard: unknown[] = [];
  let ended = false;
  scope.background(Promise.reject(new Error('broke')), (error) => heard.push(String(error)));
  const work = new Promise<void>((resolve) =>
    scope.signal.addEventListener('abort', () =>
      setImmediate(() => {
        ended = true;
        resolve();
      }),
    ),
  );
  scope.background(work, (error) => heard.push(error));
  await new Promise(setImmediate);
  expect(heard).toEqual(['Error: broke']);
  await scope.close();
  expect(ended).toBe(true);
  expect(() => scope.onClose(() => undefined)).toThrow('ended');
});
