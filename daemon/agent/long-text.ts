/** Text that is too long for an event stands in a blob: here it goes there, and context.ts puts it back. */
import type { BlobRef } from '#protocol/values/blob.ts';
import type { InputPart } from '#protocol/values/content.ts';
import { maxInlineFieldBytes } from '../base/limits.ts';

type TextBlob = Extract<InputPart, { type: 'text-blob' }>;

/** Resolves once the blobs are with the kernel. Results of calls are made of the same parts as inputs. */
export async function withoutLongText<Part extends InputPart>(
  parts: readonly Part[],
  storeBlob: (bytes: Uint8Array) => Promise<BlobRef>,
): Promise<(Part | TextBlob)[]> {
  const stored: (Part | TextBlob)[] = [];
  for (const part of parts) {
    if (part.type === 'text' && Buffer.byteLength(part.text) > maxInlineFieldBytes)
      stored.push({
        type: 'text-blob',
        blob: await storeBlob(Buffer.from(part.text)),
        ...(part.name === undefined ? {} : { name: part.name }),
      });
    else stored.push(part);
  }
  return stored;
}
