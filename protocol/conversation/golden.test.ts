import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventSchemas, isKnown, type SessionEvent } from '../event.ts';
import { misfit } from '../schema.ts';
import { goldenLogs } from '../testing/golden-logs.ts';
import { fold } from '../testing/log-builder.ts';

/** UPDATE_GOLDEN=1 writes the files anew; read the difference before you commit it. */
const update = process.env['UPDATE_GOLDEN'] === '1';

describe.each(Object.entries(goldenLogs))('the golden log %s', (name, build) => {
  const { events } = build();
  const lines = events.map((event) => JSON.stringify(event)).join('\n') + '\n';

  it('stands in fixtures as it is built', () => {
    expect(kept(`${name}.jsonl`, lines)).toBe(lines);
  });

  it('folds to the conversation that stands in fixtures', () => {
    const folded = JSON.stringify(fold(events), null, 2) + '\n';
    expect(kept(`${name}.conversation.json`, folded)).toBe(folded);
  });

  it('holds only events that fit their schema', () => {
    const problems = events.filter(isKnown).map((event) => [event.seq, misfit(eventSchemas[event.type], event)]);
    expect(problems.filter(([, problem]) => problem !== null)).toEqual([]);
  });

  it('folds without an anomaly at every prefix', () => {
    expect(events.map((_, end) => fold(events.slice(0, end + 1)).anomalies).flat()).toEqual([]);
  });

  it('folds the same from a prefix that went over the wire', () => {
    const read = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as SessionEvent);
    const whole = fold(read);
    for (let cut = 0; cut <= read.length; cut += 1) {
      const sent = JSON.parse(JSON.stringify(fold(read.slice(0, cut)))) as typeof whole;
      expect(fold(read.slice(cut), sent)).toStrictEqual(whole);
    }
  });
});

function kept(file: string, now: string): string {
  const url = new URL(`../fixtures/${file}`, import.meta.url);
  if (update) writeFileSync(url, now);
  return readFileSync(url, 'utf8');
}
