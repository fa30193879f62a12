/** What makes one content of a file another than the next: its hash. A stamp is compared, never read (`FilesSeen`). */
import { createHash, type Hash } from 'node:crypto';
import type { Place } from './paths.ts';
import { FileRefused } from './replace-file.ts';
import type { FilesSeen } from './tool.ts';

export function stampOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** For content that is read in pieces. */
export function startStamp(): Hash {
  return createHash('sha256');
}

/**
 * What a person was shown of a file that is to be replaced or deleted whole, where the session has seen nothing of it yet: should it change before
 * they have answered, the call is refused as stale. Texts that are replaced by edit name what they replace, and need no more.
 */
export function rememberShown(filesSeen: FilesSeen, place: Place, now: Uint8Array | null): void {
  if (filesSeen.get(place.real) === undefined) filesSeen.set(place.real, now === null ? 'nothing there' : stampOf(now));
}

/** Throws FileRefused where this session has seen another content of the file than it has now; `then` is what to do after reading it again. */
export function refuseStale(filesSeen: FilesSeen, place: Place, now: Uint8Array, then: string): void {
  const seen = filesSeen.get(place.real);
  if (seen === undefined || seen === stampOf(now)) return;
  throw new FileRefused(`${place.shown} has changed on disk since it was last read here. Read it again, then ${then}.`);
}
