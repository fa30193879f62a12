/** What people, tools and models say: text and pictures. Text too long for an event stands in a blob (`text-blob`). */
import { z } from '../schema.ts';
import { blobRef } from './blob.ts';

export const text = z.object({ type: z.literal('text'), text: z.string() });
export const textBlob = z.object({ type: z.literal('text-blob'), blob: blobRef });
export const image = z.object({
  type: z.literal('image'),
  blob: blobRef,
  mediaType: z.string(),
  name: z.optional(z.string()),
});

/** A piece of an input. */
export const inputPart = z.discriminatedUnion('type', [text, textBlob, image]);
export type InputPart = z.infer<typeof inputPart>;

/** A piece of a tool call's result, as the model sees it. */
export const resultPart = z.discriminatedUnion('type', [text, textBlob, image]);
export type ResultPart = z.infer<typeof resultPart>;

/** The text of parts as one string; what is not inline text is left out. */
export function plainText(parts: readonly (InputPart | ResultPart)[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
