/**
 * The whole request of a step, and a report of what the next one would hold: both are made of the same parts, so that the report cannot say
 * anything else than what is sent.
 */
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { ContextReport } from '#protocol/values/context-report.ts';
import type { SessionId } from '#protocol/values/ids.ts';
import type { Mode } from '#protocol/values/model.ts';
import type { SandboxState } from '#protocol/values/sandbox.ts';
import type { Clock } from '../../base/clock.ts';
import type { ModelRequest } from '../../llm/item.ts';
import { inRepository } from '../../tools/ignore-rules.ts';
import { toolsFor } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import { memoryText } from './compaction.ts';
import { Context, type ReadBlob } from './context.ts';
import { promptText, type PromptFacts, type PromptPart } from './prompt.ts';
import { contextReport } from './report.ts';

export interface RequestFacts {
  readonly sessionId: SessionId;
  readonly folder: string;
  readonly clock: Clock;
  readonly tools: readonly Tool[];
  readonly sandbox: SandboxState;
  readonly prompt: (facts: PromptFacts) => Promise<PromptPart[]>;
  /** The mode that is in force, where the session's own is this one. */
  readonly limited: (own: Mode) => Mode;
  readonly readBlob: ReadBlob;
}

/** What a model takes, as far as it is known; null: unknown. */
export interface Takes {
  readonly pictures: boolean | null;
  readonly documents: boolean;
}

export class Requests {
  readonly #facts: RequestFacts;
  readonly #context: Context;

  constructor(facts: RequestFacts) {
    this.#facts = facts;
    this.#context = new Context(facts.readBlob);
  }

  /** For the open step. Requires a conversation that holds every step that is not summarised. */
  async build(conversation: Conversation, model: string, takes: Takes): Promise<ModelRequest> {
    const { prompt, ...request } = await this.#parts(this.#context, conversation, model, takes);
    return {
      model,
      effort: conversation.active?.step?.effort ?? null,
      ...promptText(prompt),
      session: this.#facts.sessionId,
      ...request,
    };
  }

  /** Requires the same; changes nothing, also while a request is under way. `name`: the model's whole name. */
  async report(
    conversation: Conversation,
    { name, model, limit }: { name: string; model: string; limit: number | null },
    takes: Takes,
  ): Promise<ContextReport> {
    const { context, compaction } = conversation;
    return contextReport({
      model: name,
      limit,
      measured: context === null || context.estimated ? null : context.used,
      memory: compaction === null ? null : memoryText(compaction),
      ...(await this.#parts(this.#context.apart(), conversation, model, takes)),
    });
  }

  /** The model would not take the pictures of the last request: the next holds notes instead. */
  refusePictures(model: string): void {
    this.#context.refusePictures(model);
  }

  async #parts(
    context: Context,
    conversation: Conversation,
    model: string,
    takes: Takes,
  ): Promise<Pick<ModelRequest, 'items' | 'tools'> & { prompt: PromptPart[] }> {
    const { folder, clock, tools, sandbox, prompt, limited } = this.#facts;
    const mode = limited(conversation.active?.step?.mode ?? conversation.settings.mode);
    const place = { repository: await inRepository(folder) };
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    return {
      prompt: await prompt({ folder, mode, platform: process.platform, day, sandbox }),
      items: await context.items(conversation, model, takes.pictures, takes.documents),
      tools: toolsFor(mode, tools)
        .filter((tool) => tool.relevant?.(conversation, place) ?? true)
        .map(({ name, description, parameters }) => ({ name, description, parameters })),
    };
  }
}
