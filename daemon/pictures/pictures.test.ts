import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxPictureBytes, maxPictureSide, scaledPictureSide } from '../base/limits.ts';
import {
  bmpOf,
  gifOf,
  icoOf,
  jpegOf,
  pngClaiming,
  pngOf,
  redCorners,
  turnedJpegOf,
  webpOf,
} from '../testing/pictures.ts';
import { pictureHandlers } from './commands.ts';
import { fitPicture } from './fit-picture.ts';
import { pictureFacts } from './picture-facts.ts';

const fitted = async (bytes: Uint8Array) => {
  const result = await fitPicture(bytes);
  if ('problem' in result) throw new Error(result.problem);
  return result;
};
const problemOf = async (bytes: Uint8Array) => {
  const result = await fitPicture(bytes);
  return 'problem' in result ? result.problem : 'no problem';
};

describe('what a picture is', () => {
  test.each([
    ['png', pngOf(30, 20)],
    ['jpeg', jpegOf(30, 20)],
    ['gif', gifOf(30, 20)],
    ['webp', webpOf(30, 20)],
    ['bmp', bmpOf(30, 20)],
  ])('PR17: %s is known by its bytes, with its sides', (format, bytes) => {
    expect(pictureFacts(bytes)).toEqual({ format, width: 30, height: 20, orientation: 1 });
  });

  test('PR17: an icon is as large as its largest picture', () => {
    expect(pictureFacts(icoOf(64))).toEqual({ format: 'ico', width: 64, height: 64, orientation: 1 });
  });

  test('PR17: bytes of any kind, cut anywhere, are a picture or none, never an error', () => {
    const real = [pngOf(9, 9), jpegOf(9, 9), gifOf(9, 9), webpOf(9, 9), bmpOf(9, 9), icoOf(16), turnedJpegOf(9, 9, 6)];
    for (const bytes of real) {
      for (let end = 0; end < Math.min(bytes.length, 400); end += 1) pictureFacts(bytes.subarray(0, end));
    }
    fc.assert(
      fc.property(fc.constantFrom(...real), fc.nat(), fc.uint8Array({ maxLength: 20 }), (bytes, at, other) => {
        const mixed = Buffer.from(bytes);
        mixed.set(other.subarray(0, mixed.length), Math.max(0, (at % mixed.length) - other.length));
        pictureFacts(mixed);
      }),
      { numRuns: 500 },
    );
  });
});

describe('fitting', () => {
  test.each([
    ['png', pngOf(maxPictureSide, 10)],
    ['jpeg', jpegOf(400, 300)],
    ['gif', gifOf(5, 5, 3)],
    ['webp', webpOf(40, 30)],
  ])('PR17: %s within the limits keeps its bytes', async (format, bytes) => {
    expect(await fitted(bytes)).toMatchObject({ bytes, mediaType: `image/${format}`, note: null });
  });

  test.each([
    ['a wide png', pngOf(3000, 1500), 'image/png', 1568, 784],
    ['a tall jpeg', jpegOf(1000, 2500), 'image/jpeg', 627, 1568],
    ['a wide webp', webpOf(2400, 600), 'image/png', 1568, 392],
  ])('PR17: %s is made smaller in its proportions', async (_, bytes, mediaType, width, height) => {
    const result = await fitted(bytes);
    expect([result.mediaType, result.width, result.height]).toEqual([mediaType, width, height]);
    expect(pictureFacts(result.bytes)).toMatchObject({ width, height });
    expect(result.note).toMatch(/^Scaled from \d+ x \d+ to \d+ x \d+/);
    expect(redCorners(result.bytes)).toBe('top left');
  });

  test('PR17: a large gif becomes its first frame', async () => {
    const result = await fitted(gifOf(2500, 10, 2));
    expect([result.mediaType, result.width]).toEqual(['image/png', scaledPictureSide]);
    expect(result.note).toContain('only its first frame');
  });

  test.each([
    ['bmp', bmpOf(30, 20), 30, 20],
    ['ico', icoOf(64), 64, 64],
  ])('PR17: %s becomes png', async (format, bytes, width, height) => {
    expect(await fitted(bytes)).toMatchObject({
      mediaType: 'image/png',
      width,
      height,
      note: `Turned from ${format} into png.`,
    });
  });

  test.each([2, 3, 4, 5, 6, 7, 8])('PR17: a jpeg of the orientation %s comes out upright', async (orientation) => {
    const [w, h] = [80, 40];
    const corners = [
      '',
      '',
      'top right',
      'bottom right',
      'bottom left',
      'top left',
      'top right',
      'bottom right',
      'bottom left',
    ];
    const result = await fitted(turnedJpegOf(w, h, orientation));
    expect([result.width, result.height]).toEqual(orientation > 4 ? [h, w] : [w, h]);
    expect(redCorners(result.bytes)).toBe(corners[orientation]);
    expect(result.note).toContain('ut upright');
  });

  test('PR17: a picture of too many bytes becomes one of fewer', async () => {
    const bytes = pngOf(1300, 1200, true);
    expect(bytes.length).toBeGreaterThan(maxPictureBytes);
    const result = await fitted(bytes);
    expect(result.bytes.length).toBeLessThanOrEqual(maxPictureBytes);
    expect(result.mediaType).toBe('image/jpeg');
  });

  test('PR17: what cannot be used is refused in words, a picture that only claims to be huge at once', async () => {
    expect(await problemOf(pngClaiming(60_000, 60_000))).toMatch(/^has 60000 x 60000 pixels; at most 50 million/);
    expect(await problemOf(pngClaiming(3000, 3000))).toBe('cannot be used: it cannot be decoded.');
    expect(await problemOf(Buffer.concat([jpegOf(2500, 20).subarray(0, 700), randomBytes(300)]))).toMatch(
      /^(cannot be used|no problem)/,
    );
    expect(await problemOf(Buffer.from('hello'))).toMatch(/^is no picture that can be read/);
    expect(await problemOf(Buffer.from('\0\0\0\x18ftypheic', 'latin1'))).toMatch(/^is a picture in the format HEIC/);
    expect(await problemOf(Buffer.from('<svg xmlns="x"/>'))).toMatch(/^is a picture in the format SVG/);
  });

  test('PR17: a picture of 12000 pixels is scaled while everything else goes on', async () => {
    const bytes = pngOf(12_000, 2_000);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const result = await fitted(bytes);
    clearInterval(timer);
    expect([result.width, result.height]).toEqual([1568, 261]);
    expect(turns).toBeGreaterThan(20);
  });

  test('PR17: who asked may take it back', async () => {
    const stop = new AbortController();
    const asked = fitPicture(pngOf(5000, 3000), stop.signal);
    stop.abort(new Error('stopped'));
    await expect(asked).rejects.toThrow('stopped');
    expect(await fitted(bmpOf(5, 5))).toMatchObject({ width: 5 });
  });
});

describe('picture.prepare', () => {
  const stored = new Map<string, Uint8Array>();
  const put = (bytes: Uint8Array) => {
    const sha256 = String(stored.size).padStart(64, '0');
    stored.set(sha256, bytes);
    return Promise.resolve({ sha256, bytes: bytes.length });
  };
  const prepare = pictureHandlers({ read: ({ sha256 }) => Promise.resolve(stored.get(sha256) ?? null), put })[
    'picture.prepare'
  ];

  test('PR17: answers the part as it is to be submitted, of the picture itself where nothing had to be done', async () => {
    const blob = await put(pngOf(30, 20));
    expect(await prepare({ blob: { ...blob, bytes: 1 }, name: 'a.png' })).toEqual({
      part: { type: 'image', blob, mediaType: 'image/png', name: 'a.png', width: 30, height: 20 },
      note: null,
    });
    const large = await put(jpegOf(2500, 100));
    const { part, note } = await prepare({ blob: large });
    expect(part).toMatchObject({ mediaType: 'image/jpeg', width: 1568, height: 63 });
    expect(part.blob.sha256).not.toBe(large.sha256);
    expect(stored.get(part.blob.sha256)).toHaveLength(part.blob.bytes);
    expect(note).toBe('Scaled from 2500 x 100 to 1568 x 63.');
  });

  test('PR17: says what cannot be had', async () => {
    await expect(prepare({ blob: { sha256: 'f'.repeat(64), bytes: 1 } })).rejects.toMatchObject({ code: 'not_found' });
    const text = await put(Buffer.from('text'));
    await expect(prepare({ blob: text, name: 'a.txt' })).rejects.toMatchObject({
      code: 'invalid_params',
      message: 'a.txt is no picture that can be read. Pictures are png, jpeg, gif, webp, bmp or ico.',
    });
  });
});
