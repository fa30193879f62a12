import { expect, test, vi, onTestFinished } from 'vitest';
import { addOutput, noOutput, type CallOutput } from '#protocol/conversation/tool-call.ts';
import type { Draft } from '#protocol/event.ts';
import { liveOutputBytes, sampledOutputBytes, sampledOutputMs } from '../base/limits.ts';
import { OutputWriter } from './output-writer.ts';

function writer() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const events: Draft[] = [];
  const output = new OutputWriter('cal_1' as never, (drafts) => {
    events.push(...drafts);
    return Promise.resolve();
  });
  const folded = (): CallOutput =>
    events.reduce(
      (all, event) => (event.type === 'tool-call.output' ? addOutput(all, event.text, event.skippedBytes ?? 0) : all),
      noOutput,
    );
  const bytes = () =>
    events.reduce(
      (sum, event) =>
        sum + (event.type === 'tool-call.output' ? Buffer.byteLength(event.text) + (event.skippedBytes ?? 0) : 0),
      0,
    );
  const finish = async () => void events.push(...(await output.finish()));
  return { output, events, folded, bytes, finish };
}

test('output is gathered for a moment and written whole; what waits at the end comes with the end', async () => {
  const { output, events, finish } = writer();
  output.add('one\n');
  output.add('two\n');
  expect(events).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  expect(events).toEqual([{ type: 'tool-call.output', callId: 'cal_1', text: 'one\ntwo\n' }]);
  output.add('three\n');
  await finish();
  expect(events[1]).toMatchObject({ text: 'three\n' });
});

test.each([liveOutputBytes - 1, liveOutputBytes, liveOutputBytes + 1, liveOutputBytes + 10_000, 3 * liveOutputBytes])(
  'of a burst of %i bytes the first 64 KiB stand in the log, then the newest text, and nothing is unaccounted for',
  async (length) => {
    const text = 'é🌱line\n'.repeat(Math.ceil(length / 11)).slice(0, length / 2);
    const { output, events, bytes, finish } = writer();
    output.add(text);
    await vi.advanceTimersByTimeAsync(2000);
    await finish();
    const [first] = events;
    if (first?.type !== 'tool-call.output') throw new Error('there should be output');
    expect(text.startsWith(first.text)).toBe(true);
    expect(Buffer.byteLength(first.text)).toBeGreaterThanOrEqual(
      Math.min(Buffer.byteLength(text), liveOutputBytes - 4),
    );
    expect(bytes()).toBe(Buffer.byteLength(text));
    expect(events.map((event) => (event.type === 'tool-call.output' ? event.text : '')).join('')).not.toContain(
      '\uFFFD',
    );
  },
);

test('after 64 KiB there is at most one event of 2 KiB a second, with the newest text and the bytes skipped', async () => {
  const { output, events, bytes, finish } = writer();
  output.add('x'.repeat(liveOutputBytes));
  const live = events.length;
  let written = liveOutputBytes;
  for (let tenth = 0; tenth < 100; tenth += 1) {
    const line = `line ${tenth} ${'y'.repeat(5000)}\n`;
    output.add(line);
    written += line.length;
    await vi.advanceTimersByTimeAsync(sampledOutputMs / 10);
  }
  await finish();
  const samples = events.slice(live);
  expect(samples.length).toBeLessThanOrEqual(11);
  for (const event of samples)
    if (event.type === 'tool-call.output')
      expect(Buffer.byteLength(event.text)).toBeLessThanOrEqual(sampledOutputBytes);
  expect(bytes()).toBe(written);
});

test('a disk that refuses is told at the end', async () => {
  const output = new OutputWriter('cal_1' as never, () => Promise.reject(new Error('ENOSPC')));
  output.add('x'.repeat(20_000));
  await expect(output.finish()).rejects.toThrow('ENOSPC');
});
