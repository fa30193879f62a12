/** Reading an event must stay near the speed of JSON.parse: compare the two, and the full schema that reading does without. */
import { bench, describe } from 'vitest';
import { eventSchemas } from '#protocol/event.ts';
import { misfit } from '#protocol/schema.ts';
import { delta } from '../testing/small-log.ts';
import { decodeLine, encodeEvent } from './codec.ts';

const text = 'It reads the file, line by line, and keeps what it needs.\n';

describe.each([1, 40])('an event with %i lines of text', (count) => {
  const line = encodeEvent(delta(1, text.repeat(count)));
  bench('JSON.parse', () => void JSON.parse(line));
  bench('decodeLine', () => void decodeLine(line));
  bench('with the full schema', () => void misfit(eventSchemas['part.delta'], JSON.parse(line)));
});
