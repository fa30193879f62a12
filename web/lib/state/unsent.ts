/**
 * Inputs that were submitted and not acknowledged, kept by machine and session so that a reload, a crash or a dead battery does not lose
 * one. Each keeps the id it was first sent with: sent again, it is the same input, and runs once.
 */
import type { InputTarget } from '#protocol/events/input.ts';
import { inputTarget } from '#protocol/events/input.ts';
import { z } from '#protocol/schema.ts';
import { inputPart, type InputPart } from '#protocol/values/content.ts';
import { inputId, timeOfId, type InputId } from '#protocol/values/ids.ts';
import { commandMemoryMs } from '#protocol/conversation/conversation.ts';
import type { Storage } from '../base/storage.ts';

export interface UnsentInput {
  readonly inputId: InputId;
  readonly text: string;
  /** What is sent where it is more than the text: then the text only stands for it. */
  readonly parts?: readonly InputPart[] | undefined;
  readonly target: InputTarget;
  /** When it was submitted. */
  readonly at: number;
}

const kept = z.array(
  z.object({ inputId, text: z.string(), parts: z.optional(z.array(inputPart)), target: inputTarget, at: z.number() }),
);

export class UnsentStore {
  readonly #storage: Storage;
  readonly #place: string;

  constructor(storage: Storage, machineId: string, sessionId: string) {
    this.#storage = storage;
    this.#place = `unsent.${machineId}.${sessionId}`;
  }

  /** Read anew each time: another tab may have the same session open. */
  read(): readonly UnsentInput[] {
    const found = z.safeParse(kept, this.#storage.read(this.#place));
    return found.success ? found.data : [];
  }

  put(input: UnsentInput): readonly UnsentInput[] {
    return this.#write([...this.read().filter((one) => one.inputId !== input.inputId), input]);
  }

  remove(ids: readonly InputId[]): readonly UnsentInput[] {
    return this.#write(this.read().filter((one) => !ids.includes(one.inputId)));
  }

  #write(inputs: readonly UnsentInput[]): readonly UnsentInput[] {
    this.#storage.write(this.#place, inputs.length === 0 ? null : inputs);
    return inputs;
  }
}

/** Past this age a daemon can no longer tell a repeat: the input needs a new id, and a person who has looked. */
export function isStale(id: InputId, now: number): boolean {
  return now - timeOfId(id) >= commandMemoryMs;
}
