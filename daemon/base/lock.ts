/**
 * A lock that the kernel drops when its holder dies, whatever happened: an exclusive transaction on a SQLite file of its own, never waited
 * for. The file says nothing and stays when the lock is released; an empty or left-over one works. Invariants:
 * 1. No other code opens a lock's file: closing any handle to it would drop the lock (that is how POSIX locks are).
 * 2. So a path that this process holds is never opened again: `held` is asked first, synchronously.
 * 3. The database object stays referenced in `held`: collected, it would be closed and the lock gone.
 */
import { closeSync, existsSync, openSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Database, DatabaseError, openDatabase } from './database.ts';
import { ownerOnlyFileMode } from './files.ts';

export interface Lock {
  readonly path: string;
  /** May be called again. */
  release(): void;
}

/** The file that should be a lock holds something else. */
export class LockFileError extends Error {
  override readonly name = 'LockFileError';
  readonly path: string;
  constructor(path: string, options: { cause: unknown }) {
    super(
      `${path} should be a lock file but holds something else. Make sure that no Alcove is running, delete it, and try again.`,
      options,
    );
    this.path = path;
  }
}

const held = new Map<string, Database>();

/** Takes the lock, or returns null where this or another process holds it. The folder must exist. Throws where the file is no lock. */
export function acquireLock(path: string): Lock | null {
  const real = realPath(path);
  if (held.has(real)) return null;
  closeSync(openSync(real, 'a', ownerOnlyFileMode));
  const database = takeExclusively(real);
  if (database === null) return null;
  held.set(real, database);
  return {
    path: real,
    release() {
      if (held.get(real) !== database) return;
      held.delete(real);
      database.close();
    },
  };
}

/** Whether this or another process holds the lock just now; makes no file. Throws where the file is no lock. */
export function isLocked(path: string): boolean {
  const real = realPath(path);
  if (held.has(real)) return true;
  // Whoever takes a lock makes its file first.
  if (!existsSync(real)) return false;
  const database = openDatabase(real);
  try {
    // Not by the locking mode of those who keep it: leaving that takes four times as long as all else.
    return !begins(database, 'BEGIN EXCLUSIVE', real);
  } finally {
    database.close();
  }
}

/** The folder's links are followed; the file need not be there. */
function realPath(path: string): string {
  return join(realpathSync(dirname(path)), basename(path));
}

function takeExclusively(path: string): Database | null {
  const database = openDatabase(path);
  let taken = false;
  try {
    taken = begins(database, 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE', path);
    return taken ? database : null;
  } finally {
    if (!taken) database.close();
  }
}

/** False where somebody else holds the lock. */
function begins(database: Database, sql: string, path: string): boolean {
  try {
    database.exec(sql);
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === 'busy') return false;
    if (error instanceof DatabaseError && error.code === 'garbage') throw new LockFileError(path, { cause: error });
    throw error;
  }
}
