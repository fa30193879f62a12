/**
 * Conversation -> items for the model: the only place that builds a prompt's history. Invariants:
 *   X1  every tool call in a reply is followed by exactly one result, in the order of the calls
 *   X2  a reply that never completed is sent as its text alone: no call of it ran
 *   X3  blobs come back byte for byte; what cannot be had or used becomes a note, never an error
 * Items of a closed step are made once: the step keeps its identity, so a long history costs a lookup.
 */
import type { ClaimedInput, Conversation, Part, Step } from '#protocol/conversation/conversation.ts';
import type { ToolCall } from '#protocol/conversation/tool-call.ts';
import type { InputPart, ResultPart } from '#protocol/values/content.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import type { Item, ItemPart, ReplyPiece } from '../llm/item.ts';

/** Reads a blob's bytes, or null where it is gone. */
export type ReadBlob = (blob: BlobRef) => Promise<Uint8Array | null>;

export class Context {
  readonly #readBlob: ReadBlob;
  readonly #items = new WeakMap<Step, Item[]>();

  constructor(readBlob: ReadBlob) {
    this.#readBlob = readBlob;
  }

  /** Requires a conversation whose history is whole. */
  async items(conversation: Conversation): Promise<Item[]> {
    const { compaction } = conversation;
    const turns = conversation.active === null ? conversation.turns : [...conversation.turns, conversation.active];
    const items: Item[] = [];
    if (compaction !== null) {
      items.push({
        type: 'person',
        parts: [{ type: 'text', text: `Summary of the work so far:\n${compaction.summary}` }],
      });
    }
    for (const turn of turns) {
      for (const step of turn.step === null ? turn.steps : [...turn.steps, turn.step]) {
        if (compaction !== null && step.startedSeq < compaction.firstKeptSeq) continue;
        let made = this.#items.get(step);
        if (made === undefined) {
          made = await this.#itemsOf(step);
          if (step.endedAt !== null) this.#items.set(step, made);
        }
        // Not spread as arguments: a step may hold very many items.
        for (const item of made) items.push(item);
      }
    }
    return items;
  }

  async #itemsOf(step: Step): Promise<Item[]> {
    const items: Item[] = [];
    for (const input of step.inputs) items.push(await this.#person(input));
    const pieces = await this.#pieces(step);
    if (pieces.length > 0) {
      const slash = step.model.indexOf('/');
      items.push({ type: 'reply', provider: step.model.slice(0, slash), model: step.model.slice(slash + 1), pieces });
    }
    for (const call of step.calls) items.push(await this.#result(call));
    return items;
  }

  async #person(input: ClaimedInput): Promise<Item> {
    return { type: 'person', parts: await this.#parts(input.parts) };
  }

  async #pieces(step: Step): Promise<ReplyPiece[]> {
    if (step.reply === null) {
      const text = step.parts.filter((part) => part.kind === 'text' && part.text !== '');
      return text.map((part) => ({ type: 'text', text: part.text }));
    }
    const pieces: ReplyPiece[] = [];
    const announced = new Set<string>();
    for (const part of step.parts) {
      if (part.kind !== 'tool-call') {
        if (part.text !== '' || part.signature !== null) pieces.push(pieceOf(part));
        continue;
      }
      const call = step.calls.find((one) => one.partId === part.partId);
      if (call === undefined) continue;
      announced.add(call.callId);
      pieces.push(await this.#callPiece(call));
    }
    for (const call of step.calls) if (!announced.has(call.callId)) pieces.push(await this.#callPiece(call));
    return pieces;
  }

  async #callPiece(call: ToolCall): Promise<ReplyPiece> {
    const argumentsText =
      call.argumentsBlob === null ? JSON.stringify(call.arguments ?? {}) : await this.#blobText(call.argumentsBlob);
    return { type: 'tool-call', callId: call.callId, tool: call.tool, argumentsText: argumentsText ?? '{}' };
  }

  async #result(call: ToolCall): Promise<Item> {
    const parts = await this.#parts(call.content);
    if (call.approval?.changedArguments === true) {
      parts.push({
        type: 'text',
        text: 'The person changed the arguments of this call before allowing it; they stand in the call as they ran.',
      });
    }
    return { type: 'result', callId: call.callId, tool: call.tool, parts, failed: call.outcome !== 'completed' };
  }

  async #parts(parts: readonly (InputPart | ResultPart)[]): Promise<ItemPart[]> {
    const items: ItemPart[] = [];
    for (const part of parts) {
      if (part.type === 'text') items.push({ type: 'text', text: part.text });
      else if (part.type === 'text-blob')
        items.push({ type: 'text', text: (await this.#blobText(part.blob)) ?? '[This text is no longer stored.]' });
      else {
        const bytes = await this.#readBlob(part.blob);
        items.push(
          bytes === null
            ? { type: 'text', text: '[A picture stood here; it is no longer stored.]' }
            : { type: 'image', mediaType: part.mediaType, base64: Buffer.from(bytes).toString('base64') },
        );
      }
    }
    return items;
  }

  async #blobText(blob: BlobRef): Promise<string | null> {
    const bytes = await this.#readBlob(blob);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  }
}

function pieceOf(part: Part): ReplyPiece {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  return { type: 'reasoning', text: part.text, ...(part.signature === null ? {} : { signature: part.signature }) };
}
