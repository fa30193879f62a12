/** Small real pictures of every format, made here, so that no test needs a file: with the sides that are asked for, and marks in their corners. */
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { deflateSync } from 'node:zlib';
import type * as Photon from '@silvia-odwyer/photon-node';

type Colour = readonly [red: number, green: number, blue: number];

/** White, with a red top left corner of a quarter of the sides: which way up it is can be seen. */
function colourAt(x: number, y: number, width: number, height: number): Colour {
  return x < width / 4 && y < height / 4 ? [255, 0, 0] : [255, 255, 255];
}

function photon(): typeof Photon {
  return createRequire(import.meta.url)('@silvia-odwyer/photon-node') as typeof Photon;
}

function image(width: number, height: number): Photon.PhotonImage {
  const pixels = new Uint8Array(width * height * 4).fill(255);
  for (let y = 0; y < height / 4; y += 1)
    for (let x = 0; x < width / 4; x += 1) pixels.set(colourAt(x, y, width, height), (y * width + x) * 4);
  return new (photon().PhotonImage)(pixels, width, height);
}

export const jpegOf = (width: number, height: number): Buffer => Buffer.from(image(width, height).get_bytes_jpeg(90));
export const webpOf = (width: number, height: number): Buffer => Buffer.from(image(width, height).get_bytes_webp());

/** Made without the codec, so that a very large one costs little: one line, repeated. `noise` makes it as large in bytes as in pixels. */
export function pngOf(width: number, height: number, noise = false): Buffer {
  const rows: Buffer[] = [];
  const plain = Buffer.alloc(1 + width * 3, 255);
  plain[0] = 0;
  for (let y = 0; y < height; y += 1) {
    if (!noise && y >= height / 4) rows.push(plain);
    else {
      const row = noise ? randomBytes(1 + width * 3) : Buffer.alloc(1 + width * 3);
      row[0] = 0;
      for (let x = 0; !noise && x < width; x += 1) row.set(colourAt(x, y, width, height), 1 + x * 3);
      rows.push(row);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const data = deflateSync(Buffer.concat(rows), { level: 1 });
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A header that claims such sides, with nothing behind it. */
export function pngClaiming(width: number, height: number): Buffer {
  const bytes = pngOf(1, 1);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.writeUInt32BE(crc(bytes.subarray(12, 29)), 29);
  return bytes;
}

function pngChunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc(body), body.length + 4);
  return chunk;
}

function crc(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

/** One pixel, one frame; further frames of the same where more are asked for. */
export function gifOf(width: number, height: number, frames = 1): Buffer {
  const head = Buffer.from('GIF89a\0\0\0\0\x80\0\0\xff\0\0\0\0\0', 'latin1');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  const frame = Buffer.from('21f9040000000000' + '2c000000000100010000' + '02024401' + '00', 'hex');
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from(';')]);
}

export function bmpOf(width: number, height: number): Buffer {
  const row = Math.ceil((width * 3) / 4) * 4;
  const bytes = Buffer.alloc(54 + row * height, 255);
  bytes.write('BM', 'latin1');
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(0, 6);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  bytes.fill(0, 30, 54);
  return bytes;
}

/** An icon that holds a png. */
export function icoOf(side: number): Buffer {
  const png = Buffer.from(image(side, side).get_bytes());
  const head = Buffer.alloc(22);
  head.set([0, 0, 1, 0, 1, 0, side % 256, side % 256, 0, 0, 1, 0, 32, 0]);
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(22, 18);
  return Buffer.concat([head, png]);
}

/** A jpeg that is to be turned. */
export function turnedJpegOf(width: number, height: number, orientation: number): Buffer {
  const exif = Buffer.from('Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0', 'latin1');
  exif[6 + 8 + 2 + 9] = orientation;
  const marker = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  const jpeg = jpegOf(width, height);
  return Buffer.concat([jpeg.subarray(0, 2), marker, exif, jpeg.subarray(2)]);
}

/** Which corners are red: top left, top right, bottom left, bottom right. */
export function redCorners(bytes: Uint8Array): string {
  const picture = photon().PhotonImage.new_from_byteslice(bytes);
  const [width, height] = [picture.get_width(), picture.get_height()];
  const pixels = picture.get_raw_pixels();
  const isRed = (x: number, y: number) => (pixels[(y * width + x) * 4 + 1] ?? 255) < 128;
  const corners: [string, number, number][] = [
    ['top left', 2, 2],
    ['top right', width - 3, 2],
    ['bottom left', 2, height - 3],
    ['bottom right', width - 3, height - 3],
  ];
  return corners.flatMap(([name, x, y]) => (isRed(x, y) ? [name] : [])).join(', ');
}
