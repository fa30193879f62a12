/**
 * Provider-neutral items (what is sent) and stream events (what comes back). Nothing outside llm/ sees a wire format.
 */
import type { Effort } from '#protocol/values/model.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import type { Usage } from '#protocol/values/usage.ts';

/** Bytes of a picture stand inline here: context.ts has fetched and checked them. */
export type ItemPart =
  | { type: 'text'; text: string }
  | { type: 'image'; mediaType: string; base64: string }
  /** Only where the model takes PDFs; others get the text of it. */
  | { type: 'document'; mediaType: 'application/pdf'; base64: string; name: string; pages: number };

export type Item =
  | { type: 'person'; parts: ItemPart[] }
  | { type: 'reply'; provider: string; model: string; pieces: ReplyPiece[] }
  | { type: 'result'; callId: string; tool: string; parts: ItemPart[]; failed: boolean };

export type ReplyPiece =
  | { type: 'text'; text: string }
  /** `signature` is what its adapter needs to give it back; adapters drop reasoning that another provider made. */
  | { type: 'reasoning'; text: string; signature?: string }
  /** `argumentsText` is sent as it stands: valid JSON, always. */
  | { type: 'tool-call'; callId: string; tool: string; argumentsText: string };

/** A tool as the model sees it; `parameters` is a JSON schema of an object. */
export interface ToolOffer {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  /** The model's own id, without the provider. */
  model: string;
  effort: Effort | null;
  /** The same for as long as can be: a provider keeps what it has read of a request up to where it differs. */
  system: string;
  /** What changes within a session (the day, the mode): stands behind what can be kept. */
  hints?: string;
  /** Names the session for providers that keep what they read by such a name. */
  session?: string;
  items: Item[];
  tools: ToolOffer[];
}

/**
 * What a reply is made of, in order of arrival. `key` tells parts apart within one stream; parts may interleave. A coming tool call shows by
 * name only; its arguments come whole, in `done`.
 */
export type StreamEvent =
  | { type: 'part-started'; key: string; kind: 'text' | 'reasoning' }
  | { type: 'part-started'; key: string; kind: 'tool-call'; tool: string }
  | { type: 'part-delta'; key: string; text: string }
  | { type: 'part-ended'; key: string; signature?: string }
  | StreamEnd;

export type StopReason = 'end' | 'tool-calls' | 'length' | 'refusal' | 'other';

/** A call the model asks for. `problem` says why its arguments cannot be used (not JSON, not an object); then `arguments` is {} and the call is answered with an error. */
export interface ModelCall {
  /** The part-started key, where the call was announced. */
  key: string;
  /** The provider's own id for it, kept as evidence. */
  providerCallId: string | null;
  tool: string;
  argumentsText: string;
  arguments: Record<string, unknown>;
  problem: string | null;
}

/** The one final record. `done`: the reply is complete. `failed`: it is not, and none of its calls may run; usage that did arrive counts all the same. */
export type StreamEnd =
  | { type: 'done'; stop: StopReason; calls: ModelCall[]; usage: Usage | null }
  | { type: 'failed'; failure: Failure; usage: Usage | null; retryable: boolean; retryAfterMs: number | null }
  | { type: 'aborted'; usage: Usage | null };
