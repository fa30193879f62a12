/**
 * One request for a tool and its life: requested (arguments complete) -> started -> output* -> ended, exactly one end each. A call that is
 * denied or skipped ends without having started.
 */
import { z } from '../schema.ts';
import { blobRef } from '../values/blob.ts';
import { resultPart } from '../values/content.ts';
import { callDetails, callDisplay } from '../values/display.ts';
import { callId, partId, stepId } from '../values/ids.ts';
import { jsonObject } from '../values/json.ts';
import { callOutcome } from '../values/outcome.ts';

export const toolCallEvents = {
  'tool-call.requested': z.object({
    callId,
    stepId,
    /** The part that announced it, where one did. */
    partId: z.optional(partId),
    providerCallId: z.nullable(z.string()),
    tool: z.string(),
    /** Null where they are too long for an event: then they stand in `argumentsBlob` as JSON text. */
    arguments: z.nullable(jsonObject),
    argumentsBlob: z.optional(blobRef),
    display: callDisplay,
  }),
  'tool-call.started': z.object({ callId }),
  /** Live output. `skippedBytes`: what came before this text and was not kept here; the whole is in the spill file. */
  'tool-call.output': z.object({ callId, text: z.string(), skippedBytes: z.optional(z.int()) }),
  'tool-call.ended': z.object({
    callId,
    outcome: callOutcome,
    content: z.array(resultPart),
    details: z.optional(callDetails),
  }),
};
