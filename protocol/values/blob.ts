/** Large content held by hash: the log and the socket carry the reference, the bytes are fetched on demand. */
import { z } from '../schema.ts';

export const blobRef = z.object({
  /** SHA-256 of the bytes, lower-case hex. */
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  bytes: z.int().check(z.nonnegative()),
});
export type BlobRef = z.infer<typeof blobRef>;
