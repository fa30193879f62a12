/** What makes one content of a file another than the next: its hash. A stamp is compared, never read (`FilesSeen`). */
import { createHash, type Hash } from 'node:crypto';

export function stampOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** For content that is read in pieces. */
export function startStamp(): Hash {
  return createHash('sha256');
}
