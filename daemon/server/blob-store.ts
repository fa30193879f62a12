/** What the door needs of blobs: bytes in by content, bytes out by hash. Supplied by the composition root. */
import type { Readable } from 'node:stream';
import type { BlobRef } from '#protocol/values/blob.ts';

export interface BlobStore {
  put(bytes: Uint8Array): Promise<BlobRef>;
  /** Null where there is none. Who opens a stream reads it to its end or destroys it. */
  open(sha256: string): Promise<{ readonly bytes: number; readonly stream: Readable } | null>;
}
