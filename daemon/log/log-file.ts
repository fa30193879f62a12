/**
 * The one interface through which log files are written, so that tests can let a disk fail at any point. It adds nothing: no retries, no
 * buffering, no position of its own.
 */
import { open } from 'node:fs/promises';
import { ownerOnlyFileMode } from '../base/files.ts';

export interface LogFile {
  size(): Promise<number>;
  /** Writes once and returns how many bytes were taken, which may be fewer than given. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Resolves when all that was written would outlive a power cut. */
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** `new`: the file must not exist yet. `existing`: it must. */
export type OpenLogFile = (path: string, which: 'new' | 'existing') => Promise<LogFile>;

export const openLogFile: OpenLogFile = async (path, which) => {
  const file = await open(path, which === 'new' ? 'wx+' : 'r+', ownerOnlyFileMode);
  return {
    size: async () => (await file.stat()).size,
    write: async (bytes, position) => (await file.write(bytes, 0, bytes.length, position)).bytesWritten,
    truncate: (length) => file.truncate(length),
    datasync: () => file.datasync(),
    close: () => file.close(),
  };
};
