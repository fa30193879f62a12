/** Values that session commands and notices carry besides events. */
import { z } from '../schema.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { SessionState } from '../conversation/status.ts';
import type { SessionEvent } from '../event.ts';
import { questionOption } from '../events/question.ts';
import { approvalId, callId, projectId, questionId, sessionId } from '../values/ids.ts';
import { jsonObject } from '../values/json.ts';
import { callDetails } from '../values/display.ts';
import { mode } from '../values/model.ts';
import { turnOutcome } from '../values/outcome.ts';

/** Made by the daemon's fold and folded on by the page: trusted inside the authenticated socket, so only its shape is looked at. */
export const conversation = z.custom<Conversation>(
  (value: unknown) => typeof value === 'object' && value !== null && 'seq' in value,
);
export const condensedEvents = z.custom<SessionEvent[]>((value: unknown) => Array.isArray(value));

/** What the driver of a session does just now. */
export const driverState = z.enum(['idle', 'running', 'pausing', 'paused', 'aborting']);
export type DriverState = z.infer<typeof driverState>;

/** Of a sub-agent, at any depth: its session, where the answer goes, and what it is called. */
const asked = { sessionId: z.optional(sessionId), agent: z.optional(z.string()) };

/** A question that waits for a person, whole. */
export const openQuestion = z.object({
  questionId,
  at: z.number(),
  text: z.string(),
  options: z.array(questionOption),
  ...asked,
});
export type OpenQuestion = z.infer<typeof openQuestion>;

/** An approval that waits for a person, with everything needed to answer it from a list. */
export const openRequest = z.object({
  approvalId,
  at: z.number(),
  tool: z.string(),
  title: z.string(),
  target: z.nullable(z.string()),
  reason: z.string(),
  caution: z.boolean(),
  rulePattern: z.string(),
  arguments: z.nullable(jsonObject),
  preview: z.nullable(callDetails),
  ...asked,
});
export type OpenRequest = z.infer<typeof openRequest>;

const sessionStates = [
  'idle',
  'running',
  'waiting',
  'pausing',
  'paused',
  'failed',
  'interrupted',
  'queued',
] as const satisfies readonly SessionState[];

/** One row of a list of sessions. */
export const sessionSummary = z.object({
  sessionId,
  projectId: z.nullable(projectId),
  title: z.string(),
  createdAt: z.number(),
  /** Of the last event. */
  updatedAt: z.number(),
  seq: z.int(),
  state: z.enum(sessionStates),
  driver: driverState,
  model: z.nullable(z.string()),
  mode,
  lastOutcome: z.nullable(turnOutcome),
  /** What it does just now, in few words: the running tool and its target. */
  activity: z.nullable(z.string()),
  requests: z.array(openRequest),
  questions: z.optional(z.array(openQuestion)),
  /** Of a sub-agent: who started it, and the tokens that it used. */
  spawned: z.optional(
    z.object({ sessionId, callId, agent: z.string(), depth: z.int(), tokens: z.int().check(z.nonnegative()) }),
  ),
  archived: z.boolean(),
  /** Why the log cannot be read or written; null where all is well. */
  problem: z.nullable(z.string()),
  /** Who else writes it ("running in a terminal"); then it is read-only here. */
  owner: z.nullable(z.string()),
});
export type SessionSummary = z.infer<typeof sessionSummary>;
