/**
 * We are wrong: an InvariantError is a bug of ours. It ends what was being done and is never caught to go on. What callers ask wrongly is a
 * RequestError; what the world refuses is an outcome.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** States what must hold; `message` says what was found instead. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Ends a switch over a union: a member that is forgotten does not compile. */
export function unreachable(value: never): never {
  throw new InvariantError(`no case for ${JSON.stringify(value)}`);
}

/** The code of a failed system call (`ENOENT`, `ENOSPC`), or undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
