import { expect, it } from 'vitest';
import { ManualClock, ManualFrames } from '../testing/manual-clock.ts';
import { Repaint } from './repaint.ts';

function counting() {
  const clock = new ManualClock();
  const frames = new ManualFrames();
  let runs = 0;
  const repaint = new Repaint(frames, clock, () => {
    runs++;
  });
  return { clock, frames, repaint, runs: () => runs };
}

it('runs once a repaint, however often it was asked for', () => {
  const { clock, frames, repaint, runs } = counting();
  repaint.request();
  repaint.request();
  frames.repaint();
  clock.advance(1000);
  expect(runs()).toBe(1);
  repaint.request();
  frames.repaint();
  expect(runs()).toBe(2);
});

it('runs by a timer where there are no repaints', () => {
  const { clock, frames, repaint, runs } = counting();
  repaint.request();
  clock.advance(250);
  frames.repaint();
  expect(runs()).toBe(1);
});

it('runs at once when told to, and not at all when cancelled', () => {
  const { frames, repaint, runs } = counting();
  repaint.run();
  expect(runs()).toBe(0);
  repaint.request();
  repaint.run();
  frames.repaint();
  expect(runs()).toBe(1);
  repaint.request();
  repaint.cancel();
  frames.repaint();
  expect(runs()).toBe(1);
});
