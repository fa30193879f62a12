/** The OpenAI Responses adapter: the acceptance suite of all adapters, then what is this format's own, then recorded streams where they are. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { namedEvents, triedOnRecordings } from '../../testing/recorded-streams.ts';
import { responsesEvents, responsesReply, startResponsesServer } from '../../testing/responses-server.ts';
import {
  bytesOf,
  bytesReply,
  errorReply,
  eventReply,
  followedBy,
  splitAt,
  type Reply,
  truncated,
} from '../../testing/wire-server.ts';
import { acceptance, aRequest, gather, person, type Gathered } from './contract.ts';
import type { Item, ModelRequest } from '../item.ts';
import { openAiResponses, responsesFormat } from './openai-responses.ts';
import { responsesBody } from './openai-responses-request.ts';

const clock = { now: () => Date.parse('2026-12-01T10:00:00Z') };

describe('OpenAI Responses keeps the contract of adapters', () => {
  acceptance<Reply>({
    format: 'openai-responses',
    start: () => startResponsesServer(),
    client: ({ baseUrl, key, idleMs }) =>
      openAiResponses({ provider: 'scripted', baseUrl, key, keyName: 'SCRIPTED_KEY', idleMs, clock }),
    play: {
      text: (text) => responsesReply({ text }),
      reasoningThenText: (reasoning, text) => responsesReply({ reasoning, text }),
      calls: (calls) => responsesReply({ calls }),
      unfinished: (text) => eventReply(responsesEvents({ text, end: null }).slice(0, -1)),
      unfinishedCall: (tool, argumentsText) => responsesReply({ calls: [{ tool, argumentsText }], end: null }),
      withoutUsage: (text) => responsesReply({ text, usage: null }),
      errorInStream: (text) =>
        eventReply([
          ...responsesEvents({ text, end: null }),
          { type: 'response.failed', response: { error: { code: 'server_error', message: 'upstream broke' } } },
        ]),
      status: (status, message, headers) => errorReply(status, { message }, headers),
      contextFull: () => errorReply(400, { message: 'too long', code: 'context_length_exceeded' }),
      cut: (reply) => followedBy(reply, { act: 'wait', ms: 20 }, { act: 'cut' }),
      hang: (reply) => followedBy(reply, { act: 'hang' }),
      hangAtOnce: () => bytesReply([{ act: 'hang' }]),
      length: (reply) => bytesOf(reply).length,
      upTo: (reply, length) => truncated(reply, length, 'end'),
      byteByByte: (reply) =>
        splitAt(
          reply,
          Array.from({ length: bytesOf(reply).length - 1 }, (_, index) => index + 1),
        ),
    },
  });
});

test.each([
  [{ type: 'response.incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
  [{ type: 'response.incomplete', incomplete_details: { reason: 'content_filter' } }, 'refusal'],
  [{ type: 'response.completed' }, 'end'],
])('the end %o is %s', async (end, stop) => {
  expect((await answerTo(responsesReply({ text: 'x', end }))).end).toMatchObject({ type: 'done', stop });
});

test('a refusal is text with its own reason; errors of both shapes are judged by their code', async () => {
  const refusal = await answerTo(
    eventReply([
      { type: 'response.refusal.delta', output_index: 0, delta: 'I will not.' },
      { type: 'response.completed', response: {} },
    ]),
  );
  expect(refusal).toMatchObject({ text: 'I will not.', end: { type: 'done', stop: 'refusal' } });
  const flat = await answerTo(eventReply([{ type: 'error', code: 'rate_limit_exceeded', message: 'slower' }]));
  expect(flat.end).toMatchObject({ failure: { code: 'rate_limited' }, retryable: true });
  const within = await answerTo(eventReply([{ type: 'error', error: { code: 'insufficient_quota', message: 'm' } }]));
  expect(within.end).toMatchObject({ failure: { code: 'provider_refused' }, retryable: false });
});

test('usage holds cached and reasoning tokens as parts (PR22)', async () => {
  const usage = {
    input_tokens: 100,
    output_tokens: 50,
    input_tokens_details: { cached_tokens: 80 },
    output_tokens_details: { reasoning_tokens: 20 },
  };
  expect((await answerTo(responsesReply({ text: 'x', usage }))).end).toMatchObject({
    usage: { input: 100, output: 50, cacheRead: 80, cacheWrite: null, reasoning: 20 },
  });
});

test('encrypted reasoning goes back to who made it, and to nobody else; calls and results by call_id (PR1, US6)', async () => {
  const got = await answerTo(responsesReply({ reasoning: 'hm', encrypted: 'gAAA', text: 'so' }));
  const signature = got.events.flatMap((event) =>
    event.type === 'part-ended' && event.signature !== undefined ? [event.signature] : [],
  )[0]!;
  const turn = (provider: string): Item[] => [
    person('a'),
    {
      type: 'reply',
      provider,
      model: 'gpt-5',
      pieces: [
        { type: 'reasoning', text: 'hm', signature },
        { type: 'tool-call', callId: 'cal_1', tool: 'read', argumentsText: '{}' },
      ],
    },
    {
      type: 'result',
      callId: 'cal_1',
      tool: 'read',
      parts: [{ type: 'image', mediaType: 'image/png', base64: 'AAAA' }],
      failed: false,
    },
  ];
  const request = { ...aRequest(), model: 'gpt-5', effort: 'high' } as const;
  const { body, path } = await requestOf({ ...request, items: turn('scripted') });
  expect(path).toBe('/v1/responses');
  const call = { type: 'function_call', call_id: 'cal_1', name: 'read', arguments: '{}' };
  expect(body).toEqual({
    model: 'gpt-5',
    stream: true,
    store: false,
    instructions: 'You are a test.',
    input: [
      { role: 'user', content: 'a' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'gAAA' },
      call,
      {
        type: 'function_call_output',
        call_id: 'cal_1',
        output: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' }],
      },
    ],
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high', summary: 'auto' },
  });
  expect((await requestOf({ ...request, items: turn('other') })).body.input[1]).toEqual(call);
});

describe('recorded streams', () => {
  triedOnRecordings({
    folder: 'openai-responses',
    // One recording holds several responses.
    replies: (lines) => {
      const over = /"type":"response\.(completed|failed)"/;
      const ends = lines.flatMap((line, index) => (over.test(line) ? [index + 1] : []));
      return ends.map((end, index) => namedEvents(lines.slice(ends[index - 1] ?? 0, end)));
    },
    format: responsesFormat,
    finish: /event: (error|response\.completed|response\.failed)/,
  });
});

async function answerTo(reply: Reply): Promise<Gathered> {
  const { server, client } = await begin();
  server.enqueue(reply);
  return await gather(client.stream(aRequest(), new AbortController().signal));
}

async function requestOf(request: ModelRequest) {
  const { server, client } = await begin();
  server.enqueue(responsesReply({ text: 'ok' }));
  await gather(client.stream(request, new AbortController().signal));
  return await server.request(1);
}

async function begin() {
  const server = await startResponsesServer();
  const client = openAiResponses({ provider: 'scripted', baseUrl: server.url, key: 'sk-secret', keyName: null, clock });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return { server, client };
}

test('PR16: what changes stands last, and the requests of a session share the name by which they are kept', () => {
  const items = [person('a')];
  const body = (hints: string) => responsesBody({ ...aRequest(items), hints, session: 'ses_1' }, 'p', null);
  const [monday, tuesday] = [body('Today: Monday'), body('Today: Tuesday')];
  expect(monday.prompt_cache_key).toBe('ses_1');
  expect(monday.input.slice(0, -1)).toEqual(tuesday.input.slice(0, -1));
  expect([monday.instructions, monday.tools]).toEqual([tuesday.instructions, tuesday.tools]);
  expect(tuesday.input.at(-1)).toEqual({ role: 'developer', content: 'Today: Tuesday' });
});
