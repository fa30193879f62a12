import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FaultyDisk } from '../testing/faulty-disk.ts';
import { contentOf, lines, upTo, writeLog } from '../testing/small-log.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { LogIndex } from './index-file.ts';
import { readFrames, walkHeaders } from './reader.ts';
import { examine } from './repair.ts';
import { Repack } from './repack.ts';
import { LogWriter } from './writer.ts';

const never = new AbortController().signal;

async function linesOf(path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const frame of readFrames(path)) {
    if (frame.kind === 'damage') throw new Error(frame.reason);
    found.push(...frame.lines);
  }
  return found;
}

async function framesOf(path: string): Promise<number> {
  let frames = 0;
  for await (const { kind } of walkHeaders(path)) if (kind === 'frame') frames += 1;
  return frames;
}

/** A log, open for writing, with a base at the end of some of its frames. */
async function openWith(path: string, counts: readonly number[], based: readonly number[], text?: string) {
  const offsets = await writeLog(path, counts, text);
  const index = await LogIndex.openForWriting(path);
  let seq = 0;
  const bases: number[] = [];
  for (const [place, count] of counts.entries()) {
    seq += count;
    if (!based.includes(place)) continue;
    bases.push(seq);
    await index.append({ seq, offset: offsets[place + 1] ?? 0, base: { at: seq } });
  }
  await index.close();
  const writer = await LogWriter.open(path, { end: offsets.at(-1) ?? 0, lastSeq: seq });
  onTestFinished(() => writer.close());
  return { writer, bases };
}

async function repacked(path: string, writer: LogWriter, meanwhile: () => Promise<void> = () => Promise.resolve()) {
  const repack = await Repack.begin(path, writer.tail, never);
  await meanwhile();
  const now = await repack.finish(writer.tail);
  onTestFinished(() => now.writer.close());
  onTestFinished(() => now.index.close());
  return now;
}

test('RT2 any log holds the same lines afterwards, its bases stand where frames end, and it can be written on (property)', async () => {
  const some = fc.record({
    counts: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 30 }),
    based: fc.uniqueArray(fc.integer({ min: 0, max: 29 })),
    more: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 5 }),
    characters: fc.constantFrom(1, 50, 9_000, 70_000),
  });
  await fc.assert(
    fc.asyncProperty(some, async ({ counts, based, more, characters }) => {
      const path = join(temporaryFolder(), 'a.jsonl.zst');
      const { writer, bases } = await openWith(path, counts, based, 'é'.repeat(characters));
      const now = await repacked(path, writer, async () => {
        for (const count of more) {
          const seq = writer.tail.lastSeq + 1;
          await writer.append(lines(seq, seq + count - 1), seq);
        }
      });
      const before = await linesOf(path);
      const last = writer.tail.lastSeq;
      expect(before).toHaveLength(last);
      expect(await contentOf(path)).toEqual({ seqs: upTo(last), damages: [] });
      expect(readdirSync(join(path, '..')).toSorted()).toEqual(['a.jsonl.zst', 'a.jsonl.zst.index']);

      await now.writer.append(lines(last + 1, last + 1), last + 1);
      expect(await contentOf(path)).toEqual({ seqs: upTo(last + 1), damages: [] });
      const index = await LogIndex.openForReading(path);
      for (const seq of bases) {
        const found = await index.find(seq);
        expect(found).toMatchObject({ seq, base: { at: seq } });
        if (found !== null) expect((await contentOf(path, found)).seqs[0]).toBe(seq + 1);
      }
      await index.close();
    }),
    { numRuns: 60 },
  );
});

test('RT2 many small frames become few, byte for byte the same as lines', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const { writer } = await openWith(
    path,
    Array.from({ length: 500 }, () => 1),
    [],
  );
  const before = { lines: await linesOf(path), bytes: readFileSync(path).length };
  await repacked(path, writer);
  expect(await linesOf(path)).toEqual(before.lines);
  expect(await framesOf(path)).toBe(1);
  expect(readFileSync(path).length).toBeLessThan(before.bytes / 5);
});

test('RT5 lines of a later version, and lines that are no events of ours, are kept as they are', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const strange = [
    '{"seq":1,  "type":"moon.risen", "at":1.50}',
    '{"type":"part.delta","text":"\\u00e9","seq":2,"at":1}',
  ];
  const writer = await LogWriter.create(path);
  onTestFinished(() => writer.close());
  for (const [place, line] of strange.entries()) await writer.append([line], place + 1);
  await repacked(path, writer);
  expect(await linesOf(path)).toEqual(strange);
});

test('a place in the file that it was is refused in the one that it is, and not taken for damage', async () => {
  const path = join(temporaryFolder(), 'a.jsonl.zst');
  const counts = Array.from({ length: 40 }, () => 2);
  const offsets = await writeLog(path, counts);
  const writer = await LogWriter.open(path, { end: offsets.at(-1) ?? 0, lastSeq: 80 });
  onTestFinished(() => writer.close());
  const { writer: now } = await repacked(path, writer);
  await now.append(lines(81, 400), 81);
  for (const [place, offset] of offsets.entries()) {
    if (place === 0) continue;
    await expect(contentOf(path, { offset, seq: 2 * place })).rejects.toMatchObject({ code: 'changed' });
  }
});

describe('where it cannot be done, the log is as it was, and nothing is left beside it', () => {
  test.each(['full', 'cut short', 'not synced'] as const)('the disk is %s', async (how) => {
    const path = join(temporaryFolder(), 'a.jsonl.zst');
    const { writer } = await openWith(path, [3, 2, 4], [1]);
    const before = readFileSync(path);
    const disk = new FaultyDisk();
    if (how === 'not synced') disk.syncFails = true;
    else disk.full = 'ENOSPC';
    if (how === 'cut short') disk.takes = 20;
    await expect(Repack.begin(path, writer.tail, never, disk.open)).rejects.toThrow();
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(join(path, '..')).toSorted()).toEqual(['a.jsonl.zst', 'a.jsonl.zst.index']);
    await writer.append(lines(10, 10), 10);
    expect(await contentOf(path)).toEqual({ seqs: upTo(10), damages: [] });
  });

  test('the second half fails, when the first was well', async () => {
    const path = join(temporaryFolder(), 'a.jsonl.zst');
    const { writer } = await openWith(path, [3, 2, 4], []);
    const disk = new FaultyDisk();
    const repack = await Repack.begin(path, writer.tail, never, disk.open);
    await writer.append(lines(10, 12), 10);
    disk.full = 'EIO';
    await expect(repack.finish(writer.tail)).rejects.toThrow(/EIO/);
    await writer.append(lines(13, 13), 13);
    expect(await contentOf(path)).toEqual({ seqs: upTo(13), damages: [] });
    expect(readdirSync(join(path, '..'))).not.toContain('a.jsonl.zst.repack');
  });

  test('a byte of it is damaged', async () => {
    const path = join(temporaryFolder(), 'a.jsonl.zst');
    const { writer } = await openWith(path, [3, 2, 4], []);
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(120) ^ 0xff, 120);
    writeFileSync(path, bytes);
    await expect(Repack.begin(path, writer.tail, never)).rejects.toMatchObject({ code: 'damaged' });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(existsSync(`${path}.repack`)).toBe(false);
  });

  test('it is told to stop', async () => {
    const path = join(temporaryFolder(), 'a.jsonl.zst');
    const { writer } = await openWith(path, [3, 2, 4], []);
    await expect(Repack.begin(path, writer.tail, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    expect(existsSync(`${path}.repack`)).toBe(false);
  });
});

test('RT3 killed anywhere in it, the log holds every event that was acknowledged, in its old frames or its new ones', async () => {
  const program = fileURLToPath(new URL('fixtures/repack-until-killed.ts', import.meta.url));
  for (let round = 1; round <= 8; round += 1) {
    const log = join(temporaryFolder(), 'a.jsonl.zst');
    const child = spawn(process.execPath, ['--import', 'tsx', program, log], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    let acknowledged = 0;
    for await (const line of createInterface(child.stdout)) {
      acknowledged = Number(line);
      if (acknowledged < 100 + round * 17) continue;
      // Some turns of the event loop later it is somewhere else.
      for (let turns = round * 11; turns > 0; turns -= 1) await new Promise(setImmediate);
      child.kill('SIGKILL');
    }
    await exit;
    const found = await examine(log);
    expect(['whole', 'torn']).toContain(found.state);
    expect(found.lastSeq).toBeGreaterThanOrEqual(acknowledged);
    expect((await contentOf(log)).seqs).toEqual(upTo(found.lastSeq));
  }
}, 60_000);
