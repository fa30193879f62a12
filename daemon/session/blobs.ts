/**
 * Large content by hash, one file a blob, never changed. The same bytes are stored once. A blob is there, whole, before an event refers to it:
 * it is written beside its name and renamed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobRef } from '#protocol/values/blob.ts';
import { systemCode } from '../base/errors.ts';
import { ownerOnlyFileMode, ownerOnlyFolderMode } from '../base/files.ts';

export class Blobs {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves once the bytes are with the kernel. What is there already counts as new from now on, so that nobody collects it before an event refers to it. */
  async put(bytes: Uint8Array): Promise<BlobRef> {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const path = this.pathOf(sha256);
    const blob = { sha256, bytes: bytes.length };
    if (await markedAsNew(path, bytes.length)) return blob;
    await mkdir(join(this.#folder, sha256.slice(0, 2)), { recursive: true, mode: ownerOnlyFolderMode });
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      await writeFile(temporary, bytes, { mode: ownerOnlyFileMode, flag: 'wx' });
      await rename(temporary, path);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
    return blob;
  }

  /** Null where the blob is gone, or is not what its name says. */
  async read(blob: Pick<BlobRef, 'sha256'>): Promise<Uint8Array | null> {
    if (!/^[0-9a-f]{64}$/.test(blob.sha256)) return null;
    try {
      const bytes = await readFile(this.pathOf(blob.sha256));
      return createHash('sha256').update(bytes).digest('hex') === blob.sha256 ? bytes : null;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw error;
    }
  }

  pathOf(sha256: string): string {
    return join(this.#folder, sha256.slice(0, 2), sha256);
  }
}

/** False where it is not there, or is not whole. */
async function markedAsNew(path: string, bytes: number): Promise<boolean> {
  try {
    if ((await stat(path)).size !== bytes) return false;
    const now = new Date();
    await utimes(path, now, now);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
