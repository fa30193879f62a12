/** Small logs for tests: a few events, written by the real writer, in frames that the test chooses. */
import type { EventOf } from '#protocol/event.ts';
import type { PartId } from '#protocol/values/ids.ts';
import { encodeEvent } from '../log/codec.ts';
import { readEvents, type Damage, type LogPlace } from '../log/reader.ts';
import { LogWriter } from '../log/writer.ts';

/** A piece of streamed text: the most frequent event, and one whose size a test can choose. */
export function delta(seq: number, text = `text ${seq}`): EventOf<'part.delta'> {
  return { seq, at: 1_767_225_600_000 + seq, type: 'part.delta', partId: 'prt_1' as PartId, text };
}

export function lines(first: number, last: number, text?: string): string[] {
  return Array.from({ length: last - first + 1 }, (_, place) => encodeEvent(delta(first + place, text)));
}

/** A log with one frame for each number: of so many events. Returns where each frame begins, and at last the log's end. */
export async function writeLog(path: string, counts: readonly number[], text?: string): Promise<number[]> {
  const writer = await LogWriter.create(path);
  const offsets = [0];
  let seq = 1;
  for (const count of counts) {
    const { end } = await writer.append(lines(seq, seq + count - 1, text), seq);
    offsets.push(end);
    seq += count;
  }
  await writer.close();
  return offsets;
}

/** What a reader finds, in few words: the seqs of good events, and the damage. */
export async function contentOf(path: string, from?: LogPlace): Promise<{ seqs: number[]; damages: Damage[] }> {
  const seqs: number[] = [];
  const damages: Damage[] = [];
  for await (const found of readEvents(path, from)) {
    if (found.kind === 'damage') damages.push(found);
    else seqs.push(...found.events.map(({ event }) => event.seq));
  }
  return { seqs, damages };
}

export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, place) => place + 1);
}
