/**
 * What a person attaches to an input, checked before it is queued (PR18): how many, how long, and that a picture is one, within the limits, by
 * its own bytes. What a client says of a blob is not trusted: the parts that are queued say what is so.
 */
import { RequestError } from '#protocol/errors.ts';
import { maxAttachedTextBytes, maxAttachments, maxDocumentBytes } from '#protocol/limits.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import type { Document, Image, InputPart } from '#protocol/values/content.ts';
import { sentAsItIs } from '../pictures/fit-picture.ts';
import { isPdf } from '../pictures/pdf.ts';
import { pictureFacts } from '../pictures/picture-facts.ts';

type ReadBlob = (blob: BlobRef) => Promise<Uint8Array | null>;

/** Throws `too_many`, `too_large`, `not_found` or `invalid_params`, naming the limit. */
export async function checkAttachments(parts: readonly InputPart[], readBlob: ReadBlob): Promise<InputPart[]> {
  const attached = parts.filter(
    (part) => part.type === 'image' || part.type === 'document' || part.name !== undefined,
  ).length;
  if (attached > maxAttachments)
    throw new RequestError(
      'too_many',
      `A message takes ${maxAttachments} files and pictures at most (maxAttachments), and this one has ${attached}. Nothing was sent.`,
    );
  const checked: InputPart[] = [];
  for (const part of parts) {
    if (part.type === 'image') checked.push(await checkedPicture(part, readBlob));
    else if (part.type === 'document') checked.push(await checkedDocument(part, readBlob));
    else if (part.type === 'text-blob') checked.push(await checkedBlob(part, readBlob));
    else {
      if (part.name !== undefined) requireShort(part.name, Buffer.byteLength(part.text));
      checked.push(part);
    }
  }
  return checked;
}

async function checkedBlob(part: Extract<InputPart, { type: 'text-blob' }>, readBlob: ReadBlob): Promise<InputPart> {
  const bytes = await stored(part.blob, part.name ?? 'A part of the message', readBlob);
  if (part.name !== undefined) requireShort(part.name, bytes.length);
  return { ...part, blob: { ...part.blob, bytes: bytes.length } };
}

function requireShort(name: string, bytes: number): void {
  if (bytes <= maxAttachedTextBytes) return;
  throw new RequestError(
    'too_large',
    `${name} has ${Math.ceil(bytes / 1024)} KiB; an attached text takes ${maxAttachedTextBytes / 1024} KiB at most (maxAttachedTextBytes). Name the file in the message instead, and the agent reads what it needs. Nothing was sent.`,
  );
}

async function checkedPicture(part: Image, readBlob: ReadBlob): Promise<Image> {
  const name = part.name ?? 'A picture';
  const bytes = await stored(part.blob, name, readBlob);
  const facts = pictureFacts(bytes);
  const sent = facts === null ? null : sentAsItIs(facts, bytes.length);
  if (sent === null) {
    const why = facts === null ? 'is no picture that can be read' : 'is not within the limits of pictures';
    throw new RequestError(
      'invalid_params',
      `${name} ${why}: it has to go through picture.prepare before it is sent. Nothing was sent.`,
    );
  }
  return { ...part, ...sent, blob: { ...part.blob, bytes: bytes.length } };
}

async function checkedDocument(part: Document, readBlob: ReadBlob): Promise<Document> {
  const name = part.name ?? 'A PDF';
  const bytes = await stored(part.blob, name, readBlob);
  const text = await stored(part.text, name, readBlob);
  if (!isPdf(bytes) || bytes.length > maxDocumentBytes)
    throw new RequestError(
      'invalid_params',
      `${name} ${isPdf(bytes) ? `has more than ${maxDocumentBytes / 1024 / 1024} MiB (maxDocumentBytes)` : 'is no PDF'}. Nothing was sent.`,
    );
  return {
    ...part,
    blob: { ...part.blob, bytes: bytes.length },
    text: { ...part.text, bytes: text.length },
  };
}

async function stored(blob: BlobRef, name: string, readBlob: ReadBlob): Promise<Uint8Array> {
  const bytes = await readBlob(blob);
  if (bytes !== null) return bytes;
  throw new RequestError('not_found', `${name} is not stored here: attach it again. Nothing was sent.`);
}
