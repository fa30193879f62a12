/**
 * A picture as models take it: png, jpeg, gif or webp, upright, within the limits. One that is so already keeps its bytes; others are drawn
 * anew, smaller or in another format; what is no picture, or too large to be decoded, is refused in words.
 */
import { maxPictureBytes, maxPicturePixels, maxPictureSide, scaledPictureSide } from '../base/limits.ts';
import { otherPictureFormat, pictureFacts, type PictureFacts } from './picture-facts.ts';
import { redraw, RedrawError } from './redraw.ts';

export interface FittedPicture {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
  /** What was done to it, as a sentence; null: nothing. */
  readonly note: string | null;
}

/** `problem` completes a sentence that begins with the picture's name. Rejects only with the signal's reason. */
export async function fitPicture(
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<FittedPicture | { readonly problem: string }> {
  const facts = pictureFacts(bytes);
  if (facts === null) return { problem: noPicture(bytes) };
  const asItIs = sentAsItIs(facts, bytes.length);
  if (asItIs !== null) return { bytes, ...asItIs, note: null };
  const { format, width, height, orientation } = facts;
  if (width * height > maxPicturePixels)
    return {
      problem: `has ${width} x ${height} pixels; at most ${maxPicturePixels / 1e6} million are decoded (maxPicturePixels). Make it smaller first.`,
    };
  const small = Math.max(width, height) <= maxPictureSide;
  try {
    const drawn = await redraw(
      bytes,
      {
        maxSide: small && bytes.length <= maxPictureBytes ? maxPictureSide : scaledPictureSide,
        maxBytes: maxPictureBytes,
        orientation,
        format: format === 'jpeg' ? 'jpeg' : 'png',
      },
      signal,
    );
    return { ...drawn, note: noteOf(facts, drawn) };
  } catch (error) {
    if (error instanceof RedrawError) return { problem: `cannot be used: ${error.message}.` };
    throw error;
  }
}

/** How a picture is sent that needs nothing done to it, by its header alone; null where something is to be done. */
export function sentAsItIs(
  { format, width, height, orientation }: PictureFacts,
  bytes: number,
): Pick<FittedPicture, 'mediaType' | 'width' | 'height'> | null {
  if (format === 'bmp' || format === 'ico' || orientation !== 1) return null;
  if (Math.max(width, height) > maxPictureSide || bytes > maxPictureBytes) return null;
  return { mediaType: `image/${format}`, width, height };
}

function noPicture(bytes: Uint8Array): string {
  const other = otherPictureFormat(bytes);
  const known = 'Pictures are png, jpeg, gif, webp, bmp or ico.';
  return other === null
    ? `is no picture that can be read. ${known}`
    : `is a picture in the format ${other}, which is not read here. ${known}`;
}

function noteOf(
  { format, width, height, orientation }: PictureFacts,
  drawn: { mediaType: string; width: number; height: number },
): string {
  const turned = orientation > 4 ? [height, width] : [width, height];
  const done = [
    ...(drawn.width === turned[0] && drawn.height === turned[1]
      ? []
      : [`scaled from ${turned.join(' x ')} to ${drawn.width} x ${drawn.height}`]),
    ...(drawn.mediaType === `image/${format}`
      ? []
      : [`turned from ${format} into ${drawn.mediaType.slice('image/'.length)}`]),
    ...(orientation === 1 ? [] : ['put upright']),
    ...(format === 'gif' ? ['only its first frame'] : []),
  ];
  return done.length === 0
    ? 'Encoded anew to have fewer bytes.'
    : `${done.join(', ').replace(/^./, (first) => first.toUpperCase())}.`;
}
