/** PR19: what is read out of a PDF, and what is answered for one that is attached. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { maxDocumentBytes } from '#protocol/limits.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import { maxPdfPages } from '../base/limits.ts';
import { pdfOf } from '../testing/pdf.ts';
import { documentHandlers } from './document-commands.ts';
import { isPdf, pdfText } from './pdf.ts';

function store() {
  const kept = new Map<string, Uint8Array>();
  const put = (bytes: Uint8Array): Promise<BlobRef> => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    kept.set(sha256, bytes);
    return Promise.resolve({ sha256, bytes: bytes.length });
  };
  const read = (blob: BlobRef) => Promise.resolve(kept.get(blob.sha256) ?? null);
  return { put, read, textOf: async (blob: BlobRef) => Buffer.from((await read(blob))!).toString() };
}

test('PR19: the text of a PDF comes page by page, and a page without any says so', async () => {
  const bytes = pdfOf(['Roses are (mostly) red', '', 'The end']);
  expect(isPdf(bytes)).toBe(true);
  expect(await pdfText(bytes)).toEqual({
    pages: 3,
    text: '--- Page 1 ---\nRoses are (mostly) red\n\n--- Page 2 ---\n(This page has no text: it may be a picture.)\n\n--- Page 3 ---\nThe end',
    missing: null,
  });
  // The bytes are still whole: they are what is sent.
  expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
});

test.each([
  ['no PDF', Buffer.from('hello'), /is no PDF/],
  ['a broken one', Buffer.from('%PDF-1.4\nnothing more'), /broken/],
  ['an empty file', Buffer.alloc(0), /is no PDF/],
])('PR19: %s is said to be so', async (_, bytes, words) => {
  expect(await pdfText(bytes)).toEqual({ problem: expect.stringMatching(words) as string });
});

test('PR19: more pages than the limit are left out, and said (maxPdfPages)', async () => {
  const read = await pdfText(pdfOf(Array.from({ length: maxPdfPages + 1 }, (_, place) => `p${place}`)));
  expect(read).toMatchObject({
    pages: maxPdfPages + 1,
    missing: `Only the first ${maxPdfPages} of ${maxPdfPages + 1} pages are shown.`,
  });
});

test('PR19: a PDF that was uploaded becomes a part with its text beside it', async () => {
  const blobs = store();
  const blob = await blobs.put(pdfOf(['Roses']));
  const { part, note } = await documentHandlers(blobs)['document.prepare']({ blob, name: 'garden.pdf' });
  expect(note).toBeNull();
  expect(part).toMatchObject({ type: 'document', blob, mediaType: 'application/pdf', name: 'garden.pdf', pages: 1 });
  expect(await blobs.textOf(part.text)).toBe('--- Page 1 ---\nRoses');
});

test('PR19: one that is too large, no PDF, or not there is refused by name', async () => {
  const blobs = store();
  const { 'document.prepare': prepare } = documentHandlers(blobs);
  const large = await blobs.put(Buffer.concat([pdfOf(['a']), Buffer.alloc(maxDocumentBytes)]));
  await expect(prepare({ blob: large, name: 'a.pdf' })).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('maxDocumentBytes') as string,
  });
  const text = await blobs.put(Buffer.from('hello'));
  await expect(prepare({ blob: text, name: 'a.pdf' })).rejects.toMatchObject({
    code: 'invalid_params',
    message: 'a.pdf is no PDF.',
  });
  const gone = { sha256: 'f'.repeat(64), bytes: 1 };
  await expect(prepare({ blob: gone })).rejects.toMatchObject({ code: 'not_found' });
});
