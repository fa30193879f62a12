/**
 * A recording as it is read: every entry in its place. A file whose last line was cut, or that has no end, is one of a run that was killed: its
 * prefix is read. Anything else that is no entry of this version is refused, with the line.
 */
import { readFile, stat } from 'node:fs/promises';
import { messageOf } from '../base/errors.ts';
import { maxRecordingBytes } from '../base/limits.ts';
import { readEntry, RECORDING_VERSION, type Entry, type EntryOf, type RecordedOffer } from './format.ts';

export interface Exchange {
  readonly request: EntryOf<'request'>;
  readonly events: EntryOf<'stream'>['event'][];
}

export interface RecordedCall {
  readonly call: EntryOf<'call'>;
  /** What the call was judged to do before each result, and the result; the last may have none. */
  readonly times: {
    readonly assessments: EntryOf<'assessed'>['assessment'][];
    result: EntryOf<'result'>['result'] | null;
  }[];
}

export interface Recording {
  readonly header: EntryOf<'recording'>;
  readonly tools: readonly RecordedOffer[];
  /** By name, as it was told last. */
  readonly models: ReadonlyMap<string, EntryOf<'model'>['found']>;
  readonly values: ReadonlyMap<number, unknown>;
  readonly exchanges: readonly Exchange[];
  readonly calls: readonly RecordedCall[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly acts: readonly (EntryOf<'submitted'> | EntryOf<'configured'>)[];
  readonly answers: readonly (EntryOf<'answered'> | EntryOf<'replied'>)[];
  readonly callEnds: readonly EntryOf<'call-ended'>[];
  readonly turnEnds: readonly EntryOf<'turn-ended'>[];
  /** Why it is not whole, a sentence; null where it is. */
  readonly incomplete: string | null;
}

/** Rejects with a sentence where it cannot be read. */
export async function readRecording(path: string): Promise<Recording> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw new Error(`There is no recording ${path} (${messageOf(error)}).`, { cause: error });
  });
  if (size > maxRecordingBytes)
    throw new Error(`${path} has ${size} bytes; a recording has ${maxRecordingBytes} at most (maxRecordingBytes).`);
  return recordingOf(await readFile(path, 'utf8'), path);
}

export function recordingOf(text: string, path: string): Recording {
  const lines = text.split('\n');
  const cut = lines.pop() ?? '';
  const entries = lines.map((line, place) => entryOf(line, place, path));
  const [first] = entries;
  if (first?.type !== 'recording') throw new Error(`${path} is no recording: its first line is no header of one.`);
  return new Reading(first, entries, cut !== '').recording;
}

function entryOf(line: string, place: number, path: string): Entry {
  const entry = readEntry(line);
  if (entry !== null) return entry;
  const version = place === 0 ? versionOf(line) : null;
  if (version !== null && version !== RECORDING_VERSION)
    throw new Error(
      `${path} is a recording of version ${version}; this Alcove replays version ${RECORDING_VERSION}. Replay it with the Alcove that made it, or record anew.`,
    );
  throw new Error(
    `${path} is no recording of version ${RECORDING_VERSION}: line ${place + 1} is not one of its entries.`,
  );
}

function versionOf(line: string): number | null {
  try {
    const { type, version } = JSON.parse(line) as { type?: unknown; version?: unknown };
    return type === 'recording' && typeof version === 'number' ? version : null;
  } catch {
    return null;
  }
}

/** Puts each entry where it belongs. */
class Reading {
  readonly recording: Recording;
  readonly #exchanges = new Map<number, Exchange>();
  readonly #calls = new Map<number, RecordedCall>();

  constructor(header: EntryOf<'recording'>, entries: readonly Entry[], cut: boolean) {
    const models = new Map<string, EntryOf<'model'>['found']>();
    const values = new Map<number, unknown>();
    const blobs = new Map<string, Uint8Array>();
    const of = <Type extends Entry['type']>(...types: Type[]) =>
      entries.filter((one): one is EntryOf<Type> => (types as string[]).includes(one.type));
    for (const { name, found } of of('model')) models.set(name, found);
    for (const { value, is } of of('value')) values.set(value, is);
    for (const { sha256, base64 } of of('blob')) blobs.set(sha256, Buffer.from(base64, 'base64'));
    for (const entry of entries) this.#place(entry);
    const last = entries.at(-1)?.type;
    this.recording = {
      header,
      tools: of('tool'),
      models,
      values,
      exchanges: [...this.#exchanges.values()],
      calls: [...this.#calls.values()],
      blobs,
      acts: of('submitted', 'configured'),
      answers: of('answered', 'replied'),
      callEnds: of('call-ended'),
      turnEnds: of('turn-ended'),
      incomplete:
        last === 'end' && !cut
          ? null
          : last === 'full'
            ? 'The recording was full before the run came to its end.'
            : 'The recording has no end: the run that made it was killed, or could not write on.',
    };
  }

  #place(entry: Entry): void {
    if (entry.type === 'request') this.#exchanges.set(entry.exchange, { request: entry, events: [] });
    else if (entry.type === 'stream') this.#exchanges.get(entry.exchange)?.events.push(entry.event);
    else if (entry.type === 'call') this.#calls.set(entry.call, { call: entry, times: [] });
    else if (entry.type === 'assessed') this.#time(entry.call)?.assessments.push(entry.assessment);
    else if (entry.type === 'result') {
      const time = this.#time(entry.call);
      if (time !== undefined) time.result = entry.result;
    }
  }

  /** The time that a call is made which has no result yet. */
  #time(number: number): RecordedCall['times'][number] | undefined {
    const times = this.#calls.get(number)?.times;
    if (times !== undefined && (times.length === 0 || times.at(-1)?.result !== null))
      times.push({ assessments: [], result: null });
    return times?.at(-1);
  }
}
