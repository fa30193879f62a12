/** What the system says of a home that cannot be used, as a sentence with the next step. */
import { DatabaseError } from '../base/database.ts';
import { messageOf, systemCode } from '../base/errors.ts';

/** What was asked of the home, which rejects with that sentence. */
export async function inHome<T>(home: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw homeRefusal(error, home);
  }
}

function homeRefusal(error: unknown, home: string): unknown {
  const code = systemCode(error);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new Error(`${home} cannot be written (${code}). Make it writable, or set ALCOVE_HOME to another folder.`, {
      cause: error,
    });
  }
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return new Error(
      `${home} is not a folder (${messageOf(error)}). Move it away, or set ALCOVE_HOME to another folder.`,
      {
        cause: error,
      },
    );
  if (code === 'ENOSPC' || code === 'EDQUOT' || (error instanceof DatabaseError && error.code === 'full'))
    return new Error(`There is no space left for ${home} (${messageOf(error)}). Make space and try again.`, {
      cause: error,
    });
  return error;
}
