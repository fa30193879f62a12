/**
 * One frame of a log: a zstd skippable frame that says what follows, then a zstd data frame of whole lines. Standard tools pass over the
 * first and print the second; our reader walks a log by the first. This is the only file that knows zstd. Sizes and the window are checked
 * before anything is decoded. The header, little-endian:
 *
 *    0  magic 0x184D2A50       16  bytes of the data frame     28  first seq (8 bytes)
 *    4  length of the rest     20  the same decoded            36  CRC-32 of the data frame
 *    8  signature "ALCV"       24  number of events            40  CRC-32 of bytes 0 to 39
 *   12  log version
 *
 * In every version the length, the signature and the version stay where they are, and the CRC-32 of all before it comes last: so an older
 * reader knows a newer header for what it is.
 */
import { isUtf8 } from 'node:buffer';
import zlib from 'node:zlib';
import { LOG_VERSION } from '#protocol/version.ts';
import { assert, messageOf } from '../base/errors.ts';
import { maxFrameBytes, maxWindowLog } from '../base/limits.ts';

export interface FrameHeader {
  readonly version: number;
  /** Of the header itself: the data frame begins after it. */
  readonly headerBytes: number;
  readonly compressedBytes: number;
  readonly decodedBytes: number;
  readonly count: number;
  readonly firstSeq: number;
  readonly checksum: number;
}

/** `short`: more bytes are needed. `garbled`: no header, or a broken one. `excessive`: sound, but over a limit. `newer`: of a later version. */
export type HeaderProblem = { readonly problem: 'short' | 'garbled' | 'excessive' | 'newer'; readonly reason: string };

/** `torn`: what a crash in mid-write leaves. `refused`: whole, but not to be decoded. */
export type FrameProblem = { readonly problem: 'torn' | 'refused'; readonly reason: string };

export const frameHeaderBytes = 44;
const checkedBytes = frameHeaderBytes - 4;
const place = {
  rest: 4,
  signature: 8,
  version: 12,
  compressed: 16,
  decoded: 20,
  count: 24,
  firstSeq: 28,
  checksum: 36,
};
const skippableMagic = 0x184d2a50;
const dataMagic = 0xfd2fb528;
const signature = 0x56434c41; // "ALCV"
/** A later version may say more; beyond this it is no header of ours. */
const maxHeaderBytes = 1024;
/** Compression may lengthen what cannot be compressed: zstd's own bound, rounded up. */
const maxCompressedBytes = maxFrameBytes + (maxFrameBytes >> 8) + 1024;

/** The bytes that every frame begins with: where a search after damage looks. */
export const frameMagic = Buffer.from([0x50, 0x2a, 0x4d, 0x18]);
/** The bytes that a zstd data frame begins with. */
export const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Header and data in one buffer. `lines` are whole events without their newlines; `firstSeq` is the seq of the first. */
export function encodeFrame(zstd: Zstd, { firstSeq, lines }: { firstSeq: number; lines: readonly string[] }): Buffer {
  const text = Buffer.from(`${lines.join('\n')}\n`);
  assert(
    lines.length > 0 && Number.isSafeInteger(firstSeq) && firstSeq > 0,
    `a frame of ${lines.length} events from ${firstSeq}`,
  );
  assert(text.length <= maxFrameBytes, `a frame of ${text.length} bytes is over maxFrameBytes (${maxFrameBytes})`);
  const data = zstd.compress(text);
  const frame = Buffer.alloc(frameHeaderBytes + data.length);
  frame.writeUInt32LE(skippableMagic, 0);
  frame.writeUInt32LE(frameHeaderBytes - 8, place.rest);
  frame.writeUInt32LE(signature, place.signature);
  frame.writeUInt32LE(LOG_VERSION, place.version);
  frame.writeUInt32LE(data.length, place.compressed);
  frame.writeUInt32LE(text.length, place.decoded);
  frame.writeUInt32LE(lines.length, place.count);
  frame.writeBigUInt64LE(BigInt(firstSeq), place.firstSeq);
  frame.writeUInt32LE(crc32(data), place.checksum);
  frame.writeUInt32LE(crc32(frame.subarray(0, checkedBytes)), checkedBytes);
  frame.set(data, frameHeaderBytes);
  return frame;
}

/** Reads the header at the start of `bytes`, which may go on beyond it. */
export function readHeader(bytes: Buffer): FrameHeader | HeaderProblem {
  if (bytes.length < place.compressed) return { problem: 'short', reason: 'the file ends in the header of a frame' };
  if (bytes.readUInt32LE(0) !== skippableMagic || bytes.readUInt32LE(place.signature) !== signature) {
    return { problem: 'garbled', reason: 'no frame begins here' };
  }
  const headerBytes = bytes.readUInt32LE(place.rest) + 8;
  if (headerBytes < frameHeaderBytes || headerBytes > maxHeaderBytes) {
    return { problem: 'garbled', reason: 'the header of a frame is garbled' };
  }
  if (bytes.length < headerBytes) return { problem: 'short', reason: 'the file ends in the header of a frame' };
  if (crc32(bytes.subarray(0, headerBytes - 4)) !== bytes.readUInt32LE(headerBytes - 4)) {
    return { problem: 'garbled', reason: 'the header of a frame does not match its checksum' };
  }
  const version = bytes.readUInt32LE(place.version);
  if (version > LOG_VERSION) {
    return { problem: 'newer', reason: `it is of log version ${version}; this Alcove reads up to ${LOG_VERSION}` };
  }
  const header: FrameHeader = {
    version,
    headerBytes,
    compressedBytes: bytes.readUInt32LE(place.compressed),
    decodedBytes: bytes.readUInt32LE(place.decoded),
    count: bytes.readUInt32LE(place.count),
    firstSeq: Number(bytes.readBigUInt64LE(place.firstSeq)),
    checksum: bytes.readUInt32LE(place.checksum),
  };
  const excess = excessOf(header);
  return excess === null ? header : { problem: 'excessive', reason: excess };
}

/** Says whether the data frame is the one that the header was written for. */
export function checkFrame(data: Buffer, header: FrameHeader): FrameProblem | null {
  if (data.length < header.compressedBytes) return { problem: 'torn', reason: 'the file ends in a frame' };
  if (crc32(data) !== header.checksum) return { problem: 'torn', reason: 'a frame does not match its checksum' };
  return null;
}

/** The lines of a frame, without their newlines. `data` is the data frame alone. */
export function decodeFrame(zstd: Zstd, data: Buffer, header: FrameHeader): string[] | FrameProblem {
  const problem = checkFrame(data, header) ?? refusal(data, header);
  if (problem !== null) return problem;
  let text: string;
  try {
    const decoded = zstd.decompress(data, header.decodedBytes);
    if (decoded.length !== header.decodedBytes) return refused('its decoded length is not what its header says');
    if (!isUtf8(decoded)) return refused('it is not UTF-8');
    text = decoded.toString('utf8');
  } catch (error) {
    return refused(messageOf(error));
  }
  if (!text.endsWith('\n')) return refused('its last line has no end');
  const lines = text.slice(0, -1).split('\n');
  if (lines.length !== header.count)
    return refused(`it holds ${lines.length} lines and its header says ${header.count}`);
  return lines;
}

function excessOf(header: FrameHeader): string | null {
  const over = (what: string, found: number, limit: number) =>
    found > limit ? `a frame of ${found} ${what} is over the limit of ${limit}` : null;
  return (
    over('bytes decoded', header.decodedBytes, maxFrameBytes) ??
    over('bytes', header.compressedBytes, maxCompressedBytes) ??
    over('events', header.count, header.decodedBytes) ??
    over('as its first seq', header.firstSeq, Number.MAX_SAFE_INTEGER - maxFrameBytes) ??
    (header.count === 0 || header.firstSeq === 0 ? 'a frame without events' : null)
  );
}

/** What zstd's own frame header would make a decoder allocate. A frame of ours says its decoded size and needs no dictionary. */
function refusal(data: Buffer, header: FrameHeader): FrameProblem | null {
  if (data.length < 6) return refused('it is too short');
  if (data.readUInt32LE(0) !== dataMagic) return refused('it is not zstd data');
  const descriptor = data.readUInt8(4);
  const singleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  if ((descriptor & 0x03) !== 0) return refused('it asks for a dictionary');
  const sizeAt = singleSegment ? 5 : 6;
  const sizeBytes = sizeFlag === 0 ? (singleSegment ? 1 : 0) : 1 << sizeFlag;
  if (data.length < sizeAt + sizeBytes) return refused('it is too short');
  if (sizeBytes === 0) return refused('it does not say its decoded length');
  const size = contentSize(data, sizeAt, sizeBytes);
  if (size !== header.decodedBytes) return refused('its decoded length is not what its header says');
  const window = singleSegment ? size : windowOf(data.readUInt8(5));
  if (window > 2 ** maxWindowLog)
    return refused(`its window of ${window} bytes is over the limit of ${2 ** maxWindowLog}`);
  return null;
}

function contentSize(data: Buffer, at: number, bytes: number): number {
  switch (bytes) {
    case 1:
      return data.readUInt8(at);
    case 2:
      return data.readUInt16LE(at) + 256;
    case 4:
      return data.readUInt32LE(at);
    default:
      return Number(data.readBigUInt64LE(at));
  }
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 0x07);
}

function refused(reason: string): FrameProblem {
  return { problem: 'refused', reason: `a frame cannot be decoded: ${reason}` };
}

// ---- zstd, by whichever library this machine has ----

export interface Zstd {
  readonly name: string;
  /** One frame that says its content's size; with a content checksum where the library can make one (our own CRC-32 stands in any case). */
  compress(bytes: Buffer): Buffer;
  /** Throws where the frame is damaged or decodes to more than `decodedBytes`. */
  decompress(frame: Buffer, decodedBytes: number): Buffer;
}

/** Compresses nearly as well as higher levels at more than twice their speed. */
const level = 3;

let chosen: Promise<Zstd> | null = null;

/** The best library that works here; loaded once. */
export function loadZstd(): Promise<Zstd> {
  chosen ??= chooseZstd();
  return chosen;
}

/** All libraries that work here, best first: tests run over all of them. */
export async function availableZstd(): Promise<Zstd[]> {
  const found = [await nativeZstd(), nodeZstd(), await wasmZstd()];
  return found.filter((zstd) => zstd !== null);
}

async function chooseZstd(): Promise<Zstd> {
  const zstd = (await nativeZstd()) ?? nodeZstd() ?? (await wasmZstd());
  if (zstd === null) {
    throw new Error(
      'No zstd: neither zstd-napi nor @bokuweb/zstd-wasm can be loaded, and this Node has none. Install Alcove again.',
    );
  }
  return zstd;
}

/** Compiled at installation; with install scripts blocked it is there and throws when loaded. */
async function nativeZstd(): Promise<Zstd | null> {
  try {
    const { Compressor, Decompressor } = await import('zstd-napi');
    const compressor = new Compressor();
    compressor.setParameters({ compressionLevel: level, checksumFlag: true, contentSizeFlag: true });
    const decompressor = new Decompressor();
    decompressor.setParameters({ windowLogMax: maxWindowLog });
    return {
      name: 'zstd-napi',
      compress: (bytes) => compressor.compress(bytes),
      decompress: (frame) => decompressor.decompress(frame),
    };
  } catch {
    return null;
  }
}

/** Node 22.15 and newer. */
interface NodeZstd {
  zstdCompressSync?: (bytes: Buffer, options: object) => Buffer;
  zstdDecompressSync?: (frame: Buffer, options: object) => Buffer;
  constants: Record<string, number>;
}

function nodeZstd(): Zstd | null {
  const { zstdCompressSync, zstdDecompressSync, constants } = zlib as unknown as NodeZstd;
  if (zstdCompressSync === undefined || zstdDecompressSync === undefined) return null;
  const compression = {
    [constants['ZSTD_c_compressionLevel'] ?? 100]: level,
    [constants['ZSTD_c_checksumFlag'] ?? 201]: 1,
  };
  const decompression = { [constants['ZSTD_d_windowLogMax'] ?? 100]: maxWindowLog };
  return {
    name: 'node:zlib',
    compress: (bytes) => zstdCompressSync(bytes, { params: compression, pledgedSrcSize: bytes.length }),
    decompress: (frame, decodedBytes) =>
      zstdDecompressSync(frame, { params: decompression, maxOutputLength: Math.max(decodedBytes, 1) }),
  };
}

async function wasmZstd(): Promise<Zstd | null> {
  try {
    const wasm = await import('@bokuweb/zstd-wasm');
    await wasm.init();
    return {
      name: '@bokuweb/zstd-wasm',
      compress: (bytes) => Buffer.from(wasm.compress(bytes, level)),
      decompress: (frame) => Buffer.from(wasm.decompress(frame)),
    };
  } catch {
    return null;
  }
}

// ---- CRC-32 ----

/** Node 20.15 and newer have it built in, several times quicker. */
export const crc32: (bytes: Buffer) => number =
  (zlib as { crc32?: (bytes: Buffer) => number }).crc32 ?? ((bytes) => tableCrc32(bytes));

let table: Uint32Array | null = null;

export function tableCrc32(bytes: Uint8Array): number {
  table ??= crcTable();
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

function crcTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    return crc;
  });
}
