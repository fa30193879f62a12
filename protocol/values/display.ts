/** What a screen shows of a tool call. A tool makes these from its arguments, so that no screen knows a tool by name. */
import { z } from '../schema.ts';
import { blobRef } from './blob.ts';

export const callDisplay = z.object({
  /** Verb first: "Read", "Edit", "Run". */
  title: z.string(),
  kind: z.enum(['read', 'search', 'edit', 'command', 'other']),
  /** What it acts on: a path relative to the project, or the command, whole. */
  target: z.optional(z.string()),
  /** Few words more, such as "lines 1-80". */
  summary: z.optional(z.string()),
});
export type CallDisplay = z.infer<typeof callDisplay>;

/** One file before and after. `diff` is a unified diff with three lines of context; a long one stands in a blob, a binary file has none. */
export const fileChange = z.object({
  type: z.literal('file-change'),
  path: z.string(),
  change: z.enum(['created', 'modified', 'deleted']),
  /** The path it had before, where it was moved. */
  movedFrom: z.optional(z.string()),
  before: z.nullable(blobRef),
  /** Null: the file was deleted. */
  after: z.nullable(blobRef),
  added: z.int(),
  removed: z.int(),
  diff: z.optional(z.string()),
  diffBlob: z.optional(blobRef),
});
export type FileChange = z.infer<typeof fileChange>;

/** Several files changed by one call, all or none. */
export const fileChanges = z.object({ type: z.literal('file-changes'), files: z.array(fileChange) });
export type FileChanges = z.infer<typeof fileChanges>;

/** How a command ended. `exitCode` is null where a signal ended it. `spill` names the file that holds the whole output, where it was cut. */
export const commandEnd = z.object({
  type: z.literal('command'),
  command: z.string(),
  exitCode: z.nullable(z.int()),
  signal: z.nullable(z.string()),
  timedOut: z.boolean(),
  outputBytes: z.int(),
  spill: z.optional(z.string()),
  /** Processes of the command that still run after it returned. */
  leftRunning: z.optional(z.int()),
});
export type CommandEnd = z.infer<typeof commandEnd>;

export const fileRead = z.object({
  type: z.literal('file-read'),
  path: z.string(),
  firstLine: z.int(),
  lastLine: z.int(),
  totalLines: z.int(),
});

/** A plan that a person decided about, in Markdown. */
export const planReview = z.object({
  type: z.literal('plan'),
  text: z.string(),
  decision: z.enum(['accepted', 'dismissed']),
});

/** Structured facts about a call for the screen: beside, never instead of, what the model sees. */
export const callDetails = z.discriminatedUnion('type', [fileChange, fileChanges, commandEnd, fileRead, planReview]);
export type CallDetails = z.infer<typeof callDetails>;

/** The files that a call changed, as its details tell them. */
export function changesIn(details: CallDetails | null | undefined): readonly FileChange[] {
  if (details?.type === 'file-change') return [details];
  return details?.type === 'file-changes' ? details.files : [];
}
