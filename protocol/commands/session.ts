/**
 * Commands on sessions. Those that change something carry a `commandId`: a repeat gets the first answer, the same id with other parameters
 * is a `conflict`, and one older than a day is `stale`.
 */
import { z } from '../schema.ts';
import { inputTarget } from '../events/input.ts';
import { inputPart } from '../values/content.ts';
import { contextReport } from '../values/context-report.ts';
import { commandId, inputId, projectId, sessionId } from '../values/ids.ts';
import { effort, mode, modelWish } from '../values/model.ts';
import { condensedEvents, conversation, sessionSummary } from './session-values.ts';

/** Where in the log the command's event stands: what it caused can be waited for. */
const done = z.object({ seq: z.int() });
const onSession = { commandId, sessionId };

export const sessionCommands = {
  'session.list': {
    doc: 'Sessions, newest activity first, a page at a time; unreadable ones are listed with their error.',
    params: z.object({
      projectId: z.optional(projectId),
      limit: z.optional(z.int().check(z.minimum(1), z.maximum(500))),
      after: z.optional(z.string()),
    }),
    result: z.object({ sessions: z.array(sessionSummary), next: z.nullable(z.string()) }),
  },
  'session.create': {
    doc: 'Makes a session in a project, with its first input where one is given. The client makes the session id, so a repeat is harmless.',
    params: z.object({
      ...onSession,
      projectId,
      model: z.optional(modelWish),
      effort: z.optional(z.nullable(effort)),
      mode: z.optional(mode),
      input: z.optional(z.array(inputPart).check(z.minLength(1), z.maxLength(20))),
    }),
    result: done,
  },
  'session.fork': {
    doc: 'Copies a session verbatim up to a seq at a step boundary into a new session.',
    params: z.object({ ...onSession, newSessionId: sessionId, upTo: z.int() }),
    result: done,
  },
  'session.subscribe': {
    doc: 'Events from after a seq on, or a base and the tail after it. Batches follow as `session.events` notifications, in order, without gap or double.',
    params: z.object({
      sessionId,
      after: z.optional(z.int().check(z.nonnegative())),
      tailBytes: z.optional(z.int().check(z.nonnegative(), z.maximum(1024 * 1024))),
    }),
    result: z.object({
      subscription: z.string(),
      /** Null where `after` was given and can be served: then the batches follow it. */
      base: z.nullable(conversation),
      /** The session's last seq when the answer was made: until it is reached the reader is catching up. */
      seq: z.int(),
    }),
  },
  'session.unsubscribe': {
    doc: 'Ends a subscription.',
    params: z.object({ subscription: z.string() }),
    result: z.object({}),
  },
  'session.page': {
    doc: 'The page of history that ends just before a seq: whole steps, about 64 KiB, with its own base.',
    params: z.object({ sessionId, before: z.int().check(z.positive()) }),
    result: z.object({ base: conversation, events: condensedEvents }),
  },
  'session.submit': {
    doc: 'Queues an input; answers once it is durable. next-step joins the running turn, next-turn waits for a turn of its own. The input has the id of the command.',
    params: z.object({
      ...onSession,
      target: inputTarget,
      parts: z.array(inputPart).check(z.minLength(1), z.maxLength(20)),
    }),
    result: done,
  },
  'session.edit-input': {
    doc: 'Replaces the parts of a waiting input.',
    params: z.object({ ...onSession, inputId, parts: z.array(inputPart).check(z.minLength(1), z.maxLength(20)) }),
    result: done,
  },
  'session.move-input': {
    doc: 'Moves a waiting input: to another target, or before another waiting input (null: to the end).',
    params: z.object({
      ...onSession,
      inputId,
      target: z.optional(inputTarget),
      before: z.optional(z.nullable(inputId)),
    }),
    result: done,
  },
  'session.withdraw-input': {
    doc: 'Takes back a waiting input.',
    params: z.object({ ...onSession, inputId }),
    result: done,
  },
  'session.pause': { doc: 'Stops at the next complete step boundary.', params: z.object(onSession), result: done },
  'session.resume': {
    doc: 'Goes on from where the turn rests, without a new input.',
    params: z.object(onSession),
    result: done,
  },
  'session.abort': {
    doc: 'Stops now: closes what is open, keeps what waits.',
    params: z.object(onSession),
    result: done,
  },
  'session.compact': {
    doc: 'Lets a summary stand for the old steps in the model’s context, at the next step boundary. The log keeps everything. What comes of it is told by events.',
    params: z.object(onSession),
    result: done,
  },
  'session.context': {
    doc: 'What fills the model’s context, part by part, as the next request would hold it: estimates, with what the provider measured apart from them.',
    params: z.object({ sessionId }),
    result: contextReport,
  },
  'session.configure': {
    doc: 'Sets model, effort or mode; applies from the next step on (the mode from the next tool call).',
    params: z.object({
      ...onSession,
      model: z.optional(modelWish),
      effort: z.optional(z.nullable(effort)),
      mode: z.optional(mode),
    }),
    result: done,
  },
  'session.rename': {
    doc: 'Gives a session a title.',
    params: z.object({ ...onSession, title: z.string().check(z.minLength(1), z.maxLength(200)) }),
    result: done,
  },
};
