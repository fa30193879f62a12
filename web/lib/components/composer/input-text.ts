/** What an editor begins with: the whole text of an input, also where it is too long to have come by itself. What is attached is not part of it. */
import type { BlobRef } from '#protocol/values/blob.ts';
import type { InputPart } from '#protocol/values/content.ts';

/** Rejects where a text cannot be fetched: an editor that left it out would throw it away. */
export async function inputText(
  parts: readonly InputPart[],
  fetchText: (blob: BlobRef) => Promise<string>,
): Promise<string> {
  const texts: string[] = [];
  for (const part of parts) {
    if (isAttached(part)) continue;
    if (part.type === 'text') texts.push(part.text);
    if (part.type === 'text-blob') texts.push(await fetchText(part.blob));
  }
  return texts.join('\n');
}

/** Not typed: a picture, a PDF, or the text of a file. */
export function isAttached(part: InputPart): boolean {
  return part.type === 'image' || part.type === 'document' || part.name !== undefined;
}
