import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { abortGraceMs, toolBackstopMs } from '../base/limits.ts';
import type { PreparedCall, ToolEnvironment, ToolResult } from '../tools/tool.ts';
import { runBounded } from './bounded-run.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const nowhere = {} as ToolEnvironment;
const done: ToolResult = { outcome: 'completed', content: [{ type: 'text', text: 'done' }] };
const tool = (execute: PreparedCall['execute']): PreparedCall => ({
  display: { title: 'Wait', kind: 'other' },
  assess: () => Promise.resolve({ effect: 'read', caution: null, rulePattern: '*' }),
  execute,
});
const hangs = tool(() => new Promise(() => undefined));
const heeds = tool(
  (_, signal) =>
    new Promise((resolve) =>
      signal.addEventListener('abort', () =>
        resolve({ outcome: 'failed', content: [{ type: 'text', text: 'half of it' }] }),
      ),
    ),
);

function started(prepared: PreparedCall, ownDeadline = false) {
  const stop = new AbortController();
  const seen: { result?: ToolResult | null } = {};
  const end = runBounded(prepared, nowhere, stop.signal, ownDeadline).then((result) => (seen.result = result));
  return { stop, seen, end };
}

describe('TL31: the backstop', () => {
  test('a tool that ignores everything ends as failed after toolBackstopMs and the grace, not a moment sooner', async () => {
    const { seen, end } = started(hangs);
    await vi.advanceTimersByTimeAsync(toolBackstopMs + abortGraceMs - 1);
    expect(seen).toEqual({});
    await vi.advanceTimersByTimeAsync(1);
    expect(await end).toMatchObject({
      outcome: 'failed',
      content: [{ text: expect.stringMatching(/did not end within 10 minutes \(toolBackstopMs\)/) as string }],
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a tool that heeds its signal is told at toolBackstopMs, and what it says is kept', async () => {
    const { seen, end } = started(heeds);
    await vi.advanceTimersByTimeAsync(toolBackstopMs);
    await end;
    expect(seen.result?.content.map((part) => part.type === 'text' && part.text)).toEqual([
      'half of it',
      expect.stringContaining('toolBackstopMs'),
    ]);
  });

  test('a tool with a deadline of its own is left to it', async () => {
    const { seen, stop, end } = started(heeds, true);
    await vi.advanceTimersByTimeAsync(6 * toolBackstopMs);
    expect(seen).toEqual({});
    stop.abort('abort');
    await end;
    expect(vi.getTimerCount()).toBe(0);
  });

  test('one that ends, or throws, in time leaves no timer', async () => {
    expect(await started(tool(() => Promise.resolve(done))).end).toEqual(done);
    expect(await started(tool(() => Promise.reject(new Error('the disk is gone')))).end).toEqual({
      outcome: 'failed',
      content: [{ type: 'text', text: 'The tool failed: the disk is gone' }],
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('an abort waits for abortGraceMs, and no longer', async () => {
    const { stop, end } = started(hangs);
    stop.abort('abort');
    await vi.advanceTimersByTimeAsync(abortGraceMs);
    expect(await end).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });
});
