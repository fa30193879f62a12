import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentOf, lines, upTo, writeLog } from '../testing/small-log.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { cutTornTail, examine } from './repair.ts';
import { LogWriter } from './writer.ts';

/** What opening a log for writing does: examine, cut what is torn, append one event. Returns the seq of the last event that was kept. */
async function openAndAppend(path: string): Promise<number> {
  const found = await examine(path);
  if (found.state === 'damaged') throw new Error(`damaged: ${found.reason}`);
  if (found.state === 'torn') await cutTornTail(path, found.goodEnd);
  const end = found.state === 'torn' ? found.goodEnd : found.end;
  expect(await examine(path)).toEqual({ state: 'whole', end, lastSeq: found.lastSeq });
  const writer = await LogWriter.open(path, { end, lastSeq: found.lastSeq });
  await writer.append(lines(found.lastSeq + 1, found.lastSeq + 1, 'after'), found.lastSeq + 1);
  await writer.close();
  return found.lastSeq;
}

/** Twice, as a second crash would have it; then everything must be there in order. */
async function survives(path: string, kept: number): Promise<void> {
  expect(await openAndAppend(path)).toBe(kept);
  expect(await openAndAppend(path)).toBe(kept + 1);
  expect(await contentOf(path)).toEqual({ seqs: upTo(kept + 2), damages: [] });
}

describe.each(['a.jsonl.zst', 'a.jsonl'])('a log named %s', (name) => {
  test('RT3 C01 C02 truncated at every byte of its last frame it opens, keeps all earlier frames, and the next append is readable', async () => {
    const folder = temporaryFolder();
    const path = join(folder, name);
    const text = 'ä€𝄞'; // A cut falls into characters of two, three and four bytes.
    const [, , last = 0, end = 0] = await writeLog(path, [2, 3, 1], text);
    const whole = readFileSync(path);
    for (let cut = last; cut < end; cut += 1) {
      writeFileSync(path, whole.subarray(0, cut));
      rmSync(`${path}.index`, { force: true });
      await survives(path, 5);
    }
  });

  test('RT3 any byte flipped in its last frame, it opens without that frame', async () => {
    const path = join(temporaryFolder(), name);
    const [, second = 0, last = 0, end = 0] = await writeLog(path, [2, 3, 1]);
    const whole = readFileSync(path);
    // In plain lines nothing guards a character inside a text; what makes a line unreadable is its frame of quotes and braces.
    const places =
      name === 'a.jsonl' ? [last, end - 2, end - 1] : Array.from({ length: end - last }, (_, place) => last + place);
    for (const place of places) {
      const flipped = Buffer.from(whole);
      flipped.writeUInt8(flipped.readUInt8(place) ^ 0xff, place);
      writeFileSync(path, flipped);
      expect(await examine(path, { offset: second, seq: 2 })).toMatchObject({
        state: 'torn',
        goodEnd: last,
        size: end,
        lastSeq: 5,
      });
      await survives(path, 5);
    }
  });

  test('RT3 with anything at all behind its last frame, it opens with every frame', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'alcove-test-'));
    try {
      const path = join(folder, name);
      await writeLog(path, [2, 1]);
      const whole = readFileSync(path);
      const junk = fc.uint8Array({ minLength: 1, maxLength: 300 });
      await fc.assert(
        fc.asyncProperty(junk, async (bytes) => {
          writeFileSync(path, Buffer.concat([whole, bytes]));
          await survives(path, 3);
        }),
        { numRuns: 60 },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('what was cut is kept beside the log, each time under another name', async () => {
    const path = join(temporaryFolder(), name);
    const [, end = 0] = await writeLog(path, [2]);
    appendFileSync(path, 'torn once');
    expect(await cutTornTail(path, end)).toBe(`${path}.torn`);
    expect(await cutTornTail(path, end)).toBeNull();
    appendFileSync(path, 'torn twice');
    expect(await cutTornTail(path, end)).toBe(`${path}.torn-2`);
    expect([readFileSync(`${path}.torn`, 'utf8'), readFileSync(`${path}.torn-2`, 'utf8')]).toEqual([
      'torn once',
      'torn twice',
    ]);
    expect(statSync(path).size).toBe(end);
  });

  test('a crash between keeping and cutting makes no second copy', async () => {
    const path = join(temporaryFolder(), name);
    const [, end = 0] = await writeLog(path, [2]);
    appendFileSync(path, 'torn');
    writeFileSync(`${path}.torn`, 'torn');
    expect(await cutTornTail(path, end)).toBe(`${path}.torn`);
    expect(existsSync(`${path}.torn-2`)).toBe(false);
  });

  test('it is examined from a known place on, whatever stands before', async () => {
    const path = join(temporaryFolder(), name);
    const [, second = 0, third = 0] = await writeLog(path, [2, 3]);
    const bytes = readFileSync(path);
    bytes.fill(0, 10, second - 1);
    writeFileSync(path, bytes);
    expect(await examine(path, { offset: second, seq: 2 })).toEqual({ state: 'whole', end: third, lastSeq: 5 });
    expect(await examine(path)).toMatchObject({ state: 'damaged', from: 0, to: second, lastSeq: 5 });
  });

  test('an empty log is whole', async () => {
    const path = join(temporaryFolder(), name);
    writeFileSync(path, '');
    expect(await examine(path)).toEqual({ state: 'whole', end: 0, lastSeq: 0 });
    await survives(path, 0);
  });
});

test('RT2 a byte flipped in an earlier frame is damage with its range, never a tail to cut', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const [, second = 0, third = 0] = await writeLog(path, [2, 3, 2]);
  const whole = readFileSync(path);
  for (let place = second; place < third; place += 1) {
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(flipped.readUInt8(place) ^ 0x10, place);
    writeFileSync(path, flipped);
    expect(await examine(path)).toMatchObject({ state: 'damaged', from: second, to: third, lastSeq: 7 });
  }
});

test('damage with a torn tail behind it is damage: both ranges are told', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const [, second = 0, third = 0, end = 0] = await writeLog(path, [2, 3, 2]);
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(second + 20) ^ 0xff, second + 20);
  writeFileSync(path, bytes);
  truncateSync(path, end - 1);
  const found = await examine(path);
  expect(found).toMatchObject({ state: 'damaged', from: second, to: third, lastSeq: 2 });
  expect(found.state === 'damaged' && found.damages.map(({ from, to, torn }) => [from, to, torn])).toEqual([
    [second, third, false],
    [third, end - 1, true],
  ]);
});
