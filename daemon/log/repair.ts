/**
 * What a crash may leave at a log's end, and its removal. A torn tail is cut off and kept beside the log; a whole event is never rewritten.
 * Damage with good frames behind it is only reported: nobody guesses what stood there. Doing it again changes nothing. For the holder of
 * the log's lock.
 */
import { open, readFile } from 'node:fs/promises';
import { assert, systemCode } from '../base/errors.ts';
import { writeFileAtomically } from '../base/files.ts';
import { LogIndex } from './index-file.ts';
import { logStart, walkChecksums, type Damage, type LogPlace } from './reader.ts';

export type Examination =
  /** Every frame from the starting place on is good. */
  | { readonly state: 'whole'; readonly end: number; readonly lastSeq: number }
  /** All is good up to `goodEnd`; what stands behind it up to `size` was being written. `lastSeq` is the last good event. */
  | {
      readonly state: 'torn';
      readonly goodEnd: number;
      readonly size: number;
      readonly lastSeq: number;
      readonly reason: string;
    }
  /** `from` to `to` is the first range that cannot be read; `damages` are all, a torn tail included. `lastSeq` is the last event that can be read. */
  | {
      readonly state: 'damaged';
      readonly from: number;
      readonly to: number;
      readonly reason: string;
      readonly damages: readonly Damage[];
      readonly lastSeq: number;
    };

/** Verifies every frame from a place that is known to be good; changes nothing. Start from the index to be quick. */
export async function examine(path: string, from: LogPlace = logStart): Promise<Examination> {
  let { offset: end, seq: lastSeq } = from;
  const damages: Damage[] = [];
  for await (const found of walkChecksums(path, from)) {
    if (found.kind === 'damage') {
      damages.push(found);
    } else {
      end = found.end;
      lastSeq = found.firstSeq + found.count - 1;
    }
  }
  const first = damages[0];
  if (first === undefined) return { state: 'whole', end, lastSeq };
  if (damages.length === 1 && first.torn) {
    return { state: 'torn', goodEnd: first.from, size: first.to, lastSeq, reason: first.reason };
  }
  return { state: 'damaged', from: first.from, to: first.to, reason: first.reason, damages, lastSeq };
}

/**
 * Cuts the log at `goodEnd`, which `examine` found. Returns the file that the cut bytes are kept in (`LOG.torn`, `LOG.torn-2`, ...), or null
 * where there was nothing to cut. The bytes are on disk there before they leave the log.
 */
export async function cutTornTail(path: string, goodEnd: number): Promise<string | null> {
  const log = await open(path, 'r+');
  try {
    const { size } = await log.stat();
    assert(goodEnd <= size, `a cut of ${path} at ${goodEnd}, behind its end at ${size}`);
    if (size === goodEnd) return null;
    const cut = Buffer.alloc(size - goodEnd);
    const { bytesRead } = await log.read(cut, 0, cut.length, goodEnd);
    const keptAt = await keepAside(`${path}.torn`, cut.subarray(0, bytesRead));
    await log.truncate(goodEnd);
    await log.datasync();
    await forgetBasesBehindEnd(path);
    return keptAt;
  } finally {
    await log.close();
  }
}

/** A crash between keeping and cutting leaves the same bytes there already. */
async function keepAside(path: string, bytes: Buffer): Promise<string> {
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? path : `${path}-${number}`;
    const there = await readIfThere(numbered);
    if (there === null) await writeFileAtomically(numbered, bytes);
    if (there === null || there.equals(bytes)) return numbered;
  }
}

/** Before new frames come to stand where the index remembers others. */
async function forgetBasesBehindEnd(path: string): Promise<void> {
  const index = await LogIndex.openForWriting(path);
  await index.close();
}

async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
