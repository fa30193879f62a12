/**
 * Why a log could not be opened, read or written. Damage inside a log is not an error: it is reported as a value with its byte range, beside
 * everything that can still be read.
 */
export type LogErrorCode =
  /** The content is not what the file's name says. */
  | 'wrong_form'
  /** Written by a newer version: not ours to cut, repair or append to. */
  | 'newer'
  /** The file is not what it was: somebody else wrote it, it was repacked, or its tail was not repaired. Look for the place anew. */
  | 'changed'
  /** A part cannot be read, and what was asked for needs the whole. */
  | 'damaged'
  /** The events were not written and the log is as before: try again once there is space. */
  | 'write_failed'
  /** A failure left the log's end unknown: open the session again, which repairs it. */
  | 'closed_for_writing';

export class LogError extends Error {
  override readonly name = 'LogError';
  readonly code: LogErrorCode;
  constructor(code: LogErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
