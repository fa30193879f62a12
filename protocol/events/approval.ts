/** A question whether one tool call may run, and its answer. Durable state, not a message: it is open until resolved or withdrawn. */
import { z } from '../schema.ts';
import { callDetails } from '../values/display.ts';
import { approvalId, callId } from '../values/ids.ts';
import { jsonObject } from '../values/json.ts';

export const approvalScope = z.enum(['once', 'session', 'always']);
export type ApprovalScope = z.infer<typeof approvalScope>;

export const approvalEvents = {
  'approval.requested': z.object({
    approvalId,
    callId,
    /** Why it is asked, a whole sentence. */
    reason: z.string(),
    /** Destructive or not understood: then only "once" can be allowed. */
    caution: z.boolean(),
    /** What "session" and "always" would allow: the tool and this pattern. */
    rulePattern: z.string(),
    /** What the call would change, where it can be told. */
    preview: z.optional(callDetails),
  }),
  'approval.resolved': z.object({
    approvalId,
    decision: z.enum(['allow', 'deny']),
    scope: approvalScope,
    /** Who answered, by the name of the device or "command line". */
    by: z.string(),
    /** The person's words to the agent. */
    note: z.optional(z.string()),
    /** The arguments as the person changed them. */
    arguments: z.optional(jsonObject),
  }),
  'approval.withdrawn': z.object({ approvalId, reason: z.string() }),
};
