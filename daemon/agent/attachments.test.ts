import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { emptyConversation } from '#protocol/conversation/conversation.ts';
import { maxAttachedTextBytes, maxAttachments, maxSessionPictureBytes, maxSessionPictures } from '#protocol/limits.ts';
import type { Image, InputPart } from '#protocol/values/content.ts';
import { bmpOf, gifOf, pngOf, turnedJpegOf } from '../testing/pictures.ts';
import { checkAttachments } from './attachments.ts';
import { requireRoom } from './decide.ts';

const blobs = new Map<string, Uint8Array>();
const put = (bytes: Uint8Array) => {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  blobs.set(sha256, bytes);
  return { sha256, bytes: bytes.length };
};
const image = (bytes: Uint8Array, name = 'a.png'): Image => ({
  type: 'image',
  blob: put(bytes),
  mediaType: 'image/png',
  name,
});
const check = (parts: readonly InputPart[]) =>
  checkAttachments(parts, ({ sha256 }) => Promise.resolve(blobs.get(sha256) ?? null));

test('PR18: a picture is what its bytes say, whatever the client said of it', async () => {
  const part = image(gifOf(30, 20));
  const lied: Image = { ...part, mediaType: 'text/html', width: 1, height: 1, blob: { ...part.blob, bytes: 0 } };
  expect(await check([lied])).toEqual([{ ...part, mediaType: 'image/gif', width: 30, height: 20 }]);
});

test.each([
  ['no picture', () => image(Buffer.from('<svg/>')), 'invalid_params', /^a\.png is no picture/],
  ['a format that models do not take', () => image(bmpOf(3, 3)), 'invalid_params', /not within the limits/],
  ['a side that is too long', () => image(pngOf(2001, 1)), 'invalid_params', /not within the limits/],
  ['a picture that lies on its side', () => image(turnedJpegOf(8, 8, 6)), 'invalid_params', /not within the limits/],
  [
    'a picture that is not stored',
    (): Image => ({ ...image(gifOf(1, 1)), blob: { sha256: '0'.repeat(64), bytes: 1 } }),
    'not_found',
    /not stored here/,
  ],
  [
    'a text that is too long',
    (): InputPart => ({ type: 'text', text: 'x'.repeat(maxAttachedTextBytes + 1), name: 'b.txt' }),
    'too_large',
    /^b\.txt has 51 KiB.*maxAttachedTextBytes/,
  ],
  [
    'a stored text that is too long',
    (): InputPart => ({
      type: 'text-blob',
      blob: { ...put(Buffer.alloc(maxAttachedTextBytes + 1)), bytes: 1 },
      name: 'b.txt',
    }),
    'too_large',
    /maxAttachedTextBytes/,
  ],
])('PR18: refused in words: %s', async (_, part, code, message) => {
  await expect(check([part()])).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
});

test('PR18: files and pictures of one message are counted together, its words are not', async () => {
  const files = Array.from({ length: maxAttachments - 1 }, (_, at): InputPart => ({
    type: 'text',
    text: 'x',
    name: `${at}`,
  }));
  const words: InputPart = { type: 'text', text: 'x'.repeat(maxAttachedTextBytes * 2) };
  await expect(check([words, ...files, image(gifOf(1, 1))])).resolves.toHaveLength(maxAttachments + 1);
  await expect(check([words, ...files, image(gifOf(1, 1)), image(gifOf(1, 1))])).rejects.toMatchObject({
    code: 'too_many',
    message: expect.stringContaining('maxAttachments') as string,
  });
});

test('PR18: pictures of a session are counted over its inputs; what makes them fewer is always taken', () => {
  const one = image(gifOf(1, 1));
  const many = Array<Image>(maxSessionPictures).fill(one);
  const holding = (pictures: number, bytes = 0) => ({ ...emptyConversation, attached: { pictures, bytes } });
  expect(() => requireRoom(holding(0), [], many)).not.toThrow();
  expect(() => requireRoom(holding(1), [], many)).toThrow(/maxSessionPictures/);
  expect(() => requireRoom(holding(maxSessionPictures), many, many)).not.toThrow();
  expect(() => requireRoom(holding(maxSessionPictures + 2), [one, one], [one])).not.toThrow();
  const large: Image = { ...one, blob: { ...one.blob, bytes: maxSessionPictureBytes } };
  expect(() => requireRoom(holding(1, 1), [], [large])).toThrow(/maxSessionPictureBytes/);
  expect(() => requireRoom(holding(1, maxSessionPictureBytes * 2), [], [{ type: 'text', text: 'a' }])).not.toThrow();
});
