/** A person's answer to one request, as the approval components hand it on. */
import type { ApprovalScope } from '#protocol/events/approval.ts';
import type { JsonObject } from '#protocol/values/json.ts';

export interface Answer {
  readonly decision: 'allow' | 'deny';
  readonly scope: ApprovalScope;
  /** Words to the agent. */
  readonly note?: string;
  /** The arguments as the person changed them. */
  readonly arguments?: JsonObject;
}
