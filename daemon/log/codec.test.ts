import { expect, test } from 'vitest';
import { eventSchemas, type KnownEvent } from '#protocol/event.ts';
import { misfit } from '#protocol/schema.ts';
import { InvariantError } from '../base/errors.ts';
import { maxEventBytes } from '../base/limits.ts';
import { delta } from '../testing/small-log.ts';
import { decodeLine, encodeEvent } from './codec.ts';

test('an event comes back as it was written, text of every kind included', () => {
  const event = delta(3, 'line\nbreak, \u2028, 𝄞, \u0000 and a lone \ud800');
  const line = encodeEvent(event);
  expect(line).not.toContain('\n');
  expect(decodeLine(line)).toEqual({ event, line });
  expect(decodeLine(Buffer.from(line).toString('utf8'))).toEqual({ event, line });
});

test('an event that does not fit its schema is not written', () => {
  expect(() => encodeEvent({ ...delta(1), partId: 'step_1' } as unknown as KnownEvent)).toThrow(InvariantError);
  expect(() => encodeEvent({ ...delta(1), seq: 0 })).toThrow(InvariantError);
});

test('RT7 an event of the largest size passes; one byte more is neither written nor read', () => {
  const room = maxEventBytes - Buffer.byteLength(encodeEvent(delta(1, '')));
  const largest = encodeEvent(delta(1, 'x'.repeat(room)));
  expect(Buffer.byteLength(largest)).toBe(maxEventBytes);
  expect(decodeLine(largest)).not.toHaveProperty('problem');
  expect(() => encodeEvent(delta(1, 'x'.repeat(room + 1)))).toThrow('maxEventBytes');
  expect(decodeLine(largest.replace('xx', 'xxx'))).toEqual({
    problem: `an event is over the limit of ${maxEventBytes} bytes`,
  });
});

test('RT5 a kind and fields that a newer version wrote are read with their line untouched', () => {
  const unknownKind = '{ "seq":1, "type":"moon.risen","at":2,  "phase":{"b":1,"a":[1e2,"\\u00e4"]}}';
  expect(decodeLine(unknownKind)).toEqual({
    event: { seq: 1, at: 2, type: 'moon.risen', phase: { b: 1, a: [100, 'ä'] } },
    line: unknownKind,
  });
  const unknownField = '{"seq":1,"at":2,"type":"turn.started","turnId":"trn_1","mood":"good"}';
  expect(decodeLine(unknownField)).toMatchObject({ event: { mood: 'good' }, line: unknownField });
});

test.each([
  ['{"seq":1,"at":2,"type":"turn.started"', 'a line is not JSON'],
  ['', 'a line is not JSON'],
  ['[]', 'a line is not an object'],
  ['null', 'a line is not an object'],
  ['{"seq":0,"at":2,"type":"a.b"}', 'an event has no seq'],
  ['{"seq":1.5,"at":2,"type":"a.b"}', 'an event has no seq'],
  ['{"seq":1,"type":"a.b"}', 'event 1 has no time'],
  ['{"seq":1,"at":2}', 'event 1 has no type'],
  ['{"seq":1,"at":2,"type":"turn.started"}', 'event 1 (turn.started) has no turnId, or one that is no string'],
  [
    '{"seq":1,"at":2,"type":"input.claimed","stepId":"stp_1","inputIds":{}}',
    'event 1 (input.claimed) has no inputIds, or one that is no array',
  ],
  [
    '{"seq":1,"at":2,"type":"context.measured","used":1,"limit":"many"}',
    'event 1 (context.measured) has no limit, or one that is no number|null',
  ],
])('%s is no event', (line, problem) => {
  expect(decodeLine(line)).toEqual({ problem });
});

test('reading asks for no field that the schema of its kind does not ask for', () => {
  for (const [kind, schema] of Object.entries(eventSchemas)) {
    const bare = { seq: 1, at: 2, type: kind };
    expect('problem' in decodeLine(JSON.stringify(bare)), kind).toBe(misfit(schema, bare) !== null);
  }
});
