/**
 * Which sessions exist, as rows for lists. Everything here is told by the logs: the database can be deleted at any time, and a row whose log
 * has changed behind our back (another length) is made anew from the log's tail. One unreadable log is a row with its error; it hides no other.
 * A disk that refuses a row (full, read-only) fails no session: the rows go on in memory, and what stands on disk is made true at the next start.
 */
import { closeSync, openSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { SessionSummary } from '#protocol/commands/session-values.ts';
import type { ProjectId, SessionId } from '#protocol/values/ids.ts';
import { messageOf } from '../base/errors.ts';
import { DatabaseError, openDatabase, type Database, type SqlValue } from '../base/database.ts';
import type { Project } from '#protocol/values/project.ts';
import { ownerOnlyFileMode, type HomePaths } from '../base/files.ts';
import { History } from './history.ts';
import type { Looked } from './log-folder.ts';
import { placeInHome } from './place.ts';
import { wasMoving } from './recovery.ts';
import { isHidden, summarise, type RowFacts } from './summary.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS session (
    sessionId TEXT PRIMARY KEY, projectId TEXT, updatedAt REAL NOT NULL, hidden INTEGER NOT NULL,
    bytes INTEGER NOT NULL, summary TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS by_time ON session (updatedAt DESC, sessionId);
  PRAGMA user_version = 1;`;
const columns = ['sessionId', 'projectId', 'updatedAt', 'hidden', 'bytes', 'summary'] as const;
const putRow = `INSERT INTO session (${columns.join()}) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (sessionId) DO UPDATE SET projectId = excluded.projectId, updatedAt = excluded.updatedAt,
    hidden = excluded.hidden, bytes = excluded.bytes, summary = excluded.summary`;

interface ListOptions {
  projectId?: ProjectId | undefined;
  hidden: readonly ProjectId[];
  limit: number;
  after?: string | undefined;
}

export class Catalog {
  readonly #home: HomePaths;
  readonly #facts: RowFacts;
  #database: Database;
  #inMemory = false;

  private constructor(home: HomePaths, database: Database, facts: RowFacts) {
    this.#home = home;
    this.#database = database;
    this.#facts = facts;
  }

  /** A database that cannot be used is deleted and made anew. */
  static async open(home: HomePaths, facts: RowFacts): Promise<Catalog> {
    return new Catalog(home, await openRebuildable(home.index), facts);
  }

  /** Puts a row; `bytes`: the log's length that it was made at, or -1 while the session is open and the row is kept by its writer. */
  put(summary: SessionSummary, bytes: number, hidden: boolean): void {
    const { sessionId, projectId, updatedAt } = summary;
    this.#write(putRow, sessionId, projectId, updatedAt, hidden ? 1 : 0, bytes, JSON.stringify(summary));
  }

  #write(sql: string, ...values: SqlValue[]): void {
    try {
      this.#database.prepare(sql).run(...values);
    } catch (error) {
      if (!(error instanceof DatabaseError) || this.#inMemory) throw error;
      this.#goOnInMemory();
      this.#database.prepare(sql).run(...values);
    }
  }

  /** Reading needs no space on a disk. The file stays as it is: lengths of logs tell the next start which of its rows are old. */
  #goOnInMemory(): void {
    const rows = this.#database.prepare(`SELECT ${columns.join()} FROM session`).all();
    const memory = openDatabase(':memory:');
    memory.exec(schema);
    const put = memory.prepare(putRow);
    for (const row of rows) put.run(...columns.map((column) => row[column] as SqlValue));
    this.#database.close();
    this.#database = memory;
    this.#inMemory = true;
  }

  get(sessionId: SessionId): SessionSummary | null {
    const row = this.#database.prepare('SELECT summary FROM session WHERE sessionId = ?').get(sessionId);
    return row === undefined ? null : (JSON.parse(row['summary'] as string) as SessionSummary);
  }

  /** Newest activity first. `after` is the `next` of the page before; sessions of `hidden` projects are passed over. */
  list(options: ListOptions): { sessions: SessionSummary[]; next: string | null } {
    const { sql, values } = pageQuery(options);
    const rows = this.#database.prepare(sql).all(...values);
    const page = rows.slice(0, options.limit);
    const last = page.at(-1);
    return {
      sessions: page.map((row) => JSON.parse(row['summary'] as string) as SessionSummary),
      next:
        rows.length > page.length && last !== undefined
          ? `${last['updatedAt'] as number} ${last['sessionId'] as string}`
          : null,
    };
  }

  count(): number {
    return this.#database.prepare('SELECT count(*) AS n FROM session WHERE hidden = 0').get()?.['n'] as number;
  }

  /** Sessions that were open when the catalogue was last written: their writers may have been killed. */
  open(): SessionId[] {
    return this.#database
      .prepare('SELECT sessionId FROM session WHERE bytes = -1')
      .all()
      .map((row) => row['sessionId'] as SessionId);
  }

  /** Sessions that rest in the middle of a turn or have input waiting, those of sub-agents too: from their rows. */
  unfinished(): SessionSummary[] {
    return this.#database
      .prepare(
        `SELECT summary FROM session WHERE (hidden = 0 OR summary ->> '$.spawned' IS NOT NULL) AND summary ->> '$.state' NOT IN ('idle', 'failed', 'interrupted')`,
      )
      .all()
      .map((row) => JSON.parse(row['summary'] as string) as SessionSummary);
  }

  /**
   * Of the logs that were looked at, those whose row is missing or no longer true (but for `except`, whose writers are in this process). Drops
   * rows whose log is gone.
   */
  changed({ there, gone }: Looked, except: ReadonlySet<SessionId>): SessionId[] {
    const known = gone === 'all others' ? this.#bytesOfAll() : this.#bytesOf(there.keys());
    const changed: SessionId[] = [];
    for (const [sessionId, bytes] of there) {
      if (except.has(sessionId) || bytes === null) continue;
      // An empty log is what a crash left of a session that never began.
      if (bytes > 0 && bytes !== known.get(sessionId)) changed.push(sessionId);
    }
    const lost = gone === 'all others' ? [...known.keys()].filter((sessionId) => !there.has(sessionId)) : gone;
    for (const sessionId of lost)
      if (!except.has(sessionId)) this.#write('DELETE FROM session WHERE sessionId = ?', sessionId);
    return changed;
  }

  #bytesOfAll(): Map<SessionId, number> {
    const rows = this.#database.prepare('SELECT sessionId, bytes FROM session').all();
    return new Map(rows.map((row) => [row['sessionId'] as SessionId, row['bytes'] as number]));
  }

  #bytesOf(sessionIds: Iterable<SessionId>): Map<SessionId, number> {
    const one = this.#database.prepare('SELECT bytes FROM session WHERE sessionId = ?');
    const found = new Map<SessionId, number>();
    for (const sessionId of sessionIds) {
      const row = one.get(sessionId);
      if (row !== undefined) found.set(sessionId, row['bytes'] as number);
    }
    return found;
  }

  /**
   * Makes a session's row from its log, without writing to the log. `owner`: who else writes it just now. What was left moving is `open` until
   * somebody has closed it: a kill between this look and that closing must not make the next start pass it over.
   */
  async refresh(
    sessionId: SessionId,
    owner: string | null,
  ): Promise<{ summary: SessionSummary; project: Project | null }> {
    const place = placeInHome(this.#home, sessionId);
    const { size } = await stat(place.log);
    const history = await History.open(place.log);
    try {
      let problem = null as string | null;
      const { conversation } = await history.foldTail((damage) => {
        problem ??= damage.torn ? null : `Its log is damaged at bytes ${damage.from} to ${damage.to}: ${damage.reason}`;
      });
      const driver =
        owner !== null && conversation.active !== null ? 'running' : conversation.active === null ? 'idle' : 'paused';
      const summary = summarise(sessionId, conversation, this.#facts, {
        driver,
        problem,
        owner,
      });
      // A log without an event is what a crash left of a session that never began, or one that begins just now.
      const recovered = owner !== null || problem !== null || !wasMoving(conversation);
      this.put(
        summary,
        recovered ? size : -1,
        conversation.session === null ? problem === null : isHidden(conversation),
      );
      return { summary, project: conversation.session?.project ?? null };
    } catch (error) {
      const summary = unreadable(sessionId, messageOf(error));
      this.put(summary, size, false);
      return { summary, project: null };
    } finally {
      await history.close();
    }
  }

  close(): void {
    this.#database.close();
  }
}

/** The rows of a page and one more. That the time is no later follows from what stands behind it; it lets the index be entered there. */
export function pageQuery(options: ListOptions): { sql: string; values: SqlValue[] } {
  const { projectId, hidden, limit, after } = options;
  const [time, id] = after === undefined ? [Number.MAX_VALUE, ''] : splitPosition(after);
  const one = projectId === undefined ? '' : 'AND projectId = ?';
  const others =
    hidden.length === 0 ? '' : `AND (projectId IS NULL OR projectId NOT IN (${hidden.map(() => '?').join()}))`;
  const sql = `SELECT sessionId, updatedAt, summary FROM session
    WHERE hidden = 0 AND updatedAt <= ? AND (updatedAt < ? OR sessionId > ?) ${one} ${others}
    ORDER BY updatedAt DESC, sessionId LIMIT ?`;
  return { sql, values: [time, time, id, ...(projectId === undefined ? [] : [projectId]), ...hidden, limit + 1] };
}

function splitPosition(position: string): [number, string] {
  const [time = '', id = ''] = position.split(' ');
  return [Number(time), id];
}

function unreadable(sessionId: SessionId, problem: string): SessionSummary {
  return {
    sessionId,
    projectId: null,
    title: 'Unreadable session',
    createdAt: 0,
    updatedAt: 0,
    seq: 0,
    state: 'failed',
    driver: 'idle',
    model: null,
    mode: 'ask',
    lastOutcome: null,
    activity: null,
    requests: [],
    archived: false,
    problem,
    owner: null,
  };
}

async function openRebuildable(path: string): Promise<Database> {
  for (let attempt = 1; ; attempt += 1) {
    let database: Database | null = null;
    try {
      // Titles are the owner's alone, also in a home that others may enter; what SQLite puts beside the file takes its mode.
      closeSync(openSync(path, 'a', ownerOnlyFileMode));
      database = openDatabase(path);
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
      database.exec(schema);
      database.prepare(`SELECT ${columns.join()} FROM session LIMIT 1`).get();
      // A page that is damaged deep inside would fail some later question, when it is too late to start anew.
      const health = database.prepare('PRAGMA quick_check(1)').get();
      if (health?.['quick_check'] !== 'ok') throw new Error(`${path} is damaged`);
      return database;
    } catch (error) {
      database?.close();
      if (attempt > 1) throw error;
      for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
    }
  }
}
