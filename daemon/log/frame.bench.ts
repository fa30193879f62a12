/**
 * What a log adds to what any log must do: turning events into JSON and JSON into zstd, and back. The limit of each group is exactly that, with
 * the same library on the same bytes, and nothing else: no schema, no checksum, no header. Nobody who stores compressed JSON can be
 * quicker; what we take longer is the price of what the frame promises. Targets: writing at least 0.7 of the limit, reading at least 0.6.
 *
 * Two sizes, because they cost differently: a frame of 64 KiB, as a reply and its calls or a log that is read fill it, and a frame of one
 * delta, as it is written while a model speaks.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, bench, describe } from 'vitest';
import type { KnownEvent } from '#protocol/event.ts';
import { workingSession } from '#protocol/testing/working-session.ts';
import { decodeLine, encodeEvent } from './codec.ts';
import { availableZstd, decodeFrame, encodeFrame, frameHeaderBytes, loadZstd, readHeader } from './frame.ts';
import { readEvents } from './reader.ts';
import { intoFrames, LogWriter } from './writer.ts';

const short = { time: 400, warmupTime: 100 };
const zstd = await loadZstd();
const events = workingSession(120).events as KnownEvent[];
const lines = events.map(encodeEvent);
const pages = [...intoFrames(lines, 1)].map(({ firstSeq, lines: whole }) => framed(firstSeq, whole));
const page = pages[1]!;
const delta = framed(7, [lines.find((line) => line.includes('"part.delta"'))!]);
const folder = mkdtempSync(join(tmpdir(), 'alcove-bench-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The same bytes in every form that the groups need. */
function framed(firstSeq: number, whole: readonly string[]) {
  const frame = encodeFrame(zstd, { firstSeq, lines: whole });
  const text = Buffer.from(`${whole.join('\n')}\n`);
  const parsed = whole.map((line) => JSON.parse(line) as KnownEvent);
  return { firstSeq, lines: whole, events: parsed, text, frame, raw: zstd.compress(text) };
}

function stringified(list: readonly unknown[]): Buffer {
  let text = '';
  for (const event of list) text += `${JSON.stringify(event)}\n`;
  return Buffer.from(text);
}

function parsedLines(text: string): void {
  for (const line of text.slice(0, -1).split('\n')) JSON.parse(line);
}

describe.each([
  ['write-page', 'events to a frame of 64 KiB', page],
  ['write-delta', 'one delta to a frame', delta],
])('micro.%s: %s', (_id, _what, sample) => {
  bench('limit: JSON.stringify and zstd', () => void zstd.compress(stringified(sample.events)), short);
  bench('ours', () => void encodeFrame(zstd, { firstSeq: 7, lines: sample.events.map(encodeEvent) }), short);
});

describe.each([
  ['read-page', 'a frame of 64 KiB to events', page],
  ['read-delta', 'a frame of one delta to its event', delta],
])('micro.%s: %s', (_id, _what, sample) => {
  bench(
    'limit: zstd and JSON.parse',
    () => parsedLines(zstd.decompress(sample.raw, sample.text.length).toString()),
    short,
  );
  bench(
    'ours',
    () => {
      const header = readHeader(sample.frame);
      if ('problem' in header) throw new Error(header.reason);
      const found = decodeFrame(zstd, sample.frame.subarray(frameHeaderBytes), header);
      if ('problem' in found) throw new Error(found.reason);
      for (const line of found) if ('problem' in decodeLine(line)) throw new Error('no event');
    },
    short,
  );
});

/** Into the page cache, as each acknowledgement waits for it; a sync costs what the disk costs, here as there. */
describe('micro.append: one delta into the file', async () => {
  const raw = await open(join(folder, 'raw'), 'w');
  const writer = await LogWriter.create(join(folder, 'log.jsonl.zst'));
  let end = 0;
  const [event] = delta.events as [KnownEvent];
  afterAll(async () => {
    await raw.close();
    await writer.close();
  });
  bench(
    'limit: JSON.stringify, zstd and one write',
    async () => {
      const bytes = zstd.compress(stringified([event]));
      await raw.write(bytes, 0, bytes.length, end);
      end += bytes.length;
    },
    short,
  );
  bench(
    'ours',
    async () => {
      const seq = writer.tail.lastSeq + 1;
      await writer.append([encodeEvent({ ...event, seq })], seq);
    },
    short,
  );
});

describe('micro.read-log: a log of many frames to events', async () => {
  const log = join(folder, 'whole.jsonl.zst');
  const writer = await LogWriter.create(log);
  await writer.append(lines, 1);
  await writer.close();
  bench(
    'limit: the file, zstd and JSON.parse',
    async () => {
      const bytes = await readFile(log);
      let at = 0;
      for (const { frame, text } of pages) {
        parsedLines(zstd.decompress(bytes.subarray(at + frameHeaderBytes, at + frame.length), text.length).toString());
        at += frame.length;
      }
    },
    short,
  );
  bench(
    'ours',
    async () => {
      let count = 0;
      for await (const found of readEvents(log)) if (found.kind === 'frame') count += found.events.length;
      if (count !== lines.length) throw new Error(`${count} of ${lines.length} events`);
    },
    short,
  );
});

/** What header, checksum and copy add to the library alone, for each that works here. */
describe.each((await availableZstd()).map((one) => [one.name, one] as const))('frames by %s', (_name, one) => {
  const raw = one.compress(page.text);
  const frame = encodeFrame(one, page);
  const header = readHeader(frame);
  if ('problem' in header) throw new Error(header.reason);
  bench('compress alone', () => void one.compress(page.text), short);
  bench('encodeFrame', () => void encodeFrame(one, page), short);
  bench('decompress alone', () => void one.decompress(raw, page.text.length), short);
  bench('decodeFrame', () => void decodeFrame(one, frame.subarray(frameHeaderBytes), header), short);
});
