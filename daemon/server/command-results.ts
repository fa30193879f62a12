/**
 * The memory of commands that change something outside a session: what each answered, for a day, in an append-only file of JSON Lines.
 * (Session commands are remembered by the session's own log.) Invariants:
 *   R1  a repeat gets the first answer and runs nothing, also while the first is still running
 *   R2  the same id with other parameters is a conflict
 *   R3  an id that is unknown and older than the memory is stale: whether it ran cannot be known
 *   R4  only what succeeded is remembered: a command that was refused has changed nothing and may be sent again
 * Of a secret among the parameters nothing is kept, no digest either: a short one could be guessed from it. So R2 does not tell two keys apart.
 * A line torn by a crash is dropped at the next start, when the file is written anew without what is too old.
 */
import { appendFile, readFile } from 'node:fs/promises';
import { commandMemoryMs } from '#protocol/conversation/conversation.ts';
import { RequestError } from '#protocol/errors.ts';
import { z } from '#protocol/schema.ts';
import { commandId as commandIdSchema, timeOfId, type CommandId } from '#protocol/values/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { digestOf } from '../base/digest.ts';
import { systemCode } from '../base/errors.ts';
import { ownerOnlyFileMode, writeFileAtomically } from '../base/files.ts';
import { SerialQueue } from '../base/serial.ts';

const line = z.object({ id: commandIdSchema, digest: z.string(), at: z.number(), result: z.unknown() });
type Line = z.infer<typeof line>;

interface Remembered {
  readonly digest: string;
  readonly result: Promise<unknown>;
  /** Null while it runs. */
  readonly at: number | null;
}

export class CommandResults {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #diagnostics: Diagnostics;
  readonly #known = new Map<CommandId, Remembered>();
  readonly #writes = new SerialQueue();

  private constructor(path: string, clock: Clock, diagnostics: Diagnostics) {
    this.#path = path;
    this.#clock = clock;
    this.#diagnostics = diagnostics;
  }

  static async open(path: string, clock: Clock, diagnostics: Diagnostics): Promise<CommandResults> {
    const results = new CommandResults(path, clock, diagnostics);
    await results.#compact();
    return results;
  }

  /** Runs `work` unless the command is known. Rejects with a RequestError `conflict` or `stale`, or with what `work` throws. */
  run<T>(params: { readonly commandId: CommandId }, work: () => Promise<T>): Promise<T> {
    const { commandId } = params;
    const digest = digestOf(withoutSecrets(params));
    const known = this.#known.get(commandId);
    if (known !== undefined) return known.digest === digest ? (known.result as Promise<T>) : Promise.reject(conflict());
    const age = this.#clock.now() - timeOfId(commandId);
    if (Math.abs(age) > commandMemoryMs) return Promise.reject(stale(age));
    this.#forgetOld();
    const result = this.#first(commandId, digest, work);
    this.#known.set(commandId, { digest, result, at: null });
    return result;
  }

  /** Resolves when every result is written. */
  close(): Promise<void> {
    return this.#writes.idle();
  }

  async #first<T>(id: CommandId, digest: string, work: () => Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await work();
    } catch (error) {
      this.#known.delete(id);
      throw error;
    }
    const at = this.#clock.now();
    this.#known.set(id, { digest, result: Promise.resolve(result), at });
    try {
      await this.#append({ id, digest, at, result });
    } catch (error) {
      // The command has happened, so it is answered; until the daemon ends a repeat is still known.
      this.#diagnostics.error('The result of a command was not kept', { id, error });
    }
    return result;
  }

  #append(kept: Line): Promise<void> {
    // A leading line break: after a write that was cut short, the next result still has a line of its own.
    const text = `\n${JSON.stringify(kept)}\n`;
    return this.#writes.run(() => appendFile(this.#path, text, { mode: ownerOnlyFileMode }));
  }

  async #compact(): Promise<void> {
    const lines = (await readIfThere(this.#path)).split('\n').filter((text) => text !== '');
    const live = lines.flatMap(parseLine).filter((kept) => this.#counts(kept.id, kept.at));
    for (const { id, digest, at, result } of live) this.#known.set(id, { digest, result: Promise.resolve(result), at });
    if (live.length < lines.length)
      await writeFileAtomically(this.#path, live.map((kept) => `${JSON.stringify(kept)}\n`).join(''));
  }

  #forgetOld(): void {
    for (const [id, { at }] of this.#known) if (at !== null && !this.#counts(id, at)) this.#known.delete(id);
  }

  /** By both clocks: an id of a client whose clock runs ahead is known as long as it is not stale. */
  #counts(id: CommandId, at: number): boolean {
    return Math.max(at, timeOfId(id)) > this.#clock.now() - commandMemoryMs;
  }
}

/** `key`: of a provider (provider.connect). */
function withoutSecrets(params: object): object {
  return Object.fromEntries(Object.entries(params).filter(([name]) => name !== 'key'));
}

function parseLine(text: string): Line[] {
  try {
    const parsed = z.safeParse(line, JSON.parse(text));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}

function conflict(): RequestError {
  return new RequestError(
    'conflict',
    'This command was sent before with other parameters. Send it again with a new id.',
  );
}

function stale(age: number): RequestError {
  const why = age > 0 ? 'older than a day' : 'more than a day ahead';
  return new RequestError(
    'stale',
    `The command is ${why} by its own time, so whether it ran cannot be known. Look at what is there, check this device's clock, and send it anew.`,
  );
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  }
}
