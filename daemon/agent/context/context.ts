/**
 * Conversation -> items for the model: the only place that builds a prompt's history. Invariants:
 *   X1  every tool call in a reply is followed by exactly one result, in the order of the calls
 *   X2  a reply that never completed is sent as its text alone: no call of it ran
 *   X3  blobs come back byte for byte; what cannot be had or used becomes a note, never an error
 *   X4  pictures of a request are within the limits of models, whatever was stored: the newest that have room are sent, the others are notes
 * Items of a closed step are made once: the step keeps its identity, so a long history costs a lookup, and items keep theirs, by which adapters
 * know them again. Pictures are put in at the end, since which of them have room depends on those behind them.
 */
import type { Conversation, Part as ReplyPart, Step } from '#protocol/conversation/conversation.ts';
import type { ToolCall } from '#protocol/conversation/tool-call.ts';
import type { Document, Image, InputPart, ResultPart } from '#protocol/values/content.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import { maxRequestPictureBytes, maxRequestPictures, maxSentPdfPages } from '../../base/limits.ts';
import type { Item, ItemPart, ReplyPiece } from '../../llm/item.ts';
import { fitPicture } from '../../pictures/fit-picture.ts';
import { jobNote } from '../../tools/commands/job-words.ts';
import { memoryText } from './compaction.ts';

/** Reads a blob's bytes, or null where it is gone. */
export type ReadBlob = (blob: BlobRef) => Promise<Uint8Array | null>;

/** Where a picture goes; replaced before anything is sent. */
interface Picture {
  readonly type: 'picture';
  readonly image: Image;
}
/** Where a PDF goes: itself where the model takes it, else its text. */
interface Paper {
  readonly type: 'paper';
  readonly document: Document;
}
type Part = ItemPart | Picture | Paper;
type Made<One> = One extends { parts: ItemPart[] } ? Omit<One, 'parts'> & { parts: readonly Part[] } : One;
type MadeItem = Made<Item>;

interface MadeStep {
  readonly items: readonly MadeItem[];
  readonly pictures: boolean;
}

/** What stands in the blobs of a step, by their hash; null where it is gone. */
type BlobTexts = ReadonlyMap<string, string | null>;

/** As it is sent, or the reason why it is not (completes "A picture stood here that …"). */
type Prepared = { readonly part: ItemPart; readonly bytes: number } | { readonly why: string };

export class Context {
  readonly #readBlob: ReadBlob;
  #made = new WeakMap<Step, MadeStep>();
  /** Those of the last request, by their hash. */
  #prepared = new Map<string, Prepared>();
  /** Pictures that a provider would not take: by the model that was asked and their hash. */
  #refused = new Set<string>();

  constructor(readBlob: ReadBlob) {
    this.#readBlob = readBlob;
  }

  /** For a look at the next request while one is under way: knows what this one knows, and changes nothing of what it sent last. */
  apart(): Context {
    const other = new Context(this.#readBlob);
    other.#made = this.#made;
    other.#prepared = this.#prepared;
    other.#refused = this.#refused;
    return other;
  }

  /**
   * Requires a conversation that holds every step that is not summarised. `sees` is whether the model is known to take pictures (null: unknown, so they are sent);
   * `model` is by which name refused pictures are remembered.
   */
  async items(conversation: Conversation, model = '', sees: boolean | null = null, takesPdf = false): Promise<Item[]> {
    const { compaction } = conversation;
    const turns = conversation.active === null ? conversation.turns : [...conversation.turns, conversation.active];
    const items: MadeItem[] = [];
    let pictures = false;
    for (const turn of turns) {
      for (const step of turn.step === null ? turn.steps : [...turn.steps, turn.step]) {
        if (compaction !== null && step.startedSeq < compaction.firstKeptSeq) continue;
        let made = this.#made.get(step);
        if (made === undefined) {
          const blobs = blobsOf(step);
          // Nothing is waited for where nothing is stored elsewhere: a long history is made in one go.
          made = madeStep(step, blobs.length === 0 ? noTexts : await this.#textsOf(blobs));
          if (step.endedAt !== null) this.#made.set(step, made);
        }
        pictures ||= made.pictures;
        // Not spread as arguments: a step may hold very many items.
        for (const item of made.items) items.push(item);
      }
    }
    if (compaction !== null) this.#remember(memoryText(compaction), items);
    if (pictures) return this.#withPictures(items, model, sees, takesPdf);
    this.#prepared = new Map();
    return items as Item[];
  }

  /** In front, and in one item with the person's words where these come first: not every vendor takes two of them in a row. */
  #remember(text: string, items: MadeItem[]): void {
    const [first] = items;
    const memory: Part = { type: 'text', text };
    if (first?.type === 'person') items[0] = { ...first, parts: [memory, ...first.parts] };
    else items.unshift({ type: 'person', parts: [memory] });
  }

  /** The provider would not take a request because of its pictures: those that were in it are notes from now on, for this model. */
  refusePictures(model: string): void {
    for (const sha256 of this.#prepared.keys()) this.#refused.add(`${model} ${sha256}`);
  }

  /** From the newest to the oldest, as long as there is room. */
  async #withPictures(
    items: readonly MadeItem[],
    model: string,
    sees: boolean | null,
    takesPdf: boolean,
  ): Promise<Item[]> {
    let [count, bytes] = [0, 0];
    const kept = new Map<string, Prepared>();
    const result: Item[] = [];
    for (const item of items.toReversed()) {
      if (!holdsPicture(item)) {
        result.push(item);
        continue;
      }
      const parts: ItemPart[] = [];
      for (const part of item.parts.toReversed()) {
        if (part.type === 'paper') {
          const room = takesPdf ? maxRequestPictureBytes - bytes : 0;
          const paper = await this.#paper(part.document, room);
          if (paper.type === 'document') bytes += part.document.blob.bytes;
          parts.push(paper);
          continue;
        }
        if (part.type !== 'picture') {
          parts.push(part);
          continue;
        }
        const { image } = part;
        const why = this.#whyNot(image, model, sees, count);
        if (why !== null) {
          parts.push(note(image, why));
          continue;
        }
        const prepared = kept.get(image.blob.sha256) ?? (await this.#prepare(image));
        kept.set(image.blob.sha256, prepared);
        if ('why' in prepared) parts.push(note(image, prepared.why));
        else if (bytes + prepared.bytes > maxRequestPictureBytes)
          parts.push(note(image, 'has no room in a request any more'));
        else {
          count += 1;
          bytes += prepared.bytes;
          parts.push(prepared.part);
        }
      }
      result.push({ ...item, parts: parts.toReversed() });
    }
    this.#prepared = kept;
    return result.toReversed();
  }

  /** The PDF where there is room for it, else its text. */
  async #paper({ blob, text, name, pages }: Document, room: number): Promise<ItemPart> {
    const called = name ?? 'document.pdf';
    if (blob.bytes <= room && pages <= maxSentPdfPages) {
      const bytes = await this.#readBlob(blob);
      if (bytes !== null)
        return {
          type: 'document',
          mediaType: 'application/pdf',
          base64: Buffer.from(bytes).toString('base64'),
          name: called,
          pages,
        };
    }
    const read = await this.#readBlob(text);
    const words = read === null ? '[This text is no longer stored.]' : new TextDecoder().decode(read);
    return {
      type: 'text',
      text: fileText(`${called} (the text of its ${pages === 1 ? '1 page' : `${pages} pages`})`, words),
    };
  }

  #whyNot(image: Image, model: string, sees: boolean | null, count: number): string | null {
    if (sees === false) return 'this model cannot see';
    if (this.#refused.has(`${model} ${image.blob.sha256}`)) return 'the provider did not take';
    return count >= maxRequestPictures ? 'is older than the newest that are sent' : null;
  }

  /** By its own bytes, whatever the part says of it: an older version, or another program, may have written it. */
  async #prepare(image: Image): Promise<Prepared> {
    const before = this.#prepared.get(image.blob.sha256);
    if (before !== undefined) return before;
    const bytes = await this.#readBlob(image.blob);
    if (bytes === null) return { why: 'is no longer stored' };
    const fitted = await fitPicture(bytes);
    if ('problem' in fitted) return { why: fitted.problem.replace(/\.$/, '') };
    const base64 = Buffer.from(fitted.bytes).toString('base64');
    return { part: { type: 'image', mediaType: fitted.mediaType, base64 }, bytes: fitted.bytes.length };
  }

  async #textsOf(blobs: readonly BlobRef[]): Promise<BlobTexts> {
    const texts = new Map<string, string | null>();
    for (const blob of blobs) {
      const bytes = await this.#readBlob(blob);
      texts.set(blob.sha256, bytes === null ? null : new TextDecoder().decode(bytes));
    }
    return texts;
  }
}

const noTexts: BlobTexts = new Map();

function blobsOf(step: Step): BlobRef[] {
  const blobs: BlobRef[] = [];
  const look = (parts: readonly (InputPart | ResultPart)[]) => {
    for (const part of parts) if (part.type === 'text-blob') blobs.push(part.blob);
  };
  for (const input of step.inputs) look(input.parts);
  for (const call of step.calls) {
    if (call.argumentsBlob !== null) blobs.push(call.argumentsBlob);
    look(call.content);
  }
  return blobs;
}

function madeStep(step: Step, texts: BlobTexts): MadeStep {
  const items = itemsOf(step, texts);
  return { items, pictures: items.some(holdsPicture) };
}

function itemsOf(step: Step, texts: BlobTexts): MadeItem[] {
  const items: MadeItem[] = step.inputs.map((input) => ({ type: 'person', parts: partsOf(input.parts, texts) }));
  tellOfNews(step, items);
  const pieces = piecesOf(step, texts);
  if (pieces.length > 0) {
    const slash = step.model.indexOf('/');
    items.push({ type: 'reply', provider: step.model.slice(0, slash), model: step.model.slice(slash + 1), pieces });
  }
  for (const call of step.calls) items.push(resultOf(call, texts));
  return items;
}

/** OR9, TL27: jobs that have ended since, and a check that failed, in front of what the person says, if anything. */
function tellOfNews({ endedJobs, failedCheck }: Step, items: MadeItem[]): void {
  const texts = endedJobs.map(jobNote);
  if (failedCheck !== null)
    texts.push(
      `[The check that the person set for this project (${failedCheck.title}) failed after your changes. Put it right if it is due to them; else say so. It is run once more.]\n${failedCheck.text}`,
    );
  if (texts.length === 0) return;
  const notes = texts.map((text): Part => ({ type: 'text', text }));
  const [first] = items;
  if (first?.type === 'person') items[0] = { ...first, parts: [...notes, ...first.parts] };
  else items.unshift({ type: 'person', parts: notes });
}

function piecesOf(step: Step, texts: BlobTexts): ReplyPiece[] {
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
    pieces.push(callPiece(call, texts));
  }
  for (const call of step.calls) if (!announced.has(call.callId)) pieces.push(callPiece(call, texts));
  return pieces;
}

function callPiece({ callId, tool, arguments: args, argumentsBlob }: ToolCall, texts: BlobTexts): ReplyPiece {
  const argumentsText = argumentsBlob === null ? JSON.stringify(args ?? {}) : texts.get(argumentsBlob.sha256);
  return { type: 'tool-call', callId, tool, argumentsText: argumentsText ?? '{}' };
}

function resultOf(call: ToolCall, texts: BlobTexts): MadeItem {
  const parts = partsOf(call.content, texts);
  if (call.approval?.changedArguments === true) {
    parts.push({
      type: 'text',
      text: 'The person changed the arguments of this call before allowing it; they stand in the call as they ran.',
    });
  }
  return { type: 'result', callId: call.callId, tool: call.tool, parts, failed: call.outcome !== 'completed' };
}

function partsOf(parts: readonly (InputPart | ResultPart)[], texts: BlobTexts): Part[] {
  return parts.map((part) => {
    if (part.type === 'image') return { type: 'picture', image: part };
    if (part.type === 'document') return { type: 'paper', document: part };
    const text = part.type === 'text' ? part.text : (texts.get(part.blob.sha256) ?? '[This text is no longer stored.]');
    return { type: 'text', text: part.name === undefined ? text : fileText(part.name, text) };
  });
}

function pieceOf(part: ReplyPart): ReplyPiece {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  return { type: 'reasoning', text: part.text, ...(part.signature === null ? {} : { signature: part.signature }) };
}

function holdsPicture(item: MadeItem): item is Exclude<MadeItem, Item> {
  return item.type !== 'reply' && item.parts.some((part) => part.type === 'picture' || part.type === 'paper');
}

function note({ name }: Image, why: string): ItemPart {
  return { type: 'text', text: `[A picture${name === undefined ? '' : ` (${name})`} stood here that ${why}.]` };
}

/** An attached file, so that its text is not taken for the person's own words. The fence is longer than any within. */
function fileText(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `The person attached the file ${name}:\n${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}
