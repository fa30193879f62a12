/**
 * A lock that the kernel drops when its holder dies, whatever happened: an exclusive transaction on a SQLite file of its own, never waited
 * for. The file says nothing and stays when the lock is released; an empty or left-over one works. Invariants:
 * 1. No other code opens a lock's file: closing any handle to it would drop the lock (that is how POSIX locks are).
 * 2. So a path that this process holds is never opened again: `held` is asked first, synchronously.
 * 3. The database object stays referenced in `held`: collected, it would be closed and the lock gone.
 */
import { closeSync, openSync, realpathSync } from 'node:fs';
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
  const real = join(realpathSync(dirname(path)), basename(path));
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

function takeExclusively(path: string): Database | null {
  const database = openDatabase(path);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof DatabaseError && error.code === 'busy') return null;
    if (error instanceof DatabaseError && error.code === 'garbage') throw new LockFileError(path, { cause: error });
    throw error;
  }
}
