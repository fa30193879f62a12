/**
 * Which blobs the logs of a home refer to. Every log is read, whatever state it is in; one that cannot be read to its end leaves the answer
 * unknown, and then nobody may say that a blob is not needed.
 */
import { messageOf } from '../../base/errors.ts';
import { readFrames } from '../../log/reader.ts';

export async function blobsReferredTo(
  logs: readonly string[],
  signal: AbortSignal,
): Promise<{ hashes: ReadonlySet<string> } | { unknown: string }> {
  const hashes = new Set<string>();
  for (const log of logs) {
    try {
      for await (const found of readFrames(log)) {
        signal.throwIfAborted();
        // What was torn off is in no history; what is damaged may have referred to anything.
        if (found.kind === 'damage' && !found.torn) return { unknown: `${log} is damaged (${found.reason})` };
        if (found.kind !== 'damage') for (const line of found.lines) addHashes(line, hashes);
      }
    } catch (error) {
      signal.throwIfAborted();
      return { unknown: messageOf(error) };
    }
  }
  return { hashes };
}

/** More than the schema knows: an event of a newer version may refer to blobs in fields of its own. */
function addHashes(line: string, hashes: Set<string>): void {
  if (!line.includes('"sha256"')) return;
  for (const [, hash] of line.matchAll(/"sha256":"([0-9a-f]{64})"/g)) if (hash !== undefined) hashes.add(hash);
}
