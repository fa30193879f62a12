/**
 * What real providers sent, where a folder of such recordings is there (ALCOVE_PROVIDER_STREAMS, or one beside the project): one JSON event a
 * line. An adapter must read them the same however their bytes are split, and must not take a part of one for the whole. The bytes come from
 * memory here, so that every single place can be tried.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Http } from '../base/http.ts';
import { aRequest, callsOf, gather } from '../llm/contract.ts';
import type { StreamEnd, StreamEvent } from '../llm/item.ts';
import type { ModelClient } from '../llm/model-stream.ts';

interface RecordedReply {
  name: string;
  bytes: Buffer;
}

/** A network that answers every request with these pieces, then ends the body or cuts it. */
type MemoryHttp = Pick<Http, 'fetch' | 'close'>;

interface RecordingsOptions {
  /** The recordings of one wire format. */
  folder: string;
  /** One recording may hold several replies. */
  replies: (lines: string[]) => string[];
  client: (http: MemoryHttp) => ModelClient;
  /** Stands in the event that completes a reply. */
  finish: RegExp;
  /** `every` place, of long streams those at both ends and 200 between; or a few anywhere. */
  density: 'every' | 'few';
}

export function triedOnRecordings({ folder, replies, client, finish, density }: RecordingsOptions): void {
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

  const answer = async (pieces: Uint8Array[], ending: 'end' | 'cut' = 'end'): Promise<StreamEvent[]> => {
    const one = client(memoryHttp(pieces, ending));
    const events: StreamEvent[] = [];
    for await (const event of one.stream(aRequest(), new AbortController().signal)) events.push(event);
    await one.close();
    return events;
  };

  describe.each(recorded)('recorded: $name', ({ name, bytes }) => {
    const finishAt = finish.exec(bytes.toString('latin1'))?.index ?? Number.NaN;
    /** Just behind the event that completes the reply. */
    const finished = bytes.indexOf('\n\n', finishAt) + 2;
    const places = density === 'every' ? placesIn(bytes.length, name.length) : fewPlacesIn(bytes.length, name.length);

    test('is complete, and the same wherever it is split in two (C12)', { timeout: 60_000 }, async () => {
      const whole = await gather(client(memoryHttp([bytes], 'end')).stream(aRequest(), new AbortController().signal));
      expect(whole.end.type).toBe('done');
      expect(callsOf(whole.end).every((call) => call.problem === null)).toBe(true);
      const events = JSON.stringify(whole.events);
      // Compared as text: a matcher for each of thousands of places would cost minutes.
      for (const at of places) {
        const one = JSON.stringify(await answer([bytes.subarray(0, at), bytes.subarray(at)]));
        if (one !== events) expect.fail(`split at ${at} it reads otherwise: ${one.slice(0, 2000)}`);
      }
    });

    test(
      'is a failure without calls where it was cut, unless its end had come (PR21)',
      { timeout: 60_000 },
      async () => {
        const whole = await answer([bytes]);
        const text = textOf(whole);
        const calls = JSON.stringify(callsOf(whole.at(-1) as StreamEnd));
        for (const at of [...places, finished - 2, finished]) {
          const one = await answer([bytes.subarray(0, at)], at % 2 === 0 ? 'end' : 'cut');
          const end = one.at(-1) as StreamEnd;
          const complete = end.type === 'done' && textOf(one) === text && JSON.stringify(end.calls) === calls;
          const cut = end.type === 'failed' && end.failure.code === 'reply_cut' && text.startsWith(textOf(one));
          // One byte before, the event is there but for its empty line: either is honest.
          if (at >= finished ? !complete : !cut && !(complete && at === finished - 1)) {
            expect.fail(`cut at ${at} of ${finished} it ends as ${JSON.stringify(end)}`);
          }
        }
      },
    );
  });
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

function memoryHttp(pieces: readonly Uint8Array[], ending: 'end' | 'cut'): MemoryHttp {
  return {
    fetch(_url, { received }) {
      let next = 0;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const piece = pieces[next++];
          if (piece !== undefined) {
            received(piece.length);
            controller.enqueue(new Uint8Array(piece));
          } else if (ending === 'end') controller.close();
          else controller.error(new Error('the connection closed within the body'));
        },
      });
      return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    },
    close: () => undefined,
  };
}

/** Every place of a stream of up to 8 KB; of a longer one those of its first and last 2 KB, and 200 between. */
function placesIn(length: number, seed: number): number[] {
  const all = Array.from({ length: Math.max(0, length - 1) }, (_, index) => index + 1);
  if (length <= 8192) return all;
  const random = seeded(seed);
  const between = Array.from({ length: 200 }, () => 2048 + Math.floor(random() * (length - 4096)));
  return [...all.slice(0, 2048), ...between, ...all.slice(-2048)];
}

function fewPlacesIn(length: number, seed: number): number[] {
  const random = seeded(seed);
  return Array.from({ length: 30 }, () => 1 + Math.floor(random() * (length - 1)));
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
