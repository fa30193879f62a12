/** What people, tools and models say: text and pictures. Text too long for an event stands in a blob (`text-blob`). */
import { z } from '../schema.ts';
import { blobRef } from './blob.ts';

/** `name` is the file that the text came from, where it was attached. */
export const text = z.object({ type: z.literal('text'), text: z.string(), name: z.optional(z.string()) });
export const textBlob = z.object({ type: z.literal('text-blob'), blob: blobRef, name: z.optional(z.string()) });
/** A picture as it is sent: png, jpeg, gif or webp, within the limits. Sides in pixels, so that a screen keeps its place before it comes. */
export const image = z.object({
  type: z.literal('image'),
  blob: blobRef,
  mediaType: z.string(),
  name: z.optional(z.string()),
  width: z.optional(z.int()),
  height: z.optional(z.int()),
});
export type Image = z.infer<typeof image>;

/** A PDF as it was attached, and the text in it, for models that read no PDF. */
export const document = z.object({
  type: z.literal('document'),
  blob: blobRef,
  mediaType: z.literal('application/pdf'),
  name: z.optional(z.string()),
  pages: z.int(),
  text: blobRef,
});
export type Document = z.infer<typeof document>;

/** A piece of an input. */
export const inputPart = z.discriminatedUnion('type', [text, textBlob, image, document]);
export type InputPart = z.infer<typeof inputPart>;

/** A piece of a tool call's result, as the model sees it. */
export const resultPart = z.discriminatedUnion('type', [text, textBlob, image]);
export type ResultPart = z.infer<typeof resultPart>;

/** The text of parts as one string; what is not inline text is left out. */
export function plainText(parts: readonly (InputPart | ResultPart)[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
