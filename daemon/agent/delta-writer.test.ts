import { expect, test } from 'vitest';
import type { Draft } from '#protocol/event.ts';
import { maxDeltaBytes } from '../base/limits.ts';
import { DeltaWriter } from './delta-writer.ts';

const delta = (text: string): Draft => ({ type: 'part.delta', partId: 'prt_1' as never, text });
const end: Draft = { type: 'part.ended', partId: 'prt_1' as never };
const textOf = (events: readonly Draft[]) =>
  events.map((event) => (event.type === 'part.delta' ? event.text : '')).join('');

/** A log whose writes a test lets through one by one, or fails. */
function log() {
  const frames: Draft[][] = [];
  const open: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const append = (events: Draft[]) =>
    new Promise<void>((resolve, reject) => {
      const settle = (then: () => void) => () => {
        frames.push(events);
        then();
      };
      open.push({ resolve: settle(resolve), reject });
    });
  return { frames, open, append };
}

test('the first delta is written at once; what comes while it is written shares the next frame, joined', async () => {
  const { frames, open, append } = log();
  const writer = new DeltaWriter(append);
  writer.add(delta('a'));
  expect(open).toHaveLength(1);
  for (const text of ['b', 'c', 'd']) writer.add(delta(text));
  expect(open).toHaveLength(1);
  open[0]?.resolve();
  const flushed = writer.flush();
  await new Promise((resolve) => setImmediate(resolve));
  open[1]?.resolve();
  await flushed;
  expect(frames).toEqual([[delta('a')], [delta('bcd')]]);
});

test('behind a write that failed nothing is written, though the disk takes it again: a reply never has a hole', async () => {
  const { frames, open, append } = log();
  const writer = new DeltaWriter(append);
  writer.add(delta('a'));
  writer.add(delta('b'));
  const finished = writer.finish([end]);
  finished.catch(() => undefined);
  open[0]?.reject(new Error('ENOSPC'));
  await new Promise((resolve) => setImmediate(resolve));
  for (const one of open.slice(1)) one.resolve();
  await expect(finished).rejects.toThrow('ENOSPC');
  expect(frames).toEqual([]);
  expect(() => writer.add(delta('c'))).toThrow('ENOSPC');
});

test('what finishes a reply is written together, after all before it', async () => {
  const frames: Draft[][] = [];
  const writer = new DeltaWriter((events) => Promise.resolve(frames.push(events)));
  for (const text of ['a', 'b', 'c']) writer.add(delta(text));
  await writer.finish([end, end]);
  expect(frames.at(-1)).toEqual([end, end]);
  expect(textOf(frames.flat())).toBe('abc');
});

test('a text over the limit is split at characters and nothing of it is lost', async () => {
  const frames: Draft[][] = [];
  const writer = new DeltaWriter((events) => Promise.resolve(frames.push(events)));
  const text = 'x🌱é漢'.repeat(20_000);
  writer.add(delta(text));
  await writer.flush();
  const events = frames.flat();
  expect(textOf(events) === text).toBe(true);
  for (const event of events)
    if (event.type === 'part.delta') {
      expect(Buffer.byteLength(event.text)).toBeLessThanOrEqual(maxDeltaBytes);
      expect(event.text).not.toMatch(/[\uD800-\uDBFF]$/);
    }
});
