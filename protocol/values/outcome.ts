/** How things end, and the error that says why. */
import { z } from '../schema.ts';

export const turnOutcome = z.enum(['completed', 'aborted', 'failed', 'interrupted']);
export type TurnOutcome = z.infer<typeof turnOutcome>;

export const callOutcome = z.enum(['completed', 'failed', 'denied', 'interrupted', 'skipped']);
export type CallOutcome = z.infer<typeof callOutcome>;

/** What went wrong out in the world. Decisions are made on `code`; `message` is for people and says what happened, what was kept, what next. */
export const failure = z.object({ code: failureCode(), message: z.string(), detail: z.optional(z.string()) });
export type Failure = z.infer<typeof failure>;
export type FailureCode = Failure['code'];

function failureCode() {
  return z.enum([
    'provider_unreachable', // no connection, or it dropped
    'provider_refused', // 4xx that a repeat does not cure
    'provider_failed', // 5xx, or an error in mid-stream
    'rate_limited', // 429
    'unauthorized', // the key is missing or wrong
    'model_unknown', // no such model or provider
    'context_full', // the request is larger than the model's window
    'reply_cut', // the stream ended before the reply was complete
    'reply_malformed', // what came is not of the wire format
    'timed_out', // silence for longer than the limit
    'step_limit', // the turn took more steps than a turn may
    'token_limit', // a sub-agent used up the tokens it was given
    'storage_failed', // the log could not be written
    'fault', // a bug of ours, see the daemon's log
  ]);
}
