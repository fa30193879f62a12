/**
 * What the first bytes of a picture say about it: its format, its sides, how it is to be turned. Decided by the bytes, never by a name or a
 * type that somebody gave; nothing is decoded, so a picture that claims to be huge costs nothing here. Pure and total.
 */

export interface PictureFacts {
  readonly format: 'png' | 'jpeg' | 'gif' | 'webp' | 'bmp' | 'ico';
  /** In pixels, as stored: before it is turned. */
  readonly width: number;
  readonly height: number;
  /** Of EXIF, 1 to 8; 1 is upright. */
  readonly orientation: number;
}

/** Null for what is no picture of these formats, or one whose header is broken. */
export function pictureFacts(bytes: Uint8Array): PictureFacts | null {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = readers.map((read) => safely(() => read(data))).find((facts) => facts !== null) ?? null;
  return found !== null && found.width > 0 && found.height > 0 ? found : null;
}

/** Whether these first bytes may be those of a picture, so that it is worth reading the whole. */
export function mayBePicture(start: Uint8Array): boolean {
  return /^(\x89PNG|\xff\xd8\xff|GIF8|RIFF....WEBP|BM|\0\0\x01\0)/s.test(Buffer.from(start).toString('latin1'));
}

/** Formats that are told by name where they cannot be used. */
export function otherPictureFormat(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, 512)).toString('latin1');
  if (/^....ftyp(heic|heix|hevc|mif1|msf1)/s.test(start)) return 'HEIC';
  if (/^....ftypavi[fs]/s.test(start)) return 'AVIF';
  if (start.startsWith('II*\0') || start.startsWith('MM\0*')) return 'TIFF';
  if (/^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]/s.test(start)) return 'SVG';
  return null;
}

/** A header that is cut short reads behind its end. */
function safely(read: () => PictureFacts | null): PictureFacts | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const readers: readonly ((data: Buffer) => PictureFacts | null)[] = [png, jpeg, gif, webp, bmp, ico];
const upright = { orientation: 1 };

function png(data: Buffer): PictureFacts | null {
  if (data.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n' || data.toString('latin1', 12, 16) !== 'IHDR') return null;
  return { format: 'png', width: data.readUInt32BE(16), height: data.readUInt32BE(20), ...upright };
}

function gif(data: Buffer): PictureFacts | null {
  if (!/^GIF8[79]a/.test(data.toString('latin1', 0, 6))) return null;
  return { format: 'gif', width: data.readUInt16LE(6), height: data.readUInt16LE(8), ...upright };
}

/** Sides stand in the frame's header, behind segments of any length; the orientation in one of those. */
function jpeg(data: Buffer): PictureFacts | null {
  if (data.readUInt16BE(0) !== 0xffd8) return null;
  let orientation = 1;
  for (let at = 2; ;) {
    if (data.readUInt8(at) !== 0xff) return null;
    const marker = data.readUInt8(at + 1);
    // Fill bytes, and markers without content.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2;
      continue;
    }
    if (marker === 0xd9 || marker === 0xda) return null;
    const length = data.readUInt16BE(at + 2);
    if (length < 2) return null;
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { format: 'jpeg', height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7), orientation };
    if (marker === 0xe1 && data.toString('latin1', at + 4, at + 10) === 'Exif\0\0')
      orientation = orientationIn(data.subarray(at + 10, at + 2 + length));
    at += 2 + length;
  }
}

function webp(data: Buffer): PictureFacts | null {
  if (data.toString('latin1', 0, 4) !== 'RIFF' || data.toString('latin1', 8, 12) !== 'WEBP') return null;
  switch (data.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return {
        format: 'webp',
        width: data.readUInt16LE(26) & 0x3fff,
        height: data.readUInt16LE(28) & 0x3fff,
        ...upright,
      };
    case 'VP8L': {
      const bits = data.readUInt32LE(21);
      return { format: 'webp', width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, ...upright };
    }
    case 'VP8X':
      return {
        format: 'webp',
        width: data.readUIntLE(24, 3) + 1,
        height: data.readUIntLE(27, 3) + 1,
        orientation: webpOrientation(data),
      };
    default:
      return null;
  }
}

function webpOrientation(data: Buffer): number {
  for (let at = 12; at + 8 <= data.length;) {
    const length = data.readUInt32LE(at + 4);
    if (data.toString('latin1', at, at + 4) === 'EXIF') {
      const exif = data.subarray(at + 8, at + 8 + length);
      return orientationIn(exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif);
    }
    at += 8 + length + (length % 2);
  }
  return 1;
}

/** Of a TIFF structure, as EXIF is one; 1 where it says nothing, or nothing that can be. */
function orientationIn(tiff: Buffer): number {
  try {
    const little = tiff.toString('latin1', 0, 2) === 'II';
    const short = (at: number) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
    const start = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
    for (let entry = 0; entry < short(start); entry += 1) {
      const at = start + 2 + entry * 12;
      if (short(at) !== 0x0112) continue;
      const orientation = short(at + 8);
      return orientation >= 1 && orientation <= 8 ? orientation : 1;
    }
    return 1;
  } catch {
    return 1;
  }
}

function bmp(data: Buffer): PictureFacts | null {
  // Its mark is two letters that a text may begin with: the size of its header and the one plane must be there as well.
  if (data.toString('latin1', 0, 2) !== 'BM' || data.readUInt32LE(14) > 124 || data.readUInt16LE(26) !== 1) return null;
  return { format: 'bmp', width: data.readInt32LE(18), height: Math.abs(data.readInt32LE(22)), ...upright };
}

/** The largest of its pictures. Its mark is weak, so that its directory must lie within the file. */
function ico(data: Buffer): PictureFacts | null {
  if (data.readUInt32LE(0) !== 0x00010000) return null;
  const count = data.readUInt16LE(4);
  let [width, height] = [0, 0];
  for (let entry = 0; entry < count; entry += 1) {
    const at = 6 + entry * 16;
    if (data.readUInt32LE(at + 8) + data.readUInt32LE(at + 12) > data.length) return null;
    width = Math.max(width, data.readUInt8(at) || 256);
    height = Math.max(height, data.readUInt8(at + 1) || 256);
  }
  return { format: 'ico', width, height, ...upright };
}
