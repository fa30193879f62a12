import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { availableLibraries, DatabaseError, openDatabase, type DatabaseErrorCode } from './database.ts';

function codeOf(work: () => unknown): DatabaseErrorCode | null {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof DatabaseError ? error.code : null;
  }
}

test('this machine has SQLite', () => {
  expect(availableLibraries().length).toBeGreaterThan(0);
});

describe.each(availableLibraries())('a database by $name', ({ open }) => {
  test('keeps values of every type and gives plain rows', () => {
    const database = openDatabase(':memory:', open);
    database.exec(
      'CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT, size REAL, bytes BLOB); CREATE INDEX by_name ON thing (name)',
    );
    const insert = database.prepare('INSERT INTO thing (id, name, size, bytes) VALUES (?, ?, ?, ?)');
    expect(insert.run(1, 'größe', 1.5, null)).toEqual({ changes: 1 });
    expect(insert.run(2, null, 2 ** 40, Buffer.from([0, 255]))).toEqual({ changes: 1 });
    expect(database.prepare('SELECT id, name, size FROM thing WHERE id = ?').get(1)).toStrictEqual({
      id: 1,
      name: 'größe',
      size: 1.5,
    });
    expect(database.prepare('SELECT id, size FROM thing ORDER BY id').all()).toStrictEqual([
      { id: 1, size: 1.5 },
      { id: 2, size: 2 ** 40 },
    ]);
    const { bytes } = database.prepare('SELECT bytes FROM thing WHERE id = 2').get() ?? {};
    expect(Buffer.from(bytes as Uint8Array)).toEqual(Buffer.from([0, 255]));
    expect(database.prepare('SELECT id FROM thing WHERE id = 9').get()).toBeUndefined();
    database.close();
    database.close();
  });

  test('a transaction that throws leaves nothing behind, and the next one works', () => {
    const database = openDatabase(':memory:', open);
    database.exec('CREATE TABLE thing (id INTEGER)');
    const insert = database.prepare('INSERT INTO thing VALUES (?)');
    const failure = new Error('no');
    expect(() =>
      database.transaction(() => {
        insert.run(1);
        throw failure;
      }),
    ).toThrow(failure);
    expect(database.transaction(() => insert.run(2).changes)).toBe(1);
    expect(database.prepare('SELECT id FROM thing').all()).toStrictEqual([{ id: 2 }]);
  });

  test('says by a code what is in the way', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'index.sqlite3');
    const holder = openDatabase(path, open);
    holder.exec('CREATE TABLE thing (id INTEGER); BEGIN EXCLUSIVE');
    expect(codeOf(() => openDatabase(path, open).exec('BEGIN EXCLUSIVE'))).toBe('busy');
    holder.close();
    writeFileSync(join(folder, 'garbage'), 'no database at all'.repeat(100));
    expect(codeOf(() => openDatabase(join(folder, 'garbage'), open).exec('SELECT * FROM thing'))).toBe('garbage');
    expect(codeOf(() => openDatabase(join(folder, 'missing', 'a'), open).exec('SELECT 1'))).toBe('unopenable');
    expect(codeOf(() => openDatabase(':memory:', open).exec('SELEC'))).toBe('failed');
  });
});
