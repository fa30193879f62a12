import { describe, expect, it } from 'vitest';
import { inputId, LogBuilder } from '../testing/log-builder.ts';
import type { InputPart } from '../values/content.ts';
import { toBase } from './base.ts';
import type { Attached } from './conversation.ts';
import { claimable, edit, move, queue, remove } from './inbox.ts';

/** One steer between two follow-ups: 1 next-turn, 2 next-step, 3 next-turn. */
const inbox = new LogBuilder().session().asks('one').asks('two', 'next-step').asks('three').conversation.inbox;
const ids = (inputs: readonly { inputId: string }[] | string) =>
  typeof inputs === 'string' ? inputs : inputs.map((one) => Number(one.inputId.slice(-1)));

describe('what a step claims', () => {
  it('RT9: the first step takes the oldest next-turn input and all next-step input, in the order of the inbox', () => {
    expect(ids(claimable(inbox, true))).toEqual([1, 2]);
  });

  it('RT9: a later step takes all next-step input and no next-turn input', () => {
    expect(ids(claimable(inbox, false))).toEqual([2]);
  });

  it('next-step input may start a turn by itself', () => {
    expect(ids(claimable(inbox.slice(1, 2), true))).toEqual([2]);
  });
});

describe('an inbox', () => {
  it('refuses an input that waits already', () => {
    expect(queue(inbox, inbox[0]!)).toBe(`input ${inputId(1)} is queued already`);
  });

  it('moves an input before another, to the end, and to another target', () => {
    expect(ids(move(inbox, inputId(3), undefined, inputId(1)))).toEqual([3, 1, 2]);
    expect(ids(move(inbox, inputId(1), undefined, null))).toEqual([2, 3, 1]);
    const moved = move(inbox, inputId(1), 'next-step', undefined);
    expect(typeof moved === 'string' ? moved : moved[0]?.target).toBe('next-step');
  });

  it('says what does not wait', () => {
    expect(edit(inbox, inputId(9), [])).toBe(`input ${inputId(9)} is not waiting`);
    expect(move(inbox, inputId(9), undefined, null)).toBe(`input ${inputId(9)} is not waiting`);
    expect(move(inbox, inputId(1), undefined, inputId(9))).toBe(`input ${inputId(9)} is not waiting`);
    expect(remove(inbox, [inputId(1), inputId(9)])).toBe(`input ${inputId(9)} is not waiting`);
  });

  it('takes out exactly what was claimed', () => {
    expect(ids(remove(inbox, [inputId(1), inputId(2)]))).toEqual([3]);
  });
});

describe('what is attached', () => {
  const picture = (digit: string, bytes: number) => ({
    type: 'image' as const,
    blob: { sha256: digit.repeat(64), bytes },
    mediaType: 'image/png',
  });
  const change = (log: LogBuilder, parts: InputPart[]) =>
    log.add({ type: 'input.edited', inputId: log.conversation.inbox.at(-1)!.inputId, parts });

  it('PR18: is counted over all inputs, and given back by those that are edited or withdrawn', () => {
    const log = new LogBuilder().session().asks('look');
    const counts: Attached[] = [];
    const keep = () => counts.push(log.conversation.attached);
    change(log, [picture('a', 10), { type: 'text', text: 'and' }, picture('b', 5)]);
    keep();
    log.turn().step();
    keep();
    log.asks('and this').asks('and that');
    change(log, [picture('a', 10)]);
    keep();
    change(log, [picture('c', 3), picture('c', 3)]);
    keep();
    log.add({ type: 'input.withdrawn', inputId: log.conversation.inbox.at(-1)!.inputId, reason: 'taken back' });
    keep();
    expect(counts).toEqual([
      { pictures: 2, bytes: 15 },
      { pictures: 2, bytes: 15 },
      { pictures: 3, bytes: 25 },
      { pictures: 4, bytes: 21 },
      { pictures: 2, bytes: 15 },
    ]);
    expect(log.conversation.anomalies).toEqual([]);
    expect(toBase(log.replies().endsStep().conversation).attached).toEqual({ pictures: 2, bytes: 15 });
  });
});
