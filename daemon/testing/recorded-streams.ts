/**
 * What real providers sent, where a folder of such recordings is there (ALCOVE_PROVIDER_STREAMS, or one beside the project): one JSON event a
 * line. An adapter must read them the same however their bytes are split, and must not take a part of one for the whole. The bytes come from
 * memory, so that every single place can be tried, and once over a real connection.
 *
 * An adapter takes bytes apart into chunks (the SDK) and reads the chunks (pure). So each place is tried where bytes still matter, with the
 * SDK as the adapter asks it (in long streams with the events around the place), and some of them through the whole adapter. Of a long stream
 * not every place is tried, see `placesIn`. RECORDED=all tries every place of every stream with the SDK, and all of `placesIn` through the whole
 * adapter, which takes the better part of an hour.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Http } from '../base/http.ts';
import { aRequest, callsOf } from '../llm/formats/contract.ts';
import type { StreamEnd, StreamEvent } from '../llm/item.ts';
import type { Usage } from '#protocol/values/usage.ts';
import { wireClient, type WireFormat, type WireOptions } from '../llm/formats/wire-client.ts';
import { bytesReply, startWireServer } from './wire-server.ts';

interface RecordedReply {
  name: string;
  bytes: Buffer;
}

/** A network that answers every request with these pieces, then ends the body or cuts it. */
type MemoryHttp = Pick<Http, 'fetch' | 'close'>;

interface RecordingsOptions {
  /** The recordings of one wire format. */
  folder: string;
  format: WireFormat;
  /** One recording may hold several replies. */
  replies: (lines: string[]) => string[];
  /** Stands in the event that completes a reply, or refuses it. */
  finish: RegExp;
}

/** Above it not every place is tried, unless all are wanted. */
const longBytes = 8192;
const everything = process.env['RECORDED'] === 'all';
const clock = { now: () => Date.parse('2026-12-01T10:00:00Z') };
const timeout = everything ? 36_000_000 : 120_000;

export function triedOnRecordings({ folder, format, replies, finish }: RecordingsOptions): void {
  const recorded = recordedStreams(folder).flatMap(({ name, lines }) => {
    const parts = replies(lines);
    return parts.map((text, index): RecordedReply => ({
      name: parts.length === 1 ? name : `${name} ${index + 1}`,
      bytes: Buffer.from(text),
    }));
  });
  if (recorded.length === 0) {
    test.skip(`recordings of ${folder}: skipped, there are none; name their folder in ALCOVE_PROVIDER_STREAMS`, () =>
      undefined);
  }

  describe.each(recorded)('recorded: $name', ({ name, bytes }) => {
    const ends = endsOfEvents(bytes);
    const finishAt = finish.exec(bytes.toString('latin1'))?.index ?? Number.NaN;
    /** Just behind the event that completes the reply. */
    const finished = bytes.indexOf('\n\n', finishAt) + 2;
    const long = bytes.length > longBytes;
    const rule = placesIn(bytes.length, name.length);
    const places = everything ? everyPlaceIn(bytes.length) : rule;
    const wholly = everything ? rule : someOf(rule);

    test('ends as it did, also over a real connection', { timeout }, async () => {
      const whole = await answer(format, [bytes], 'end');
      const end = whole.at(-1) as StreamEnd;
      // Whatever a provider said in the end is told as such: a reply, or its refusal.
      expect(end.type).toBe(/"type":"response\.failed"/.test(bytes.toString()) ? 'failed' : 'done');
      expect(callsOf(end).every((call) => call.problem === null)).toBe(true);
      if (end.type === 'failed') expect(end).toMatchObject({ failure: { code: 'provider_refused' }, retryable: false });
      const server = await startWireServer('', () => bytesReply([{ act: 'bytes', bytes }]));
      onTestFinished(() => server.close());
      const client = wireClient(format, { ...options, baseUrl: server.url });
      onTestFinished(() => client.close());
      const events: StreamEvent[] = [];
      for await (const event of client.stream(aRequest(), new AbortController().signal)) events.push(event);
      expect(JSON.stringify(events)).toBe(JSON.stringify(whole));
    });

    test('is the same wherever it is split in two (C12)', { timeout }, async () => {
      const whole = JSON.stringify(await answer(format, [bytes], 'end'));
      for (const at of wholly) {
        const one = JSON.stringify(await answer(format, [bytes.subarray(0, at), bytes.subarray(at)], 'end'));
        if (one !== whole) expect.fail(`split at ${at} the adapter reads otherwise: ${one.slice(0, 2000)}`);
      }
      const decoded = await decodedByEvent(format, bytes, ends);
      for (const at of places) {
        const { from, to, wanted } = decoded.around(at, long);
        const got = await chunksOf(format, [bytes.subarray(from, at), bytes.subarray(at, to)], 'end');
        const difference = differenceOf(got, wanted);
        if (difference !== null) expect.fail(`split at ${at} it decodes otherwise: ${difference}`);
      }
    });

    test('is a failure without calls where it was cut, unless its end had come (PR21)', { timeout }, async () => {
      const whole = await answer(format, [bytes], 'end');
      const last = whole.at(-1) as StreamEnd;
      const text = textOf(whole);
      const isWhole = (one: StreamEvent[], end: StreamEnd) =>
        end.type === last.type &&
        textOf(one) === text &&
        JSON.stringify(callsOf(end)) === JSON.stringify(callsOf(last)) &&
        usageFits(end.usage, last.usage);
      const tried = [...(long ? someOf(ends) : ends), ...wholly];
      for (const at of [...tried, finished - 2, finished - 1, finished]) {
        for (const ending of ['end', 'cut'] as const) {
          const one = await answer(format, [bytes.subarray(0, at)], ending);
          const end = one.at(-1) as StreamEnd;
          const complete = isWhole(one, end);
          const cut = end.type === 'failed' && end.failure.code === 'reply_cut' && text.startsWith(textOf(one));
          // One byte before, the event is there but for its empty line: either is honest.
          if (at >= finished ? !complete : !cut && !(complete && at === finished - 1))
            expect.fail(`cut at ${at} of ${finished} it ends as ${JSON.stringify(end)}`);
        }
      }
      // Everywhere else the adapter gets the same chunks, and the same end, as behind the last event that is whole.
      const decoded = await decodedByEvent(format, bytes, ends);
      for (const at of places) {
        const ending = at % 2 === 0 ? 'end' : 'cut';
        const { from, before, after } = decoded.cutAt(at, long, ending);
        const got = await chunksOf(format, [bytes.subarray(from, at)], ending);
        const difference = differenceOf(got, before);
        // The event may be there but for its empty line: either is honest.
        if (difference !== null && (!ends.includes(at + 1) || differenceOf(got, after) !== null))
          expect.fail(`cut at ${at} it decodes otherwise: ${difference}`);
      }
    });
  });
}

const options: WireOptions = { provider: 'recorded', baseUrl: 'http://m', key: null, keyName: null, clock };

/** What the adapter makes of these bytes. */
async function answer(
  format: WireFormat,
  pieces: readonly Uint8Array[],
  ending: 'end' | 'cut',
): Promise<StreamEvent[]> {
  const client = wireClient(format, { ...options, http: memoryHttp(pieces, ending, () => undefined) });
  const events: StreamEvent[] = [];
  for await (const event of client.stream(aRequest(), new AbortController().signal)) events.push(event);
  await client.close();
  return events;
}

interface Decoded {
  /** As JSON. */
  chunks: string[];
  failed: boolean;
}

/** What the SDK, asked as the adapter asks it, makes of these bytes. `asked`: how many chunks had come when each piece was asked for. */
async function chunksOf(
  format: WireFormat,
  pieces: readonly Uint8Array[],
  ending: 'end' | 'cut',
): Promise<Decoded & { asked: number[] }> {
  const chunks: string[] = [];
  const asked: number[] = [];
  const http = memoryHttp(pieces, ending, () => void asked.push(chunks.length));
  const request = {
    method: 'POST',
    headers: {},
    body: '',
    signal: new AbortController().signal,
    received: () => undefined,
  };
  const ask = await format.load();
  try {
    const stream = await ask(aRequest(), { options, timeoutMs: 60_000, fetch: () => http.fetch('http://m', request) });
    for await (const chunk of stream) chunks.push(JSON.stringify(chunk));
    return { chunks, asked, failed: false };
  } catch {
    // What is thrown is for the adapter to judge, and is tried with it.
    return { chunks, asked, failed: true };
  }
}

function differenceOf(got: Decoded, wanted: Decoded): string | null {
  const count = Math.max(got.chunks.length, wanted.chunks.length);
  for (let place = 0; place < count; place += 1) {
    if (got.chunks[place] !== wanted.chunks[place]) return `chunk ${place + 1} is ${got.chunks[place] ?? 'missing'}`;
  }
  if (got.failed === wanted.failed) return null;
  return got.failed ? 'it fails after its chunks' : 'it ends quietly after its chunks';
}

/** The offsets just behind each event. */
function endsOfEvents(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let end = bytes.indexOf('\n\n'); end >= 0; end = bytes.indexOf('\n\n', end + 2)) ends.push(end + 2);
  return ends;
}

/** What the SDK makes of each event. Behind an event it holds nothing back, so in a long stream a place needs no more than the events around it. */
async function decodedByEvent(format: WireFormat, bytes: Buffer, ends: readonly number[]) {
  const starts = [0, ...ends.slice(0, -1)];
  const events = starts.map((start, index) => bytes.subarray(start, ends[index]));
  const { chunks, failed, asked } = await chunksOf(format, events, 'end');
  const chunksAfter = (count: number) => asked[count] ?? chunks.length;
  const of = (first: number, count: number): Decoded => ({
    chunks: chunks.slice(chunksAfter(first), chunksAfter(count)),
    failed: failed && count >= asked.length,
  });
  /** So many events are whole before a place. */
  const wholeBefore = (at: number) => ends.filter((end) => end <= at).length;
  return {
    /** The bytes to split at a place, and what they decode to. */
    around(at: number, isLong: boolean) {
      const before = wholeBefore(at);
      const first = isLong ? Math.max(0, before - 1) : 0;
      const count = isLong ? Math.min(events.length, before + 2) : events.length;
      return { from: starts[first] ?? 0, to: ends[count - 1] ?? bytes.length, wanted: of(first, count) };
    },
    /** Where the bytes begin that are cut at a place; what they decode to, and what they do where the next event counts as whole. */
    cutAt(at: number, isLong: boolean, ending: 'end' | 'cut') {
      const count = wholeBefore(at);
      const first = isLong ? Math.max(0, count - 1) : 0;
      const ended = (decoded: Decoded) => ({ ...decoded, failed: decoded.failed || ending === 'cut' });
      return { from: starts[first] ?? 0, before: ended(of(first, count)), after: ended(of(first, count + 1)) };
    },
  };
}

/** After the finish reason only the usage is missing: then it is unknown, in whole or in part, and never another. */
function usageFits(got: Usage | null, whole: Usage | null): boolean {
  if (got === null || whole === null) return got === whole || got === null;
  return (Object.keys(whole) as (keyof Usage)[]).every((field) => got[field] === null || got[field] === whole[field]);
}

/** Thirty of them, from everywhere. */
function someOf(places: readonly number[]): number[] {
  const random = seeded(places.length);
  return Array.from({ length: 30 }, () => places[Math.floor(random() * places.length)] ?? 1);
}

function textOf(events: StreamEvent[]): string {
  return events.map((event) => (event.type === 'part-delta' ? event.text : '')).join('');
}

function recordedStreams(format: string): { name: string; lines: string[] }[] {
  const root =
    process.env['ALCOVE_PROVIDER_STREAMS'] ?? resolve(import.meta.dirname, '../../../shared/provider-streams');
  const folder = join(root, format);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => ({
      name: basename(file, '.jsonl'),
      lines: readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    }));
}

/** The lines as a stream whose events are named after their `type`. */
export function namedEvents(lines: string[]): string {
  return lines.map((line) => `event: ${(JSON.parse(line) as { type: string }).type}\ndata: ${line}\n\n`).join('');
}

function memoryHttp(pieces: readonly Uint8Array[], ending: 'end' | 'cut', asked: () => void): MemoryHttp {
  return {
    fetch(_url, { received }) {
      let next = 0;
      const source = {
        pull(controller: ReadableStreamDefaultController<Uint8Array>) {
          asked();
          const piece = pieces[next++];
          if (piece !== undefined) {
            received(piece.length);
            controller.enqueue(new Uint8Array(piece));
          } else if (ending === 'end') controller.close();
          else controller.error(new Error('the connection closed within the body'));
        },
      };
      // Nothing is fetched ahead: a piece is asked for when what came before it has been read.
      const body = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
      return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    },
    close: () => undefined,
  };
}

function everyPlaceIn(length: number): number[] {
  return Array.from({ length: Math.max(0, length - 1) }, (_, index) => index + 1);
}

/** Every place of a stream of up to 8 KB; of a longer one those of its first and last 2 KB, and 200 between. */
function placesIn(length: number, seed: number): number[] {
  const all = everyPlaceIn(length);
  if (length <= longBytes) return all;
  const random = seeded(seed);
  const between = Array.from({ length: 200 }, () => 2048 + Math.floor(random() * (length - 4096)));
  return [...all.slice(0, 2048), ...between, ...all.slice(-2048)];
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
