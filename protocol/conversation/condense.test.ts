import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../event.ts';
import { goldenLogs } from '../testing/golden-logs.ts';
import { fold, LogBuilder } from '../testing/log-builder.ts';
import { condense } from './condense.ts';

describe.each(Object.entries(goldenLogs))('the golden log %s', (_, build) => {
  const { events } = build();

  it('folds the same condensed as plain, however it is cut into pages', () => {
    const whole = fold(events);
    const places = fc.uniqueArray(fc.nat({ max: events.length }), { maxLength: 6 });
    fc.assert(
      fc.property(places, (cuts) => {
        const pages = pagesOf(events, cuts).flatMap((page) => condense(page));
        expect(fold(pages)).toEqual(whole);
      }),
    );
  });

  it('is condensed once and for all', () => {
    const once = condense(events);
    expect(once.length).toBeLessThan(events.length);
    expect(condense(once)).toEqual(once);
  });
});

describe('output and text of any shape', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('x'.repeat(9000), '🌱'.repeat(700)),
  );
  const stream = fc.array(fc.tuple(fc.constantFrom('text', 'first', 'second'), piece), { maxLength: 40 });

  it('folds the same condensed as plain: interleaved calls, long output, and what the writer skipped', () => {
    fc.assert(
      fc.property(stream, fc.nat({ max: 60 }), (pieces, cut) => {
        const { events } = streaming(pieces);
        const pages = [...condense(events.slice(0, cut)), ...condense(events.slice(cut))];
        expect(fold(pages)).toEqual(fold(events));
      }),
    );
  });

  it('never makes an event longer than a message may be', () => {
    const { events } = streaming(Array.from({ length: 40 }, () => ['first', 'x'.repeat(9000)]));
    const longest = Math.max(...condense(events).map((event) => JSON.stringify(event).length));
    expect(longest).toBeLessThan(70_000);
  });
});

it('does not join what another event stands between', () => {
  const log = new LogBuilder().session().asks('go').turn().step();
  log.says(['a'], 'text', 'open');
  log.asks('wait', 'next-step').add({ type: 'part.delta', partId: 'prt_1' as never, text: 'b' });
  expect(condense(log.events)).toEqual(log.events);
});

function streaming(pieces: readonly (readonly [string, string])[]): LogBuilder {
  const log = new LogBuilder().session().asks('go').turn().step();
  const texts = pieces.filter(([where]) => where === 'text').map(([, text]) => text);
  log.says(texts).replies();
  for (const tool of ['first', 'second']) log.requests(tool, {}, { title: 'Run', kind: 'command' });
  log.starts(1).starts(2);
  pieces
    .filter(([where]) => where !== 'text')
    .forEach(([where, text], place) => {
      const callId = (where === 'first' ? 'cal_1' : 'cal_2') as never;
      const skipped = place % 5 === 4 ? { skippedBytes: 100 } : {};
      log.add({ type: 'tool-call.output', callId, text, ...skipped });
    });
  return log;
}

function pagesOf(events: readonly SessionEvent[], cuts: readonly number[]): SessionEvent[][] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), events.length];
  return places.slice(1).map((end, index) => events.slice(places[index], end));
}
