/** From claimed input until the agent rests. A turn holds one or more steps. */
import { z } from '../schema.ts';
import { turnId } from '../values/ids.ts';
import { failure, turnOutcome } from '../values/outcome.ts';

export const turnEvents = {
  'turn.started': z.object({ turnId }),
  'turn.paused': z.object({ turnId }),
  'turn.resumed': z.object({ turnId }),
  'turn.ended': z.object({ turnId, outcome: turnOutcome, failure: z.optional(failure) }),
};
