/**
 * A recording: what one run was told by its model, its tools and its person, as JSON Lines, one entry a line, in the order it happened. A
 * diagnostic, never a source of truth: the session's own log is that. The first line is the header; an `end` stands last where the run came to
 * its end. Large things that come again (items of a history, the prompt, the tools) stand once, as a `value`, and are referred to by its number.
 * A version reads its own format alone: what a replay promises is strictness, and there is none about fields that mean something else.
 */
import { ruleDecision } from '#protocol/commands/approval.ts';
import { z } from '#protocol/schema.ts';
import { questionOption } from '#protocol/events/question.ts';
import { todo } from '#protocol/events/work.ts';
import { inputPart, resultPart } from '#protocol/values/content.ts';
import { callDetails, callDisplay } from '#protocol/values/display.ts';
import { effort, mode } from '#protocol/values/model.ts';
import { callOutcome, failure, turnOutcome } from '#protocol/values/outcome.ts';
import { usage } from '#protocol/values/usage.ts';
import { modelPrice } from '#protocol/commands/model.ts';

export const RECORDING_VERSION = 1;

const number = z.int().check(z.nonnegative());
const fields = z.record(z.string(), z.unknown());

const header = z.object({
  type: z.literal('recording'),
  version: z.literal(RECORDING_VERSION),
  alcove: z.string(),
  /** Its name: refusals name the project to the model. */
  project: z.string(),
  /** What the session was made with, and what the settings said. */
  model: z.string(),
  effort: z.nullable(effort),
  mode,
  subAgentModel: z.nullable(z.string()),
  compactAt: z.nullable(z.number()),
  cap: z.object({ tokens: z.nullable(z.number()), cost: z.nullable(z.number()) }),
  /** Whether a person could be asked, and whether a plan was accepted beforehand. */
  attended: z.boolean(),
  acceptsPlan: z.boolean(),
  /** The standing answers that were in force. */
  rules: z.array(z.object({ tool: z.string(), pattern: z.string(), decision: z.optional(ruleDecision) })),
});
export type RecordingHeader = z.infer<typeof header>;

const tool = z.object({
  type: z.literal('tool'),
  name: z.string(),
  description: z.string(),
  parameters: fields,
  readOnly: z.boolean(),
  offeredInPlan: z.optional(z.boolean()),
  modes: z.optional(z.array(mode)),
  forPeople: z.optional(z.boolean()),
  startsAgents: z.optional(z.boolean()),
  /** Not offered at all times: each request tells. */
  sometimes: z.optional(z.literal(true)),
});
export type RecordedOffer = z.infer<typeof tool>;

/** What a name of a model led to, from here on. */
const model = z.object({
  type: z.literal('model'),
  name: z.string(),
  found: z.union([
    z.object({
      model: z.string(),
      contextWindow: z.nullable(z.number()),
      efforts: z.nullable(z.array(effort)),
      price: z.nullable(modelPrice),
      pictures: z.optional(z.nullable(z.boolean())),
      documents: z.optional(z.nullable(z.boolean())),
    }),
    z.object({ failure }),
  ]),
});

const value = z.object({ type: z.literal('value'), value: number, is: z.unknown() });

/** `system`, `hints`, `items` and `tools` are numbers of values. */
const request = z.object({
  type: z.literal('request'),
  exchange: number,
  model: z.string(),
  effort: z.nullable(effort),
  system: number,
  hints: z.nullable(number),
  session: z.nullable(z.string()),
  items: z.array(number),
  tools: number,
});

const modelCall = z.object({
  key: z.string(),
  providerCallId: z.nullable(z.string()),
  tool: z.string(),
  argumentsText: z.string(),
  arguments: fields,
  problem: z.nullable(z.string()),
});

const streamEvent = z.union([
  z.object({
    type: z.literal('part-started'),
    key: z.string(),
    kind: z.enum(['text', 'reasoning', 'tool-call']),
    tool: z.optional(z.string()),
  }),
  z.object({ type: z.literal('part-delta'), key: z.string(), text: z.string() }),
  z.object({ type: z.literal('part-ended'), key: z.string(), signature: z.optional(z.string()) }),
  z.object({
    type: z.literal('done'),
    stop: z.enum(['end', 'tool-calls', 'length', 'refusal', 'other']),
    calls: z.array(modelCall),
    usage: z.nullable(usage),
  }),
  z.object({
    type: z.literal('failed'),
    failure,
    usage: z.nullable(usage),
    retryable: z.boolean(),
    retryAfterMs: z.nullable(z.number()),
  }),
  z.object({ type: z.literal('aborted'), usage: z.nullable(usage) }),
]);

const stream = z.object({ type: z.literal('stream'), exchange: number, event: streamEvent });

/** A call of a tool with these arguments; one that is made again keeps its number. `problem`: why they cannot be used. */
const call = z.object({
  type: z.literal('call'),
  call: number,
  tool: z.string(),
  arguments: fields,
  display: z.nullable(callDisplay),
  problem: z.nullable(z.string()),
});

const place = { rulePattern: z.string(), caution: z.nullable(z.string()), subjects: z.optional(z.array(z.string())) };
const assessment = z.discriminatedUnion('effect', [
  z.object({ effect: z.literal('read'), ...place, inTurn: z.optional(z.literal(true)) }),
  z.object({ effect: z.literal('change'), preview: z.nullable(callDetails), ...place }),
  z.object({ effect: z.literal('command'), looks: z.boolean(), ...place }),
  z.object({
    effect: z.literal('question'),
    question: z.object({ text: z.string(), options: z.array(questionOption), plan: z.nullable(z.string()) }),
  }),
  z.object({
    effect: z.literal('agent'),
    assignment: z.object({ agent: z.string(), prompt: z.string(), model: z.nullable(z.string()) }),
  }),
  z.object({ effect: z.literal('refused'), reason: z.string() }),
]);
const assessed = z.object({ type: z.literal('assessed'), call: number, assessment });

/** Bytes that a result refers to. */
const blob = z.object({ type: z.literal('blob'), sha256: z.string(), base64: z.string() });

const result = z.object({
  type: z.literal('result'),
  call: number,
  result: z.object({
    outcome: z.enum(['completed', 'failed']),
    content: z.array(resultPart),
    details: z.optional(callDetails),
    todos: z.optional(z.array(todo)),
  }),
});

/** What the person did. `agent` is '' for the run's own, else the calls that led to a sub-agent, each with a slash behind it. */
const submitted = z.object({ type: z.literal('submitted'), parts: z.array(inputPart) });
const configured = z.object({
  type: z.literal('configured'),
  mode: z.optional(mode),
  model: z.optional(z.string()),
  effort: z.optional(z.nullable(effort)),
});
const answered = z.object({
  type: z.literal('answered'),
  agent: z.string(),
  approvalId: z.string(),
  decision: z.enum(['allow', 'deny']),
  scope: z.enum(['once', 'session', 'always']),
  note: z.optional(z.string()),
  arguments: z.optional(fields),
});
const replied = z.object({
  type: z.literal('replied'),
  agent: z.string(),
  questionId: z.string(),
  answer: z.string(),
  option: z.optional(z.int()),
});

/** How calls and turns ended, whatever ended them. */
const callEnded = z.object({
  type: z.literal('call-ended'),
  agent: z.string(),
  callId: z.string(),
  outcome: callOutcome,
});
const turnEnded = z.object({ type: z.literal('turn-ended'), agent: z.string(), outcome: turnOutcome });

/** Nothing is recorded any more: the recording is as large as one may be. */
const full = z.object({ type: z.literal('full') });
const end = z.object({ type: z.literal('end') });

const entry = z.discriminatedUnion('type', [
  header,
  tool,
  model,
  value,
  request,
  stream,
  call,
  assessed,
  blob,
  result,
  submitted,
  configured,
  answered,
  replied,
  callEnded,
  turnEnded,
  full,
  end,
]);
export type Entry = z.infer<typeof entry>;
export type EntryOf<Type extends Entry['type']> = Extract<Entry, { type: Type }>;

/** Null where the line is no entry of this version. */
export function readEntry(line: string): Entry | null {
  try {
    const read = z.safeParse(entry, JSON.parse(line));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
