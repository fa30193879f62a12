/** A disk that a test can let fail: what reaches the real file is up to its switches. */
import { openLogFile, type LogFile, type OpenLogFile } from '../log/log-file.ts';

export class FaultyDisk {
  /** Writes fail with this code, after `takes` bytes of each. */
  full: 'ENOSPC' | 'EIO' | null = null;
  takes = 0;
  /** The file of this path is written all the same. */
  sparing = '';
  /** So many writes fail; then there is space again. */
  times = Infinity;
  cutFails = false;
  syncFails = false;
  /** Resolves before each write goes on: a test holds writes back with it. */
  gate: Promise<void> = Promise.resolve();
  /**
   * Asked before each operation, where it is set: how it fails, and how many bytes of a write are taken all the same (fewer than
   * given: it is a short write, and no failure), or null.
   */
  weather:
    ((operation: 'write' | 'truncate' | 'datasync', bytes: number) => { code: string; takes: number } | null) | null =
    null;
  /** Writes that reached the file, in bytes. */
  readonly written: number[] = [];
  syncs = 0;

  readonly open: OpenLogFile = async (path, which) => {
    const file = await openLogFile(path, which);
    const faulty: Partial<LogFile> = {
      write: async (bytes, position) => {
        await this.gate;
        const bad = this.weather?.('write', bytes.length) ?? null;
        if (bad !== null) {
          if (bad.takes > 0 && bad.takes < bytes.length) return file.write(bytes.subarray(0, bad.takes), position);
          if (bad.takes > 0) await file.write(bytes, position);
          throw systemError(bad.code);
        }
        if (this.full !== null && this.times > 0 && path !== this.sparing) {
          this.times -= 1;
          if (this.takes > 0 && bytes.length > this.takes) return file.write(bytes.subarray(0, this.takes), position);
          throw systemError(this.full);
        }
        this.written.push(bytes.length);
        return file.write(bytes, position);
      },
      truncate: (length) => {
        const bad = this.cutFails ? { code: 'EIO' } : (this.weather?.('truncate', 0) ?? null);
        return bad === null ? file.truncate(length) : Promise.reject(systemError(bad.code));
      },
      datasync: () => {
        this.syncs += 1;
        const bad = this.syncFails ? { code: 'EIO' } : (this.weather?.('datasync', 0) ?? null);
        return bad === null ? file.datasync() : Promise.reject(systemError(bad.code));
      },
    };
    return { ...file, ...faulty };
  };
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: from the test`), { code });
}
