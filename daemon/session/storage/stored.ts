/** What a home holds on the disk, by kind, in files and bytes. It looks, and changes nothing. */
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { misfit } from '#protocol/schema.ts';
import { sessionId, type SessionId } from '#protocol/values/ids.ts';
import { systemCode } from '../../base/errors.ts';
import type { HomePaths } from '../../base/files.ts';
import { indexSuffix } from '../../log/index-file.ts';
import { asideSuffix } from '../../log/reader.ts';
import { logSuffix } from '../place.ts';

/**
 * `logs` are the conversations; `indexes` and `catalogue` are rebuilt where they miss; `blobs` are pictures and other large content that
 * logs refer to by hash; `spills` the whole outputs of commands; `torn` the cut ends of logs; `leftovers` what a crash left half made.
 */
export type StoredKind = 'logs' | 'indexes' | 'blobs' | 'spills' | 'torn' | 'leftovers' | 'catalogue' | 'diagnostics';

export interface StoredFile {
  readonly path: string;
  readonly kind: StoredKind;
  readonly bytes: number;
  /** When it was last written, in milliseconds. */
  readonly at: number;
  /** Whose it is, where it is one session's. */
  readonly sessionId: SessionId | null;
}

export interface Amount {
  files: number;
  bytes: number;
}

export async function storedFiles(home: HomePaths): Promise<StoredFile[]> {
  const [sessions, blobs, spills, top] = await Promise.all([
    filesIn(home.sessions, 0),
    filesIn(home.blobs, 1),
    filesIn(home.spills, 1),
    filesIn(home.home, 0),
  ]);
  return [
    ...sessions.map((file) => ({
      ...file,
      kind: kindBesideLogs(file.path),
      sessionId: sessionOf(basename(file.path)),
    })),
    ...blobs.map((file) => ({ ...file, kind: isBlob(file.path) ? 'blobs' : 'leftovers', sessionId: null }) as const),
    ...spills.map(
      (file) => ({ ...file, kind: 'spills', sessionId: sessionOf(basename(join(file.path, '..'))) }) as const,
    ),
    ...top.flatMap((file) => {
      const kind = kindAtTop(home, file.path);
      return kind === null ? [] : [{ ...file, kind, sessionId: null }];
    }),
  ];
}

export function amountOf(files: Iterable<Pick<StoredFile, 'bytes'>>): Amount {
  const amount = { files: 0, bytes: 0 };
  for (const { bytes } of files) {
    amount.files += 1;
    amount.bytes += bytes;
  }
  return amount;
}

function kindBesideLogs(path: string): StoredKind {
  if (path.endsWith(`${logSuffix}${indexSuffix}`)) return 'indexes';
  return /\.torn(-\d+)?$/.test(path) ? 'torn' : path.endsWith(asideSuffix) || isTemporary(path) ? 'leftovers' : 'logs';
}

function kindAtTop(home: HomePaths, path: string): StoredKind | null {
  if (path.startsWith(home.index)) return 'catalogue';
  if (path.startsWith(home.diagnostics)) return 'diagnostics';
  return isTemporary(path) ? 'leftovers' : null;
}

/** As `writeFileAtomically` and `Blobs` name what they have not finished. */
const isTemporary = (path: string): boolean => /\.[0-9a-f]{12}\.tmp$/.test(path);

const isBlob = (path: string): boolean => /^[0-9a-f]{64}$/.test(basename(path));

function sessionOf(name: string): SessionId | null {
  const id = name.split('.', 1)[0] ?? '';
  return misfit(sessionId, id) === null ? (id as SessionId) : null;
}

/** The regular files of a folder and of so many levels of folders in it; links are not followed. */
async function filesIn(folder: string, levels: number): Promise<Pick<StoredFile, 'path' | 'bytes' | 'at'>[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(emptyWhereMissing);
  const found: Pick<StoredFile, 'path' | 'bytes' | 'at'>[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && levels > 0) found.push(...(await filesIn(path, levels - 1)));
    if (!entry.isFile()) continue;
    const about = await stat(path).catch(() => null);
    if (about !== null) found.push({ path, bytes: about.size, at: about.mtimeMs });
  }
  return found;
}

function emptyWhereMissing(error: unknown): [] {
  if (systemCode(error) === 'ENOENT') return [];
  throw error;
}
