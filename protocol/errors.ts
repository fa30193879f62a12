/**
 * Every error code that may cross the socket, with its meaning. A RequestError says that the caller asked wrongly, or that what was asked
 * cannot be had now; its message is a sentence for people that says what to do next. It never carries a stack trace or a secret.
 */
export const errorCodes = {
  invalid_params: 'The message or its parameters do not fit the schema.',
  unknown_method: 'No such command in this version of the daemon.',
  unauthorized: 'No valid token; pair this browser again.',
  forbidden: 'The request came from a place that may not ask (Host, Origin, Sec-Fetch-Site).',
  not_found: 'The thing named does not exist, or no longer.',
  conflict: 'The same id was used with other parameters, or the thing is in another state than the caller thinks.',
  stale: 'The command is too old to be known for sure; look at what is there and ask again with a new id.',
  busy: 'Somebody else owns it just now; the message names the owner.',
  too_large: 'A named limit would be exceeded; the message names the limit.',
  too_many: 'Too many requests, subscriptions or tries at once.',
  read_only: 'The session cannot be written: its log is damaged, or another process owns it.',
  storage_failed: 'The disk refused (full, read-only, failing). Nothing was changed; try again once there is space.',
  outcome_unknown: 'The effect may or may not have happened before a crash; it is not run again.',
  provider_error: 'The model provider refused or failed; the message holds its own words.',
  unavailable: 'The part asked for is not running or not configured on this machine.',
  version: 'Page and daemon do not speak the same major version; update the app.',
  internal: 'A fault of ours. The daemon wrote the details to its own log.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
