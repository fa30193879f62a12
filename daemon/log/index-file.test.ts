import { appendFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { maxIndexEntryBytes } from '../base/limits.ts';
import { lines, writeLog } from '../testing/small-log.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { indexPathOf, LogIndex, type IndexEntry } from './index-file.ts';
import { cutTornTail } from './repair.ts';
import { LogWriter } from './writer.ts';

async function openIndex(log: string): Promise<LogIndex> {
  const index = await LogIndex.openForWriting(log);
  onTestFinished(() => index.close());
  return index;
}

/** A log of ten frames of two events, and an entry for each place between two of them. */
async function indexedLog(name: string, base = 'base'): Promise<{ log: string; entries: IndexEntry[]; end: number }> {
  const log = join(temporaryFolder(), name);
  const offsets = await writeLog(
    log,
    Array.from({ length: 10 }, () => 2),
  );
  const entries = offsets
    .slice(1, -1)
    .map((offset, place) => ({ seq: 2 * (place + 1), offset, base: `${base} ${place}` }));
  const index = await openIndex(log);
  for (const entry of entries) await index.append(entry);
  await index.close();
  return { log, entries, end: offsets.at(-1) ?? 0 };
}

describe.each(['a.jsonl.zst', 'a.jsonl'])('an index beside %s', (name) => {
  // Bases of one byte and of more than a reading window: lines are found by halves in both.
  test.each(['b', 'b'.repeat(70_000)])('finds the newest entry at or before a seq', async (base) => {
    const { log, entries } = await indexedLog(name, base);
    const index = await openIndex(log);
    expect(await index.find()).toEqual(entries.at(-1));
    for (let seq = 0; seq <= 22; seq += 1) {
      expect(await index.find(seq), `seq ${seq}`).toEqual(entries.filter((entry) => entry.seq <= seq).at(-1) ?? null);
    }
  });

  test('an entry at the very end of the log is believed once a frame follows', async () => {
    const { log, entries, end } = await indexedLog(name);
    const index = await openIndex(log);
    const last = { seq: 20, offset: end, base: 'last' };
    await index.append(last);
    expect(await index.find()).toEqual(entries.at(-1));
    await index.close();
    const writer = await LogWriter.open(log, { end, lastSeq: 20 });
    await writer.append(lines(21, 21), 21);
    await writer.close();
    expect(await (await openIndex(log)).find()).toEqual(last);
  });

  test('entries that the log contradicts are passed over, and gone once it is opened for writing', async () => {
    const { log, entries, end } = await indexedLog(name);
    const index = await openIndex(log);
    await index.append({ seq: 20, offset: (entries[3]?.offset ?? 0) + 1, base: 'no frame begins there' });
    await index.append({ seq: 25, offset: entries[4]?.offset ?? 0, base: 'another event comes there' });
    await index.append({ seq: 30, offset: end + 100, base: 'behind the end' });
    await index.close();
    const reading = await LogIndex.openForReading(log);
    expect(await reading.find()).toEqual(entries.at(-1));
    await reading.close();
    const writing = await openIndex(log);
    await writing.append({ seq: 20, offset: end, base: 'in order again' });
    expect(readFileSync(indexPathOf(log), 'utf8')).toContain('in order again');
    expect(readFileSync(indexPathOf(log), 'utf8')).not.toContain('behind the end');
  });

  test('what it remembers of a tail is gone when the tail is cut', async () => {
    const { log, entries } = await indexedLog(name);
    await cutTornTail(log, entries[4]?.offset ?? 0);
    const writer = await LogWriter.open(log, { end: entries[4]?.offset ?? 0, lastSeq: 10 });
    await writer.append(lines(11, 12, 'another past'), 11);
    await writer.append(lines(13, 14, 'another past'), 13);
    await writer.close();
    expect(await (await openIndex(log)).find()).toEqual(entries[4]);
  });
});

describe('a broken index', () => {
  test.each([
    ['missing', (path: string) => rmSync(path)],
    ['empty', (path: string) => writeFileSync(path, '')],
    ['of zeros', (path: string) => writeFileSync(path, Buffer.alloc(5000))],
    ['of one line without an end', (path: string) => writeFileSync(path, 'x'.repeat(200_000))],
    ['of other lines', (path: string) => writeFileSync(path, '00000000 {"seq":2}\n'.repeat(1000))],
  ])('that is %s is none, and takes entries again', async (_, damage) => {
    const { log, entries } = await indexedLog('a.jsonl.zst');
    damage(indexPathOf(log));
    const index = await openIndex(log);
    expect(await index.find()).toBeNull();
    for (const entry of entries) await index.append(entry);
    expect(await index.find()).toEqual(entries.at(-1));
  });

  test('cut at any byte it gives a true entry or none, and takes entries again', async () => {
    const { log, entries } = await indexedLog('a.jsonl.zst');
    const whole = readFileSync(indexPathOf(log));
    for (let cut = whole.length; cut >= 0; cut -= 7) {
      writeFileSync(indexPathOf(log), whole.subarray(0, cut));
      const index = await openIndex(log);
      const complete = whole.subarray(0, cut).toString().split('\n').length - 1;
      expect(await index.find(), `cut at ${cut}`).toEqual(entries[complete - 1] ?? null);
      for (const entry of entries) await index.append(entry);
      await index.close();
      expect(readFileSync(indexPathOf(log)), `cut at ${cut}`).toEqual(whole);
    }
  });

  test('a flipped byte hides entries but never makes one up', async () => {
    const { log, entries } = await indexedLog('a.jsonl.zst');
    const whole = readFileSync(indexPathOf(log));
    for (let place = 0; place < whole.length; place += 5) {
      const flipped = Buffer.from(whole);
      flipped.writeUInt8(flipped.readUInt8(place) ^ 0xff, place);
      writeFileSync(indexPathOf(log), flipped);
      const index = await LogIndex.openForReading(log);
      for (const seq of [3, 9, 18]) {
        const found = await index.find(seq);
        if (found !== null) expect(entries).toContainEqual(found);
      }
      await index.close();
    }
  });
});

test('an entry over the limit is not written, and one that is older than the last neither', async () => {
  const { log, entries, end } = await indexedLog('a.jsonl.zst');
  const before = statSync(indexPathOf(log)).size;
  const index = await openIndex(log);
  await index.append({ seq: 20, offset: end, base: 'x'.repeat(maxIndexEntryBytes) });
  await index.append({ seq: 4, offset: entries[1]?.offset ?? 0, base: 'old' });
  expect(statSync(indexPathOf(log)).size).toBe(before);
});

test('where the log is gone or shorter, nothing is found and nobody fails', async () => {
  const { log } = await indexedLog('a.jsonl.zst');
  truncateSync(log, 0);
  expect(await (await openIndex(log)).find()).toBeNull();
  appendFileSync(indexPathOf(log), 'junk');
  rmSync(log);
  const index = await openIndex(log);
  expect(await index.find()).toBeNull();
  await index.append({ seq: 2, offset: 10, base: null });
  rmSync(indexPathOf(log));
  expect(existsSync(indexPathOf(log))).toBe(false);
});
