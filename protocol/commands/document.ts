/** Documents that a person attaches. */
import { z } from '../schema.ts';
import { blobRef } from '../values/blob.ts';
import { document } from '../values/content.ts';

export const documentCommands = {
  'document.prepare': {
    doc: 'Takes an uploaded PDF for an input: looks whether it is one, takes its text out for models that read no PDF, and answers the part to submit.',
    params: z.object({ blob: blobRef, name: z.optional(z.string().check(z.maxLength(255))) }),
    result: z.object({
      part: document,
      /** What a person should know of it; null: nothing. */ note: z.nullable(z.string()),
    }),
  },
};
