/**
 * SQLite behind one small interface: Node's own where Node has it, else libsql. It holds only what can be deleted and rebuilt; what is
 * authoritative stands in logs and JSON files. Calls are synchronous and short. Rows are plain objects with the columns asked for.
 */
import { createRequire } from 'node:module';
import { messageOf } from './errors.ts';

export type SqlValue = string | number | bigint | null | Uint8Array;
export type Row = Record<string, unknown>;

export interface Statement {
  run(...values: SqlValue[]): { changes: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

export interface Database {
  /** One or several statements without parameters. */
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /** Runs `work` between BEGIN IMMEDIATE and COMMIT; a throw rolls back and goes on to the caller. Does not nest, does not await. */
  transaction<T>(work: () => T): T;
  /** May be called again. */
  close(): void;
}

/** `busy`: somebody else holds the file. `garbage`: it is no database. `unopenable`: the path cannot be opened. `full`: the disk is. `failed`: all else. */
export type DatabaseErrorCode = 'busy' | 'garbage' | 'unopenable' | 'full' | 'failed';

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly code: DatabaseErrorCode;
  constructor(code: DatabaseErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** What both libraries have in common. */
interface Library {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: SqlValue[]): { changes: number | bigint };
    get(...values: SqlValue[]): unknown;
    all(...values: SqlValue[]): unknown[];
  };
  close(): unknown;
}

export type OpenLibrary = (path: string) => Library;

/** Opens or makes the file; does not wait for a lock. Throws a DatabaseError. */
export function openDatabase(path: string, openLibrary: OpenLibrary = preferredLibrary()): Database {
  return new SqliteDatabase(
    path,
    guarded(() => openLibrary(path), 'unopenable'),
  );
}

/** The libraries that this machine has, best first: tests run over all of them. */
export function availableLibraries(): { name: string; open: OpenLibrary }[] {
  const libraries: { name: string; open: OpenLibrary }[] = [];
  const builtIn = nodeSqlite();
  if (builtIn !== null) libraries.push({ name: 'node:sqlite', open: builtIn });
  const prebuilt = libsql();
  if (prebuilt !== null) libraries.push({ name: 'libsql', open: prebuilt });
  return libraries;
}

let preferred: OpenLibrary | null = null;

function preferredLibrary(): OpenLibrary {
  preferred ??= nodeSqlite() ?? libsql();
  if (preferred === null) {
    throw new DatabaseError(
      'failed',
      `No SQLite: Node ${process.version} has none of its own and the package libsql has no build for ${process.platform}-${process.arch}. Use Node 22.13 or newer.`,
    );
  }
  return preferred;
}

const require = createRequire(import.meta.url);

function nodeSqlite(): OpenLibrary | null {
  // Loading it warns that it is experimental, in words a person can do nothing about. That warning alone is kept back.
  const emitWarning = process.emitWarning.bind(process) as (warning: string | Error, ...rest: unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).includes('SQLite is an experimental feature')) emitWarning(warning, ...rest);
  };
  try {
    const { DatabaseSync } = require('node:sqlite') as { DatabaseSync: new (path: string) => Library };
    return (path) => new DatabaseSync(path);
  } catch {
    return null; // This Node has none.
  } finally {
    process.emitWarning = emitWarning;
  }
}

function libsql(): OpenLibrary | null {
  try {
    const Libsql = require('libsql') as new (path: string) => Library;
    return (path) => new Libsql(path);
  } catch {
    return null; // Not installed, or no build for this machine.
  }
}

class SqliteDatabase implements Database {
  readonly #path: string;
  readonly #library: Library;
  #open = true;

  constructor(path: string, library: Library) {
    this.#path = path;
    this.#library = library;
  }

  exec(sql: string): void {
    guarded(() => this.#library.exec(sql), 'failed', this.#path);
  }

  prepare(sql: string): Statement {
    const statement = guarded(() => this.#library.prepare(sql), 'failed', this.#path);
    return {
      run: (...values) => {
        const { changes } = guarded(() => statement.run(...values), 'failed', this.#path);
        return { changes: Number(changes) };
      },
      get: (...values) => {
        const row = guarded(() => statement.get(...values), 'failed', this.#path);
        return row === undefined ? undefined : plainRow(row);
      },
      all: (...values) => guarded(() => statement.all(...values), 'failed', this.#path).map(plainRow),
    };
  }

  transaction<T>(work: () => T): T {
    this.exec('BEGIN IMMEDIATE');
    let result: T;
    try {
      result = work();
      this.exec('COMMIT');
    } catch (error) {
      this.#rollBack();
      throw error;
    }
    return result;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    guarded(() => this.#library.close(), 'failed', this.#path);
  }

  /** SQLite rolls back by itself after some errors; then there is nothing left to do. */
  #rollBack(): void {
    try {
      this.#library.exec('ROLLBACK');
    } catch {
      // No transaction is open any more.
    }
  }
}

/** libsql adds timing to the rows of `get`; Node's rows have no prototype. */
function plainRow(row: unknown): Row {
  const { _metadata, ...columns } = row as Row;
  return columns;
}

function guarded<T>(work: () => T, otherwise: DatabaseErrorCode, path = ''): T {
  try {
    return work();
  } catch (error) {
    const code = codeOf(error) ?? otherwise;
    throw new DatabaseError(code, path === '' ? messageOf(error) : `${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** SQLite's primary result code: node:sqlite calls it `errcode`, libsql `rawCode`. */
function codeOf(error: unknown): DatabaseErrorCode | null {
  const { errcode, rawCode } = error as { errcode?: unknown; rawCode?: unknown };
  const code = typeof errcode === 'number' ? errcode : typeof rawCode === 'number' ? rawCode : null;
  if (code === null) return null;
  switch (code & 0xff) {
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
      return 'busy';
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return 'garbage';
    case 13: // SQLITE_FULL
      return 'full';
    case 14: // SQLITE_CANTOPEN
      return 'unopenable';
    default:
      return 'failed';
  }
}
