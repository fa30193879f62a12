import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../event.ts';
import { goldenLogs } from '../testing/golden-logs.ts';
import { fold, LogBuilder } from '../testing/log-builder.ts';
import { atStepBoundary, isWhole, prepend, toBase } from './base.ts';
import { condense } from './condense.ts';
import type { Conversation, Turn } from './conversation.ts';

describe.each(Object.entries(goldenLogs))('bases of the golden log %s', (_, build) => {
  const { events } = build();
  const whole = fold(events);
  const cuts = boundaries(events);

  it('RT1: a base and the rest are the whole, less what is omitted', () => {
    expect(cuts.length).toBeGreaterThan(3);
    for (const cut of cuts) {
      const base = toBase(fold(events.slice(0, cut)));
      expect(fold(events.slice(cut), base)).toEqual(without(whole, base));
    }
  });

  it('a page that is put before the tail gives the whole, at any two boundaries', () => {
    for (const first of cuts)
      for (const second of cuts.filter((cut) => cut >= first)) {
        const tail = fold(condense(events.slice(second)), toBase(fold(events.slice(0, second))));
        const middle = fold(condense(events.slice(first, second)), toBase(fold(events.slice(0, first))));
        const start = fold(condense(events.slice(0, first)));
        const joined = prepend(start, prepend(middle, tail));
        expect({ ...joined, seq: whole.seq }).toEqual(whole);
        expect(isWhole(joined)).toBe(true);
      }
  });

  it('a base of a base leaves out as much as one that is taken at once', () => {
    for (const cut of cuts) {
      const once = toBase(fold(events.slice(0, cut)));
      for (const earlier of cuts.filter((one) => one < cut)) {
        const twice = toBase(fold(events.slice(earlier, cut), toBase(fold(events.slice(0, earlier)))));
        expect(twice).toEqual(once);
      }
    }
  });
});

it('a base does not grow with the steps of the open turn', () => {
  const log = new LogBuilder().session().asks('go').turn();
  const sizes: number[] = [];
  for (let step = 0; step < 200; step += 1) {
    log
      .step()
      .says(['word '.repeat(50)])
      .replies()
      .endsStep();
    if (step === 20 || step === 199) sizes.push(JSON.stringify(toBase(log.conversation)).length);
  }
  expect((sizes[1] ?? 0) - (sizes[0] ?? 0)).toBeLessThan(50);
});

it('no base can be taken inside a step, nor before the session exists', () => {
  const log = new LogBuilder();
  expect(atStepBoundary(log.conversation)).toBe(false);
  expect(atStepBoundary(log.session().asks('go').turn().conversation)).toBe(true);
  expect(atStepBoundary(log.step().says(['a']).conversation)).toBe(false);
});

function boundaries(events: readonly SessionEvent[]): number[] {
  return events.map((_, cut) => cut).filter((cut) => atStepBoundary(fold(events.slice(0, cut))));
}

/** The whole, less what a base leaves out: its closed turns, and the closed steps of the turn that it was taken in. */
function without(whole: Conversation, base: Conversation): Conversation {
  const omittedSteps = base.active?.omittedSteps ?? 0;
  const shorten = (turn: Turn): Turn =>
    turn.turnId === base.active?.turnId ? { ...turn, steps: turn.steps.slice(omittedSteps), omittedSteps } : turn;
  return {
    ...whole,
    turns: whole.turns.slice(base.omittedTurns).map(shorten),
    omittedTurns: base.omittedTurns,
    active: whole.active === null ? null : shorten(whole.active),
  };
}
