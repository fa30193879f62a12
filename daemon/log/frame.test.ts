import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxFrameBytes, maxWindowLog } from '../base/limits.ts';
import {
  availableZstd,
  crc32,
  decodeFrame,
  encodeFrame,
  frameHeaderBytes,
  readHeader,
  tableCrc32,
  type FrameHeader,
  type Zstd,
} from './frame.ts';

const everyZstd = await availableZstd();
const zstdProgram = programVersion('zstd');

function programVersion(program: string): string | null {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8' });
  } catch {
    return null;
  }
}

function headerOf(frame: Buffer): FrameHeader {
  const header = readHeader(frame);
  if ('problem' in header) throw new Error(header.reason);
  return header;
}

function decode(zstd: Zstd, frame: Buffer) {
  return decodeFrame(zstd, frame.subarray(frameHeaderBytes), headerOf(frame));
}

/** The frame with some of its header's numbers changed and the header's checksum made right again. */
function forged(frame: Buffer, change: (header: Buffer) => void): Buffer {
  const copy = Buffer.from(frame);
  change(copy);
  copy.writeUInt32LE(crc32(copy.subarray(frameHeaderBytes, copy.length)), 36);
  copy.writeUInt32LE(crc32(copy.subarray(0, 40)), 40);
  return copy;
}

test('this machine has zstd', () => {
  expect(everyZstd.length).toBeGreaterThan(0);
});

describe.each(everyZstd)('RT2 a frame by $name', (zstd) => {
  test('holds any lines exactly, and its header says what they are', () => {
    const line = fc.string({ unit: 'binary', maxLength: 200 }).map((text) => JSON.stringify(text));
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 2 ** 45 }),
        (lines, firstSeq) => {
          const frame = encodeFrame(zstd, { firstSeq, lines });
          const header = headerOf(frame);
          expect({
            firstSeq: header.firstSeq,
            count: header.count,
            length: header.headerBytes + header.compressedBytes,
          }).toEqual({
            firstSeq,
            count: lines.length,
            length: frame.length,
          });
          expect(decode(zstd, frame)).toEqual(lines);
        },
      ),
    );
  });

  test.each(everyZstd)('is read by $name', (other) => {
    const lines = ['{"a":1}', `{"b":"${'ü'.repeat(50_000)}"}`];
    expect(decode(other, encodeFrame(zstd, { firstSeq: 1, lines }))).toEqual(lines);
  });

  test('every flipped bit is noticed', () => {
    const frame = encodeFrame(zstd, { firstSeq: 7, lines: ['{"text":"one"}', '{"text":"two"}'] });
    for (let bit = 0; bit < frame.length * 8; bit += 1) {
      const flipped = Buffer.from(frame);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const header = readHeader(flipped);
      const found = 'problem' in header ? header : decodeFrame(zstd, flipped.subarray(header.headerBytes), header);
      expect(found, `bit ${bit}`).toHaveProperty('problem');
    }
  });

  test('RT7 the largest frame passes; one byte more is not written', () => {
    const lines = ['x'.repeat(maxFrameBytes - 1)];
    expect(decode(zstd, encodeFrame(zstd, { firstSeq: 1, lines }))).toEqual(lines);
    expect(() => encodeFrame(zstd, { firstSeq: 1, lines: ['x'.repeat(maxFrameBytes)] })).toThrow('maxFrameBytes');
  });

  test('RT7 a frame that declares one byte more than the limit is refused before it is decoded', () => {
    const frame = encodeFrame(zstd, { firstSeq: 1, lines: ['x'] });
    expect(readHeader(forged(frame, (header) => header.writeUInt32LE(maxFrameBytes, 20)))).not.toHaveProperty(
      'problem',
    );
    expect(readHeader(forged(frame, (header) => header.writeUInt32LE(maxFrameBytes + 1, 20)))).toEqual({
      problem: 'excessive',
      reason: `a frame of ${maxFrameBytes + 1} bytes decoded is over the limit of ${maxFrameBytes}`,
    });
  });

  test('RT7 zstd data whose own header says more than ours, or asks for an excessive window, is not decoded', () => {
    const untouchable: Zstd = {
      name: 'none',
      compress: (bytes) => bytes,
      decompress: () => {
        throw new Error('it was decoded');
      },
    };
    const decoded = { problem: 'refused', reason: expect.stringContaining('it was decoded') as string };
    const frame = encodeFrame(zstd, { firstSeq: 1, lines: ['x'.repeat(99)] });
    const larger = forged(frame, (bytes) => bytes.writeUInt32LE(99, 20));
    expect(decode(untouchable, larger)).toMatchObject({
      reason: expect.stringContaining('not what its header says') as string,
    });
    const window = (log: number) =>
      // Not a single segment, a content size of four bytes, then the window descriptor.
      forged(
        Buffer.concat([
          frame.subarray(0, frameHeaderBytes),
          Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x80, (log - 10) << 3, 100, 0, 0, 0]),
        ]),
        (bytes) => bytes.writeUInt32LE(10, 16),
      );
    expect(decode(untouchable, window(maxWindowLog + 1))).toMatchObject({
      reason: expect.stringContaining('window') as string,
    });
    expect(decode(untouchable, window(maxWindowLog))).toEqual(decoded);
  });

  test.skipIf(zstdProgram === null)('is printed by the zstd program (skipped where it is not installed)', () => {
    const first = encodeFrame(zstd, { firstSeq: 1, lines: ['{"seq":1}', '{"seq":2}'] });
    const second = encodeFrame(zstd, { firstSeq: 3, lines: ['{"seq":3}'] });
    const printed = execFileSync('zstd', ['-dc'], { input: Buffer.concat([first, second]), encoding: 'utf8' });
    expect(printed).toBe('{"seq":1}\n{"seq":2}\n{"seq":3}\n');
  });

  test('a later version is known for what it is, with a longer header too', () => {
    const frame = encodeFrame(zstd, { firstSeq: 1, lines: ['x'] });
    expect(readHeader(forged(frame, (bytes) => bytes.writeUInt32LE(2, 12)))).toHaveProperty('problem', 'newer');
    const longer = Buffer.concat([frame.subarray(0, 40), Buffer.alloc(24)]);
    longer.writeUInt32LE(64 - 8, 4);
    longer.writeUInt32LE(2, 12);
    longer.writeUInt32LE(crc32(longer.subarray(0, 60)), 60);
    expect(readHeader(longer)).toHaveProperty('problem', 'newer');
    expect(readHeader(longer.subarray(0, 44))).toHaveProperty('problem', 'short');
  });
});

test('the checksum is the same without the built-in one', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => tableCrc32(bytes) === crc32(Buffer.from(bytes))));
  expect(tableCrc32(Buffer.from('123456789'))).toBe(0xcbf43926);
});
