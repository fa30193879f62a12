/** The ways on from a failed turn, by what went wrong: the likeliest to help first, and none that cannot. */
import type { FailureCode } from '#protocol/values/outcome.ts';

export type Way = 'connect' | 'again' | 'model' | 'new-session';

export function waysOn(code: FailureCode): readonly Way[] {
  switch (code) {
    case 'unauthorized':
      return ['connect', 'again', 'model'];
    case 'model_unknown':
      return ['model', 'connect'];
    // A request that is too large, and one that is refused as it is (no credit left, not allowed), is refused again: another model may take it.
    case 'context_full':
      return ['model', 'new-session'];
    case 'provider_refused':
      return ['model', 'again', 'connect'];
    case 'provider_unreachable':
    case 'provider_failed':
    case 'rate_limited':
    case 'reply_cut':
    case 'reply_malformed':
    case 'timed_out':
      return ['again', 'model'];
    case 'step_limit':
    case 'token_limit':
    case 'storage_failed':
    case 'fault':
      return ['again'];
  }
}
