/** The person asked wrongly: said in one sentence, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
