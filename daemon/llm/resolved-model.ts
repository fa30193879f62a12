/** A model that a step can be made with: who answers, and what the step must know of it. */
import type { ModelPrice } from '#protocol/commands/model.ts';
import type { Effort } from '#protocol/values/model.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import type { ModelClient } from './model-stream.ts';

export interface ResolvedModel {
  readonly client: ModelClient;
  /** The model's own id, without the provider. */
  readonly model: string;
  /** Tokens; null: unknown. */
  readonly contextWindow: number | null;
  /** The efforts it takes; null: unknown, so any may be tried. */
  readonly efforts: readonly Effort[] | null;
  readonly price: ModelPrice | null;
  /** Whether it sees pictures; where that is unknown they are sent. */
  readonly pictures?: boolean | null;
  /** Whether it takes PDFs; where that is unknown their text is sent. */
  readonly documents?: boolean | null;
}

/** Finds a model by its name (`provider/model`), or says why it cannot be had. */
export type ResolveModel = (name: string) => Promise<ResolvedModel | { readonly failure: Failure }>;
