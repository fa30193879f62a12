import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxEventBytes } from '../base/limits.ts';
import { contentOf, lines, upTo, writeLog } from '../testing/small-log.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { crc32, encodeFrame, loadZstd } from './frame.ts';
import { readEvents, readFrames, walkHeaders, type Damage, type FrameSpan } from './reader.ts';

const zstd = await loadZstd();

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of source) found.push(one);
  return found;
}

function flipByte(path: string, place: number): void {
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(place) ^ 0xff, place);
  writeFileSync(path, bytes);
}

function hasZstdProgram(): boolean {
  try {
    execFileSync('zstd', ['--version']);
    return true;
  } catch {
    return false;
  }
}

test.skipIf(!hasZstdProgram())(
  'RT2 the zstd program prints a log as JSON Lines (skipped where it is not installed)',
  async () => {
    const path = join(temporaryFolder(), 'a.jsonl.zst');
    await writeLog(path, [2, 1, 5]);
    expect(execFileSync('zstd', ['-dc', path], { encoding: 'utf8' })).toBe(`${lines(1, 8).join('\n')}\n`);
  },
);

describe.each(['a.jsonl.zst', 'a.jsonl'])('a log named %s', (name) => {
  test('RT2 is read from its beginning and from every place between two frames', async () => {
    const path = join(temporaryFolder(), name);
    const [, second = 0, third = 0] = await writeLog(path, [2, 3, 1]);
    expect(await contentOf(path)).toEqual({ seqs: upTo(6), damages: [] });
    expect(await contentOf(path, { offset: second, seq: 2 })).toEqual({ seqs: [3, 4, 5, 6], damages: [] });
    expect(await contentOf(path, { offset: third, seq: 5 })).toEqual({ seqs: [6], damages: [] });
  });

  test('RT2 cut at any frame end it opens', async () => {
    const path = join(temporaryFolder(), name);
    const offsets = await writeLog(path, [2, 3, 1]);
    const ends = [0, 2, 5, 6];
    for (const [place, offset] of [...offsets.entries()].reverse()) {
      truncateSync(path, offset);
      expect(await contentOf(path)).toEqual({ seqs: upTo(ends[place] ?? 0), damages: [] });
    }
  });

  test('RT5 what a newer version wrote is read byte for byte', async () => {
    const path = join(temporaryFolder(), name);
    const unknown = '{"seq":1, "at":2,"type":"moon.risen","phase":  {"b":1e2,"a":"\\u00e4 ä"}}';
    writeFileSync(path, name === 'a.jsonl' ? `${unknown}\n` : encodeFrame(zstd, { firstSeq: 1, lines: [unknown] }));
    const [found] = await all(readEvents(path));
    expect(found).toMatchObject({ kind: 'frame', events: [{ line: unknown }] });
  });

  test('missing, doubled and reordered events are told', async () => {
    const path = join(temporaryFolder(), name);
    const part = (first: number, last: number) =>
      name === 'a.jsonl'
        ? Buffer.from(`${lines(first, last).join('\n')}\n`)
        : encodeFrame(zstd, { firstSeq: first, lines: lines(first, last) });
    writeFileSync(path, Buffer.concat([part(1, 2), part(5, 5), part(5, 5), part(6, 6)]));
    const { seqs, damages } = await contentOf(path);
    expect(seqs).toEqual([1, 2, 5, 6]);
    expect(damages.map(({ reason, torn }) => [reason, torn])).toEqual([
      ['events 3 to 4 are missing', false],
      ['event 5 comes again after event 5', false],
    ]);
  });

  test('a log that is shorter than the place to read from is not the one that was meant', async () => {
    const path = join(temporaryFolder(), name);
    await writeLog(path, [1]);
    await expect(contentOf(path, { offset: 100_000, seq: 50 })).rejects.toMatchObject({ code: 'changed' });
  });

  test('reads no further than it is told', async () => {
    const path = join(temporaryFolder(), name);
    const [, second = 0] = await writeLog(path, [2, 3]);
    expect(await all(readEvents(path, undefined, { until: second }))).toMatchObject([{ firstSeq: 1, count: 2 }]);
  });
});

test('RT2 a walk over headers finds every frame, over windows and large frames alike', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const counts = Array.from({ length: 400 }, (_, place) => 1 + (place % 3));
  const offsets = await writeLog(path, counts);
  const spans = (await all(walkHeaders(path))) as FrameSpan[];
  expect(spans.map((span) => span.offset)).toEqual(offsets.slice(0, -1));
  expect(spans.map((span) => span.count)).toEqual(counts);
  expect(spans.at(-1)?.end).toBe(offsets.at(-1));
});

test('RT2 a byte flipped anywhere in an earlier frame is reported with that frame as its range, and what follows is read', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const [, second = 0, third = 0] = await writeLog(path, [2, 3, 2]);
  for (let place = second; place < third; place += 1) {
    flipByte(path, place);
    const { seqs, damages } = await contentOf(path);
    expect(seqs).toEqual([1, 2, 6, 7]);
    expect(damages).toMatchObject([{ from: second, to: third, torn: false, lastSeq: 2 }]);
    flipByte(path, place);
  }
});

test('RT2 junk between two frames is reported with its range', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'a.jsonl.zst');
  const frame = (first: number, last: number) => encodeFrame(zstd, { firstSeq: first, lines: lines(first, last) });
  const junk = Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18]), Buffer.alloc(100_000, 0x50)]);
  writeFileSync(path, Buffer.concat([frame(1, 2), junk, frame(3, 4)]));
  const { seqs, damages } = await contentOf(path);
  expect(seqs).toEqual([1, 2, 3, 4]);
  expect(damages).toMatchObject([{ from: frame(1, 2).length, to: frame(1, 2).length + junk.length, torn: false }]);
});

test('a damaged line of a plain log is reported with its range, and what follows is read', async () => {
  const path = join(temporaryFolder(), 'a.jsonl');
  const [, second = 0, third = 0] = await writeLog(path, [2, 1, 2]);
  flipByte(path, second + 3);
  expect(await contentOf(path)).toMatchObject({
    seqs: [1, 2, 4, 5],
    damages: [{ from: second, to: third, torn: false }],
  });
});

test('a whole frame with a line that is no event is damage, and is not called torn', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  writeFileSync(path, encodeFrame(zstd, { firstSeq: 1, lines: ['{"seq":1,"at":1,"type":"turn.started"}'] }));
  expect((await contentOf(path)).damages).toMatchObject([
    { from: 0, torn: false, reason: expect.stringContaining('turnId') as string },
  ]);
});

test('RT7 a line of a plain log over the limit is refused', async () => {
  const path = join(temporaryFolder(), 'a.jsonl');
  await writeLog(path, [1]);
  appendFileSync(path, `{"seq":2,"at":1,"type":"a.b","x":"${'x'.repeat(maxEventBytes)}"}\n`);
  const { seqs, damages } = await contentOf(path);
  expect(seqs).toEqual([1]);
  expect(damages).toMatchObject([{ torn: false, reason: `an event is over the limit of ${maxEventBytes} bytes` }]);
});

describe('RT2 content that is not what the name says', () => {
  test('is refused', async () => {
    const folder = temporaryFolder();
    await writeLog(join(folder, 'framed.jsonl.zst'), [1]);
    await writeLog(join(folder, 'plain.jsonl'), [1]);
    writeFileSync(join(folder, 'a.jsonl'), readFileSync(join(folder, 'framed.jsonl.zst')));
    writeFileSync(join(folder, 'a.jsonl.zst'), readFileSync(join(folder, 'plain.jsonl')));
    writeFileSync(join(folder, 'b.jsonl.zst'), zstd.compress(readFileSync(join(folder, 'plain.jsonl'))));
    for (const name of ['a.jsonl', 'a.jsonl.zst', 'b.jsonl.zst']) {
      await expect(all(readFrames(join(folder, name))), name).rejects.toMatchObject({ code: 'wrong_form' });
    }
    await expect(all(readFrames(join(folder, 'a.txt')))).rejects.toMatchObject({ code: 'wrong_form' });
  });

  test('is told from a log of a newer version, which is not damage', async () => {
    const path = join(temporaryFolder(), 'a.jsonl.zst');
    await writeLog(path, [1]);
    const bytes = readFileSync(path);
    bytes.writeUInt32LE(2, 12);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 40)), 40);
    writeFileSync(path, bytes);
    await expect(all(readFrames(path))).rejects.toMatchObject({ code: 'newer' });
  });
});

test('an empty log has nothing in it, and no damage', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  writeFileSync(path, '');
  expect(await all<FrameSpan | Damage>(readFrames(path))).toEqual([]);
});

test('RT2 whatever happens to a log, reading ends, makes nothing up, and says that something is wrong', async () => {
  const folder = temporaryFolder();
  const counts = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });
  const place = fc.double({ min: 0, max: 0.999999, noNaN: true });
  const injury = fc.record({ place, length: fc.integer({ min: 0, max: 120 }), put: fc.uint8Array({ maxLength: 120 }) });
  let number = 0;
  await fc.assert(
    fc.asyncProperty(
      counts,
      injury,
      fc.constantFrom('jsonl.zst', 'jsonl'),
      async (frames, { place, length, put }, suffix) => {
        const path = join(folder, `${(number += 1)}.${suffix}`);
        await writeLog(path, frames);
        const whole = readFileSync(path);
        const at = Math.floor(place * whole.length);
        const injured = Buffer.concat([whole.subarray(0, at), put, whole.subarray(at + length)]);
        writeFileSync(path, injured);
        const written = new Set(lines(1, 24));
        const read: string[] = [];
        let damaged = false;
        try {
          for await (const found of readFrames(path)) {
            if (found.kind === 'damage') damaged = true;
            else read.push(...found.lines);
          }
        } catch (error) {
          expect(error).toMatchObject({ code: 'wrong_form' });
          return;
        }
        if (suffix === 'jsonl.zst') expect(read.filter((line) => !written.has(line))).toEqual([]);
        const seqs = read.map((line) => (JSON.parse(line) as { seq: number }).seq);
        expect(seqs).toEqual([...new Set(seqs)].sort((one, other) => one - other));
        const total = frames.reduce((sum, count) => sum + count, 0);
        // A cut at a frame's end is a shorter log, whole as it is.
        const cutAtEnd =
          seqs.length < total && seqs.at(-1) === seqs.length && injured.equals(whole.subarray(0, injured.length));
        if (seqs.length < total && seqs.length > 0 && !cutAtEnd) expect(damaged).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});
