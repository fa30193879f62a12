/** Pictures that a person attaches. */
import { z } from '../schema.ts';
import { blobRef } from '../values/blob.ts';
import { image } from '../values/content.ts';

export const pictureCommands = {
  'picture.prepare': {
    doc: 'Takes an uploaded blob for an input: looks whether it is a picture, turns unusual formats into png, scales large ones down, and answers the part to submit.',
    params: z.object({ blob: blobRef, name: z.optional(z.string().check(z.maxLength(255))) }),
    result: z.object({ part: image, /** What was done to it; null: nothing. */ note: z.nullable(z.string()) }),
  },
};
