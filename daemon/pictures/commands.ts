/** The handler of picture.prepare: from an uploaded blob to the part of an input that can be submitted. */
import type { Params, Result } from '#protocol/command.ts';
import { RequestError } from '#protocol/errors.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import { fitPicture } from './fit-picture.ts';

export interface PictureBlobs {
  read(blob: BlobRef): Promise<Uint8Array | null>;
  put(bytes: Uint8Array): Promise<BlobRef>;
}

export interface PictureHandlers {
  readonly 'picture.prepare': (params: Params<'picture.prepare'>) => Promise<Result<'picture.prepare'>>;
}

export function pictureHandlers(blobs: PictureBlobs): PictureHandlers {
  return {
    'picture.prepare': async ({ blob, name }) => {
      const bytes = await blobs.read(blob);
      if (bytes === null)
        throw new RequestError('not_found', 'The uploaded picture is not stored here. Upload it again.');
      const fitted = await fitPicture(bytes);
      const called = name ?? 'The file';
      if ('problem' in fitted) throw new RequestError('invalid_params', `${called} ${fitted.problem}`);
      const { mediaType, width, height, note } = fitted;
      const stored = note === null ? { ...blob, bytes: bytes.length } : await blobs.put(fitted.bytes);
      const named = name === undefined ? {} : { name };
      return { part: { type: 'image', blob: stored, mediaType, ...named, width, height }, note };
    },
  };
}
