/**
 * Which logs of a home may have changed since they were looked at last, whoever wrote them, without looking at each of them again: a list of ten
 * thousand sessions costs what one of two hundred does. Three things tell it: the kernel, of each name that was written (the folder is watched);
 * the folder's own time, of names that came or went; and its owner, of sessions that it is unsure about. Where the folder cannot be watched,
 * every log is looked at each time.
 */
import { watch, type FSWatcher } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SessionId } from '#protocol/values/ids.ts';
import type { Clock } from '../base/clock.ts';
import { systemCode } from '../base/errors.ts';
import { folderTimeMs } from '../base/limits.ts';
import { logSuffix } from './place.ts';

export interface Looked {
  /** Lengths of the logs that were looked at; null: it is there, but its length cannot be told just now. */
  readonly there: ReadonlyMap<SessionId, number | null>;
  /** Sessions that have no log any more; `all others`: every one that is not there. */
  readonly gone: ReadonlySet<SessionId> | 'all others';
}

/** How files are looked at; tests count with it. */
export interface LogFolderReader {
  /** `which`: another folder that has come to stand at the path has another one. */
  folder(path: string): Promise<{ which: string; changedAt: number }>;
  names(path: string): Promise<string[]>;
  /** Rejects as `stat` does. */
  bytes(path: string): Promise<number>;
  /** Throws where it cannot be watched. */
  watch(path: string, heard: (name: string | null) => void): FSWatcher;
}

const realReader: LogFolderReader = {
  folder: async (path) => {
    const { dev, ino, mtimeMs } = await stat(path);
    return { which: `${dev} ${ino}`, changedAt: mtimeMs };
  },
  names: (path) => readdir(path),
  bytes: async (path) => (await stat(path)).size,
  watch: (path, heard) => watch(path, { persistent: false }, (_, name) => heard(name)),
};

export class LogFolder {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #reader: LogFolderReader;
  #heard: ((sessionId: SessionId | null) => void) | null = null;
  #watched: { watcher: FSWatcher; which: string } | null = null;
  /** The logs that stood in the folder when its names were read, and the time that it had; null: it has to be read, whatever its time is. */
  #names: ReadonlySet<SessionId> = new Set();
  #readAt: number | null = null;
  /** Looked at the next time; `all`: as if none had been looked at. */
  #suspects: Set<SessionId> | 'all' = 'all';

  constructor(path: string, clock: Clock, reader: LogFolderReader = realReader) {
    this.#path = path;
    this.#clock = clock;
    this.#reader = reader;
  }

  /** Watches the folder from the next look on. `heard` is told of each log that is written, made or removed; null: of some. */
  follow(heard: (sessionId: SessionId | null) => void): void {
    this.#heard = heard;
  }

  /** Looked at the next time, whether or not anything is heard of it. */
  suspect(sessionId: SessionId): void {
    if (this.#suspects !== 'all') this.#suspects.add(sessionId);
  }

  suspectAll(): void {
    this.#suspects = 'all';
  }

  /**
   * What may have changed since the look before: all that was written before this is called is in it. The caller makes use of it, or says that it
   * could not, by `suspect`. One look at a time.
   */
  async look(): Promise<Looked> {
    const { which, changedAt } = await this.#reader.folder(this.#path);
    this.#watch(which);
    let cameOrWent: readonly SessionId[] = [];
    if (this.#suspects === 'all' || changedAt !== this.#readAt) {
      cameOrWent = await this.#readNames();
      // A name that comes within the same tick of a file system's clock leaves the folder's time as it is.
      this.#readAt = this.#clock.now() - changedAt > folderTimeMs ? changedAt : null;
    }
    // What the kernel has to tell of the time before is heard at the end of this turn of the loop at the latest.
    await nextTurn();
    const suspects = this.#suspects;
    this.#suspects = this.#watched === null ? 'all' : new Set();
    const wanted = suspects === 'all' ? this.#names : new Set([...suspects, ...cameOrWent]);
    const { there, gone } = await this.#lengths(wanted);
    return { there, gone: suspects === 'all' ? 'all others' : gone };
  }

  /** May be called again. */
  close(): void {
    this.#heard = null;
    this.#unwatch();
  }

  /** Resolves with the names that came or went. */
  async #readNames(): Promise<SessionId[]> {
    const before = this.#names;
    const names = new Set<SessionId>();
    const cameOrWent: SessionId[] = [];
    for (const name of await this.#reader.names(this.#path)) {
      const sessionId = sessionOf(name);
      if (sessionId === null) continue;
      names.add(sessionId);
      if (!before.has(sessionId)) cameOrWent.push(sessionId);
    }
    this.#names = names;
    if (names.size - cameOrWent.length < before.size) {
      for (const sessionId of before) if (!names.has(sessionId)) cameOrWent.push(sessionId);
    }
    return cameOrWent;
  }

  async #lengths(wanted: Iterable<SessionId>): Promise<{ there: Map<SessionId, number | null>; gone: Set<SessionId> }> {
    const there = new Map<SessionId, number | null>();
    const gone = new Set<SessionId>();
    for (const sessionId of wanted) {
      try {
        there.set(sessionId, await this.#reader.bytes(join(this.#path, `${sessionId}${logSuffix}`)));
      } catch (error) {
        if (systemCode(error) === 'ENOENT') gone.add(sessionId);
        else {
          there.set(sessionId, null);
          this.suspect(sessionId);
        }
      }
    }
    return { there, gone };
  }

  /** The folder that stands at the path now. What happened while it was not watched is not known, so all is suspected. */
  #watch(which: string): void {
    if (this.#heard === null || this.#watched?.which === which) return;
    this.#unwatch();
    try {
      const watcher = this.#reader.watch(this.#path, (name) => this.#hear(name));
      this.#watched = { watcher, which };
      watcher.on('error', () => {
        if (this.#watched?.watcher === watcher) this.#unwatch();
      });
    } catch {
      // The system has no watch left, or its file system knows none: each look is at every log, and tries again.
    }
  }

  #unwatch(): void {
    this.#watched?.watcher.close();
    this.#watched = null;
    this.suspectAll();
  }

  #hear(name: string | null): void {
    const sessionId = name === null ? null : sessionOf(name);
    // An index is written, or another file that is no log.
    if (name !== null && sessionId === null) return;
    if (sessionId === null) this.suspectAll();
    else this.suspect(sessionId);
    this.#heard?.(sessionId);
  }
}

function sessionOf(name: string): SessionId | null {
  return name.endsWith(logSuffix) ? (name.slice(0, -logSuffix.length) as SessionId) : null;
}
