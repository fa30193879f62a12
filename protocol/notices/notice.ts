/** Ephemeral news, one noun a topic: the last value wins, sent on change, safe to lose, sent anew on each connect. Never in a log. */
import { z } from '../schema.ts';
import { sessionSummary } from '../commands/session-values.ts';
import { sandboxState } from '../values/sandbox.ts';
import { project } from '../values/project.ts';

export const notices = {
  /** All projects that are shown. */
  projects: z.object({ projects: z.array(project), offered: z.nullable(z.string()) }),
  /** Models or providers changed: ask `model.list` anew. The number grows. */
  models: z.object({ revision: z.int() }),
  /** What holds commands back on this machine. */
  sandbox: sandboxState,
  /** One session's row. */
  session: z.object({ session: sessionSummary }),
  /** Sent once on connect after the rows of all sessions that are not idle. */
  settled: z.object({ waiting: z.int(), running: z.int() }),
};
export type NoticeTopic = keyof typeof notices;
export type Notice = { [Topic in NoticeTopic]: { topic: Topic } & z.infer<(typeof notices)[Topic]> }[NoticeTopic];
