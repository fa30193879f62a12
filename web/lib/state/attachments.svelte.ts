/**
 * Files and pictures that stand beside a draft and were not submitted. Like the draft they are kept by place and machine and survive a
 * reload: a picture as the reference that the daemon answered, a text file with its text. What cannot be attached is refused with a sentence
 * and costs nothing else that was written or attached.
 */
import { RequestError } from '#protocol/errors.ts';
import { maxAttachedTextBytes, maxAttachments, maxBlobBytes, maxDocumentBytes } from '#protocol/limits.ts';
import { z } from '#protocol/schema.ts';
import { inputPart, type Document, type Image, type InputPart } from '#protocol/values/content.ts';
import type { Storage } from '../base/storage.ts';

/** A picture, or a text with the name of its file. */
export type Attachment = Exclude<InputPart, { type: 'text-blob' }>;

/** Brings a picture to the daemon, which looks at it and answers the part to submit. Rejects with a RequestError. */
export type PreparePicture = (file: File) => Promise<{ readonly part: Image | Document; readonly note: string | null }>;

const kept = z.array(inputPart);

export class AttachmentsState {
  readonly #storage: Storage;
  readonly #place: string;
  readonly #prepare: PreparePicture;
  #parts = $state.raw<readonly Attachment[]>([]);
  #coming = $state.raw<readonly File[]>([]);
  #problems = $state.raw<readonly string[]>([]);
  #notes = $state.raw<readonly string[]>([]);

  constructor(storage: Storage, machineId: string, place: string, prepare: PreparePicture) {
    this.#storage = storage;
    this.#place = `attached.${machineId}.${place}`;
    this.#prepare = prepare;
    const found = z.safeParse(kept, storage.read(this.#place));
    if (found.success) this.#parts = found.data.filter((part): part is Attachment => part.type !== 'text-blob');
  }

  get parts(): readonly Attachment[] {
    return this.#parts;
  }

  /** Names of those that are being brought to the daemon. */
  get coming(): readonly string[] {
    return this.#coming.map((file) => file.name);
  }

  /** Why something was not attached, a sentence each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** What was done to something that was attached: scaled, turned into another format. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  get hasPictures(): boolean {
    return this.#parts.some((part) => part.type === 'image');
  }

  async add(files: readonly File[]): Promise<void> {
    this.dismiss();
    const room = maxAttachments - this.#parts.length - this.#coming.length;
    if (files.length > room)
      this.#refuse(
        `A message takes ${maxAttachments} attachments at most. ${leftOut(files.length - Math.max(0, room))}`,
      );
    const taken = files.slice(0, Math.max(0, room));
    this.#coming = [...this.#coming, ...taken];
    // One after the other, so that they stand in the order in which they were given.
    try {
      for (const file of taken) await this.#take(file);
    } finally {
      this.#coming = this.#coming.filter((one) => !taken.includes(one));
    }
  }

  remove(part: Attachment): void {
    this.dismiss();
    this.#write(this.#parts.filter((one) => one !== part));
  }

  /** Those that were submitted; what came meanwhile stays. */
  drop(parts: readonly InputPart[]): void {
    if (parts.length === 0) return;
    this.dismiss();
    const gone = parts.map((part) => JSON.stringify(part));
    this.#write(this.#parts.filter((part) => !gone.includes(JSON.stringify(part))));
  }

  dismiss(): void {
    this.#problems = [];
    this.#notes = [];
  }

  async #take(file: File): Promise<void> {
    try {
      const part = isPicture(file) || isPdf(file) ? await this.#picture(file) : await readText(file);
      if (typeof part === 'string') this.#refuse(part);
      else if (!this.#write([...this.#parts, part]))
        this.#refuse(`${nameOf(file)} is attached, but this browser has no room to keep it over a reload.`);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#refuse(`${nameOf(file)}: ${error.message}`);
    } finally {
      this.#coming = this.#coming.filter((one) => one !== file);
    }
  }

  async #picture(file: File): Promise<Attachment | string> {
    const most = isPdf(file) ? maxDocumentBytes : maxBlobBytes;
    if (file.size > most)
      return `${nameOf(file)} is larger than the ${most / 1024 / 1024} MB that can be ${isPdf(file) ? 'attached as a PDF. Write its path instead, and the agent reads what it needs of it' : 'sent up'}.`;
    const { part, note } = await this.#prepare(file);
    if (note !== null) this.#notes = [...this.#notes, `${nameOf(file)}: ${note}`];
    return part;
  }

  #refuse(problem: string): void {
    this.#problems = [...this.#problems, problem];
  }

  #write(parts: readonly Attachment[]): boolean {
    this.#parts = parts;
    return this.#storage.write(this.#place, parts.length === 0 ? null : parts);
  }
}

/** Some systems know no type for it. */
export function isPdf(file: File): boolean {
  return file.type === 'application/pdf' || (file.type === '' && /\.pdf$/i.test(file.name));
}

/** Drawings in SVG are text, and no model takes them as pictures. */
function isPicture(file: File): boolean {
  return file.type.startsWith('image/') && file.type !== 'image/svg+xml';
}

async function readText(file: File): Promise<Attachment | string> {
  const name = nameOf(file);
  if (file.size > maxAttachedTextBytes) {
    const size =
      file.size < 1024 * 1024 ? `${Math.ceil(file.size / 1024)} KB` : `${(file.size / 1024 / 1024).toFixed(1)} MB`;
    return `${name} is too large to attach: ${size}, and a text may have ${maxAttachedTextBytes / 1024} KB. Write its path instead, and the agent reads what it needs of it.`;
  }
  const bytes = await file.arrayBuffer().catch(() => null);
  // A folder looks like a file until it is read.
  if (bytes === null) return `${name} cannot be read: it is a folder, or it is gone. Write its path instead.`;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text === '') return `${name} is empty, so it was not attached.`;
    if (!text.includes('\0')) return { type: 'text', text, name };
  } catch {
    // Bytes that are no UTF-8: said below.
  }
  return `${name} is neither a picture, a PDF nor plain text, so it cannot be attached. Write its path instead.`;
}

function nameOf(file: File): string {
  return file.name === '' ? 'A file without a name' : file.name;
}

function leftOut(count: number): string {
  return count === 1 ? 'One was left out.' : `${count} were left out.`;
}
