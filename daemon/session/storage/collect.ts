/**
 * Frees what nobody needs: blobs that no log refers to, leftovers of crashes, and the oldest outputs and cut ends of logs beyond their
 * caps. Safe beside a running daemon, and beside a crash at any point:
 *   C1  a log, and a blob that a log refers to, is never removed; where one log cannot be read, no blob is
 *   C2  what belongs to a session that is being written stays
 *   C3  what was written lately stays: `Blobs.put` marks a blob as new each time it is asked to keep it, before an event refers to it
 */
import { rename, rmdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../../base/errors.ts';
import type { HomePaths } from '../../base/files.ts';
import { maxSpillsBytes, maxTornBytes, unreferredMs } from '../../base/limits.ts';
import { isLocked } from '../../base/lock.ts';
import { blobsReferredTo } from './referred.ts';
import { amountOf, storedFiles, type Amount, type StoredFile } from './stored.ts';

export interface CollectOptions {
  now: number;
  signal: AbortSignal;
  /** Says what would go, and removes nothing. */
  dryRun?: boolean;
  /** Whole outputs of commands, and cut ends of logs: all of them, not only those beyond the cap. */
  allOf?: ReadonlySet<'spills' | 'torn'>;
  caps?: { spills: number; torn: number };
}

export interface Collected {
  readonly freed: Readonly<Record<'blobs' | 'spills' | 'torn' | 'leftovers', Amount>>;
  /** Why blobs were let be, where they were: one sentence. */
  readonly blobsKept: string | null;
}

export async function collect(home: HomePaths, options: CollectOptions): Promise<Collected> {
  const { now, caps = { spills: maxSpillsBytes, torn: maxTornBytes }, allOf } = options;
  const all = await storedFiles(home);
  const isOld = (file: StoredFile) => now - file.at >= unreferredMs;
  const isFree = (file: StoredFile) => file.sessionId === null || !isLocked(join(home.locks, file.sessionId));
  const of = (kind: StoredFile['kind']) => all.filter((file) => file.kind === kind);

  const leftovers = of('leftovers').filter((file) => isOld(file) && isFree(file));
  const beyondCap = (kind: 'spills' | 'torn') => beyond(of(kind), allOf?.has(kind) === true ? 0 : caps[kind], isFree);
  const { blobs, blobsKept } = await unneededBlobs(of('blobs').filter(isOld), of('logs'), options.signal);

  const remove = async (files: readonly StoredFile[], one: (file: StoredFile) => Promise<boolean>) => {
    const gone: StoredFile[] = [];
    for (const file of files) if (options.dryRun === true || (await one(file))) gone.push(file);
    return amountOf(gone);
  };
  return {
    freed: {
      blobs: await remove(blobs, (file) => removeUnlessNew(file, now)),
      spills: await remove(beyondCap('spills'), removeWithFolder),
      torn: await remove(beyondCap('torn'), ({ path }) => removed(path)),
      leftovers: await remove(leftovers, ({ path }) => removed(path)),
    },
    blobsKept,
  };
}

/** Of those that may go, the oldest, as many as bring all of them under the cap. Whether one may is asked only where something must. */
function beyond(all: readonly StoredFile[], cap: number, mayGo: (file: StoredFile) => boolean): StoredFile[] {
  let { bytes } = amountOf(all);
  const going: StoredFile[] = [];
  for (const file of all.toSorted((one, other) => one.at - other.at)) {
    if (bytes <= cap) break;
    if (!mayGo(file)) continue;
    going.push(file);
    bytes -= file.bytes;
  }
  return going;
}

async function unneededBlobs(
  old: readonly StoredFile[],
  logs: readonly StoredFile[],
  signal: AbortSignal,
): Promise<{ blobs: StoredFile[]; blobsKept: string | null }> {
  if (old.length === 0) return { blobs: [], blobsKept: null };
  const referred = await blobsReferredTo(
    logs.map(({ path }) => path),
    signal,
  );
  if ('unknown' in referred)
    return { blobs: [], blobsKept: `No blob is removed, since nobody can say which are needed: ${referred.unknown}` };
  return { blobs: old.filter(({ path }) => !referred.hashes.has(basename(path))), blobsKept: null };
}

/** Out of sight first: whoever asks for the blob meanwhile either marked it as new before, and it comes back, or writes it anew. */
async function removeUnlessNew({ path }: StoredFile, now: number): Promise<boolean> {
  const aside = `${path}.${'0'.repeat(12)}.tmp`;
  try {
    await rename(path, aside);
    if (now - (await stat(aside)).mtimeMs < unreferredMs) {
      await rename(aside, path);
      return false;
    }
    await unlink(aside);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function removeWithFolder({ path }: StoredFile): Promise<boolean> {
  const gone = await removed(path);
  // Fails as long as something is in it.
  await rmdir(dirname(path)).catch(() => undefined);
  return gone;
}

async function removed(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
