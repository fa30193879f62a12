/** How file tools answer: a result with one text, and what the world refused put into words for the model. */
import type { CallDetails } from '#protocol/values/display.ts';
import { systemCode } from '../base/errors.ts';
import { PlaceMoved } from './paths.ts';
import { FileRefused } from './replace-file.ts';
import type { ToolResult } from './tool.ts';

export function completed(text: string, details?: CallDetails): ToolResult {
  return { outcome: 'completed', content: [{ type: 'text', text }], ...(details === undefined ? {} : { details }) };
}

export function failed(text: string, details?: CallDetails): ToolResult {
  return { outcome: 'failed', content: [{ type: 'text', text }], ...(details === undefined ? {} : { details }) };
}

/** The sentence for what a file operation threw. Anything that is not the world's doing is thrown on: it is a bug. */
export function refusalOf(error: unknown, shown: string): string {
  if (error instanceof FileRefused || error instanceof PlaceMoved) return error.message;
  const code = systemCode(error);
  if (code === undefined) throw error;
  const words = Object.hasOwn(systemWords, code)
    ? systemWords[code as keyof typeof systemWords]
    : `cannot be used (${code})`;
  return `${shown} ${words}.`;
}

/** Completes "<path> …". */
const systemWords = {
  ENOENT: 'does not exist',
  EACCES: 'may not be used: the system denies permission',
  EPERM: 'may not be changed: the system forbids it',
  EROFS: 'is on a file system that is read-only',
  ENOSPC: 'was not written: the disk is full',
  EDQUOT: 'was not written: the disk quota is used up',
  EISDIR: 'is a directory',
  ENOTDIR: 'cannot be reached: a part of the path that should be a folder is a file',
  EEXIST: 'cannot be reached: a part of the path that should be a folder is a file',
  ELOOP: 'cannot be reached: its links lead in a circle',
  ENAMETOOLONG: 'has a name that is too long for the file system',
  ENXIO: 'is not a regular file',
} as const;
