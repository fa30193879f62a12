import { expect, it } from 'vitest';
import { commandId, timeOfId } from '#protocol/values/ids.ts';
import { misfit } from '#protocol/schema.ts';
import { timedIds } from './clock.ts';

it('ids are UUIDv7s that hold their time', () => {
  const now = Date.UTC(2026, 10, 30, 12);
  for (const byte of [0, 0x5a, 0xff]) {
    const id = timedIds({ now: () => now }, (bytes) => void bytes.fill(byte)).next();
    expect(misfit(commandId, id)).toBeNull();
    expect(timeOfId(id)).toBe(now);
  }
});
