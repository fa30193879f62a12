import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { eventSchemas, isKnown, type KnownEvent, type SessionEvent } from './event.ts';
import { misfit, quickFit, z, type Schema } from './schema.ts';

const folder = new URL('fixtures/', import.meta.url);
const events = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl'))
  .flatMap((name) => readFileSync(new URL(name, folder), 'utf8').trimEnd().split('\n'))
  .map((line) => JSON.parse(line) as SessionEvent)
  .filter((event): event is KnownEvent => isKnown(event));

const strange: unknown[] = [
  undefined,
  null,
  '',
  'x',
  'x'.repeat(201),
  0,
  -1,
  1.5,
  NaN,
  Infinity,
  2 ** 53,
  true,
  [],
  [null],
  {},
  { type: 'text' },
];

/** The value with something strange in each of its places, at any depth. */
function* spoilt(value: unknown): Generator {
  yield* strange;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    for (const other of spoilt(inner)) {
      if (Array.isArray(value)) yield value.with(Number(key), other);
      else yield { ...value, [key]: other };
    }
    const { [key]: _, ...without } = value as Record<string, unknown>;
    yield without;
  }
}

describe('the quick test of a schema', () => {
  it('says yes to every event of the golden logs', () => {
    expect(events.length).toBeGreaterThan(300);
    expect(events.filter((event) => !quickFit(eventSchemas[event.type])(event))).toEqual([]);
  });

  it('never says yes to what the validator refuses', () => {
    const oneOfEach = [...new Map(events.map((event) => [event.type, event])).values()];
    let refused = 0;
    for (const event of oneOfEach) {
      const schema = eventSchemas[event.type];
      const fits = quickFit(schema);
      for (const other of spoilt(event)) {
        const problem = misfit(schema, other);
        if (problem === null) continue;
        refused += 1;
        if (fits(other)) expect.fail(`${JSON.stringify(other)} fits quickly, but: ${problem}`);
      }
    }
    expect(refused).toBeGreaterThan(1000);
  });

  it('asks the validator where it does not know a kind of schema or check', () => {
    const schemas: [Schema<unknown>, good: unknown, bad: unknown][] = [
      [z.string().check(z.minLength(2)), 'ab', 'a'],
      [z.array(z.string()).check(z.maxLength(1)), ['a'], ['a', 'b']],
      [z.record(z.string(), z.number()), { a: 1 }, { a: 'b' }],
      [z.strictObject({ a: z.number() }), { a: 1 }, { a: 1, b: 2 }],
      [z.object({ a: z.union([z.string(), z.number()]) }), { a: 1 }, { a: true }],
      [z.string().check(z.regex(/^a/g)), 'ab', 'ba'],
      [z.number().check(z.positive()), 1, 0],
      [z.int().check(z.nonnegative()), 0, 0.5],
    ];
    const found = schemas.map(([schema, good, bad]) => [quickFit(schema)(good), quickFit(schema)(bad)]);
    expect(found).toEqual(schemas.map(() => [true, false]));
  });
});

test('a text of many wide characters is measured in characters, by the validator', () => {
  const title = z.string().check(z.maxLength(3));
  expect([quickFit(title)('𝄞𝄞𝄞'), misfit(title, '𝄞𝄞𝄞'), misfit(title, '𝄞𝄞𝄞𝄞')]).toEqual([
    false,
    null,
    expect.any(String),
  ]);
});
