/** The command that a person named for a project, run when a turn that changed files would end. It may fail once without ending the turn. */
import { z } from '../schema.ts';
import { turnId } from '../values/ids.ts';

export const checkOutcome = z.enum(['completed', 'failed', 'aborted', 'interrupted']);
export type CheckOutcome = z.infer<typeof checkOutcome>;

export const checkEvents = {
  /** `title`: the command. */
  'check.started': z.object({ turnId, title: z.string() }),
  /** `text`: what it printed and how it ended, as the agent is told. */
  'check.ended': z.object({ turnId, outcome: checkOutcome, text: z.string() }),
};
