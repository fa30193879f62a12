/**
 * The OpenAI Chat Completions adapter: the acceptance suite of all adapters, then what is this format's own: how vendors continue calls, where
 * they put reasoning and usage, how they say no. Recorded vendor streams are tried where a folder of them is there.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  callDelta,
  chatReply,
  chunkReply,
  delta,
  finish,
  startOpenAiServer,
  usageChunk,
} from '../../testing/openai-server.ts';
import {
  bytes,
  bytesOf,
  bytesReply,
  errorReply,
  followedBy,
  splitAt,
  truncated,
  type Reply,
} from '../../testing/wire-server.ts';
import { triedOnRecordings } from '../../testing/recorded-streams.ts';
import { acceptance, aRequest, callsOf, gather, person, type Gathered } from './contract.ts';
import type { Item, ModelRequest, ReplyPiece } from '../item.ts';
import { chatFormat, openAiChat } from './openai-chat.ts';
import { chatBody } from './openai-chat-request.ts';

const clock = { now: () => Date.parse('2026-12-01T10:00:00Z') };

describe('OpenAI Chat Completions keeps the contract of adapters', () => {
  acceptance<Reply>({
    format: 'openai-chat',
    start: () => startOpenAiServer(),
    client: ({ baseUrl, key, idleMs }) =>
      openAiChat({ provider: 'scripted', baseUrl, key, keyName: 'SCRIPTED_KEY', idleMs, clock }),
    play: {
      text: (text) => chatReply({ text }),
      reasoningThenText: (reasoning, text) => chatReply({ reasoning, text }),
      calls: (calls) => chatReply({ calls: calls.map((call) => ({ tool: call.tool, arguments: call.argumentsText })) }),
      unfinished: (text) => chunkReply([delta({ role: 'assistant', content: text })], { done: false }),
      unfinishedCall: (tool, argumentsText) =>
        chunkReply([callDelta({ index: 0, id: 'c1', function: { name: tool, arguments: argumentsText } })]),
      withoutUsage: (text) => chatReply({ text, usage: null }),
      errorInStream: (text) =>
        chunkReply([delta({ content: text }), { error: { message: 'upstream broke', type: 'server_error' } }]),
      status: (status, message, headers) => errorReply(status, { message }, headers),
      contextFull: () => errorReply(400, { message: 'too long', code: 'context_length_exceeded' }),
      cut: (reply) => followedBy(reply, { act: 'wait', ms: 20 }, { act: 'cut' }),
      hang: (reply) => followedBy(reply, { act: 'hang' }),
      hangAtOnce: () => bytesReply([{ act: 'hang' }]),
      length: (reply) => bytesOf(reply).length,
      upTo: (reply, length) => truncated(reply, length, 'end'),
      byteByByte: (reply) => splitAt(reply, offsets(bytesOf(reply).length)),
    },
  });
});

describe('tool calls', () => {
  test('the same index with a new id is a new call (C11)', async () => {
    expect(
      await callsFrom([
        { index: 0, id: 'call_a', function: { name: 'read_file', arguments: '{"path":"a"}' } },
        { index: 0, id: 'call_b', function: { name: 'read_file', arguments: '{"path":"b"}' } },
      ]),
    ).toEqual([
      ['call_a', 'read_file', { path: 'a' }],
      ['call_b', 'read_file', { path: 'b' }],
    ]);
  });

  test('continuations at a shared index go to the call opened last there (C11)', async () => {
    expect(
      await callsFrom([
        { index: 0, id: 'a', function: { name: 'read', arguments: '{"pa' } },
        { index: 0, function: { arguments: 'th":"a"}' } },
        { index: 0, id: 'b', function: { name: 'read', arguments: '' } },
        { index: 0, function: { name: '', arguments: '{"path":"b"}' } },
      ]),
    ).toEqual([
      ['a', 'read', { path: 'a' }],
      ['b', 'read', { path: 'b' }],
    ]);
  });

  test('interleaved pieces of three calls give three calls in the order first seen (PR21)', async () => {
    expect(
      await callsFrom([
        { index: 2, id: 'c', function: { name: 'three', arguments: '{"n"' } },
        { index: 0, id: 'a', function: { name: 'one', arguments: '{"n"' } },
        { index: 1, id: 'b', function: { name: 'two', arguments: '{"n"' } },
        { index: 0, function: { arguments: ':1}' } },
        { index: 2, function: { arguments: ':3}' } },
        { index: 1, function: { arguments: ':2}' } },
      ]),
    ).toEqual([
      ['c', 'three', { n: 3 }],
      ['a', 'one', { n: 1 }],
      ['b', 'two', { n: 2 }],
    ]);
  });

  test('an id repeated on every piece continues its call', async () => {
    expect(
      await callsFrom([
        { index: 0, id: 'a', function: { name: 'read', arguments: '{"path"' } },
        { index: 0, id: 'a', function: { name: 'read', arguments: ':"a"}' } },
      ]),
    ).toEqual([['a', 'read', { path: 'a' }]]);
  });

  test('pieces without id and index continue the latest call', async () => {
    expect(
      await callsFrom([
        { id: 'a', function: { name: 'read', arguments: '{"path"' } },
        { function: { arguments: ':"a"}' } },
        { id: 'b', function: { name: 'read', arguments: '{}' } },
      ]),
    ).toEqual([
      ['a', 'read', { path: 'a' }],
      ['b', 'read', {}],
    ]);
  });

  test('whole calls without any id are calls of their own, and an id that comes late belongs to its call', async () => {
    expect(
      await callsFrom([
        { index: 0, function: { name: 'read', arguments: '{"path":"a"}' } },
        { index: 0, function: { name: 'read', arguments: { path: 'b' } } },
        { index: 1, function: { name: 'list' } },
        { index: 1, id: 'late', function: { arguments: '{}' } },
      ]),
    ).toEqual([
      [null, 'read', { path: 'a' }],
      [null, 'read', { path: 'b' }],
      ['late', 'list', {}],
    ]);
  });

  test('a call that never got a name makes the reply malformed, and none of the others runs', async () => {
    const got = await answerTo(
      chunkReply([
        callDelta({ index: 0, id: 'a', function: { name: 'read', arguments: '{}' } }),
        callDelta({ index: 1, id: 'b', function: { arguments: '{}' } }),
        finish('tool_calls'),
      ]),
    );
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'reply_malformed' }, retryable: false });
  });

  test('calls ended by the word stop are calls; those ended by the length limit without arguments are not run', async () => {
    const stopped = await answerTo(chatReply({ calls: [{ tool: 'read', arguments: '{}' }], finish: 'stop' }));
    expect(stopped.end).toMatchObject({ type: 'done', stop: 'tool-calls', calls: [{ problem: null }] });
    const cut = await answerTo(chatReply({ calls: [{ tool: 'wipe', arguments: '' }], finish: 'length' }));
    expect(cut.end).toMatchObject({ type: 'done', stop: 'length', calls: [{ problem: expect.any(String) as string }] });
  });
});

describe('the end of a reply', () => {
  test('a reply that has its finish reason is done, though the connection was cut before usage and end (PR22)', async () => {
    const reply = chunkReply([delta({ content: 'all' }), finish('stop')], { done: false });
    const got = await answerTo(followedBy(reply, { act: 'wait', ms: 20 }, { act: 'cut' }));
    expect(got).toMatchObject({ text: 'all', end: { type: 'done', stop: 'end', usage: null } });
  });

  test('usage that came before the cut is kept', async () => {
    const got = await answerTo(
      chunkReply([delta({ content: 'half' }), usageChunk({ prompt_tokens: 7, completion_tokens: 1 })]),
    );
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'reply_cut' }, usage: { input: 7, output: 1 } });
  });

  test.each([
    ['length', 'length'],
    ['content_filter', 'refusal'],
    ['stop', 'end'],
    ['something_new', 'other'],
  ])('finish reason %s is %s', async (reason, stop) => {
    expect((await answerTo(chatReply({ text: 'x', finish: reason }))).end).toMatchObject({ type: 'done', stop });
  });

  test('finish reason error is a failed reply, and a refusal is text with its own reason', async () => {
    const failed = await answerTo(chatReply({ finish: 'error' }));
    expect(failed.end).toMatchObject({ type: 'failed', failure: { code: 'provider_failed' }, retryable: true });
    const refused = await answerTo(chunkReply([delta({ refusal: 'I will not.' }), finish('stop')]));
    expect(refused).toMatchObject({ text: 'I will not.', end: { type: 'done', stop: 'refusal' } });
  });

  test('an error object in the stream is judged by its code: a vendor puts the status there', async () => {
    const got = await answerTo(chunkReply([{ error: { code: 429, message: 'upstream is busy' } }]));
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'rate_limited' }, retryable: true });
    const full = await answerTo(chunkReply([{ error: { message: 'exceeds the available context size' } }]));
    expect(full.end).toMatchObject({ type: 'failed', failure: { code: 'context_full' }, retryable: false });
  });

  test('what is not JSON, and what is no stream at all, is malformed', async () => {
    const garbled = await answerTo(bytesReply([bytes('data: {"choices": [}\n\n')]));
    expect(garbled.end).toMatchObject({ type: 'failed', failure: { code: 'reply_malformed' } });
    const page = await answerTo({
      status: 200,
      headers: { 'content-type': 'text/html' },
      acts: [bytes('<h1>Hi</h1>')],
    });
    expect(page.end).toMatchObject({ type: 'failed', failure: { code: 'reply_malformed' }, retryable: false });
    expect(page.end).toMatchObject({ failure: { message: expect.stringContaining('text/html') as string } });
  });

  test('comments, foreign chunks and CRLF line ends are passed over', async () => {
    const lines = [
      ': keep alive',
      '',
      'data: 5',
      '',
      'data: {"choices":null}',
      '',
      `data: ${JSON.stringify(delta({ content: 'ok' }))}`,
    ];
    const text = [...lines, '', `data: ${JSON.stringify(finish('stop'))}`, '', 'data: [DONE]', '', ''].join('\r\n');
    const reply = bytesReply([bytes(text)]);
    for (const at of [[], offsets(bytesOf(reply).length)]) {
      expect(await answerTo(splitAt(reply, at))).toMatchObject({ text: 'ok', end: { type: 'done' } });
    }
  });
});

describe('usage', () => {
  test.each([
    [
      'cached and reasoning tokens are parts',
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 80, cache_write_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      { input: 100, output: 50, cacheRead: 80, cacheWrite: 5, reasoning: 20 },
    ],
    [
      'what is not reported is unknown',
      { prompt_tokens: 100, completion_tokens: -1, prompt_tokens_details: null },
      { input: 100, output: null, cacheRead: null, cacheWrite: null, reasoning: null },
    ],
    [
      'reasoning that a vendor counts beside its output is counted in',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 22, completion_tokens_details: { reasoning_tokens: 7 } },
      { input: 10, output: 12, cacheRead: null, cacheWrite: null, reasoning: 7 },
    ],
  ])('%s (PR22)', async (_, wire, usage) => {
    const got = await answerTo(chatReply({ text: 'x', usage: wire }));
    expect(got.end).toMatchObject({ type: 'done', usage });
  });
});

describe('refusals', () => {
  test.each([
    [
      'an empty account is not a matter of waiting',
      429,
      { message: 'm', code: 'insufficient_quota' },
      'provider_refused',
      false,
    ],
    [
      'the vendor’s words alone: Gemini',
      400,
      { message: 'The input token count (9) exceeds the maximum' },
      'context_full',
      false,
    ],
    [
      'the vendor’s words alone: vLLM',
      400,
      { message: "This model's maximum context length is 8 tokens" },
      'context_full',
      false,
    ],
    [
      'the vendor’s words alone: xAI',
      400,
      { message: 'This model’s maximum prompt length is 8' },
      'context_full',
      false,
    ],
    ['413', 413, 'Request too large', 'context_full', false],
    ['a model that is not there, by code', 400, { message: 'm', code: 'model_not_found' }, 'model_unknown', false],
    [
      'too many tokens a minute is no full context',
      429,
      { message: 'exceeds the context window' },
      'rate_limited',
      true,
    ],
  ])('%s', async (_, status, error, code, retryable) => {
    expect((await answerTo(errorReply(status, error))).end).toMatchObject({
      type: 'failed',
      failure: { code },
      retryable,
    });
  });

  test.each([
    ['Mistral', '{"object":"error","message":"vendor words","code":"3000"}'],
    ['Gemini', '[{"error":{"code":400,"message":"vendor words"}}]'],
    ['FastAPI', '{"detail":"vendor words"}'],
    ['a proxy', '<html><style>b{}</style><h1>vendor</h1> words</html>'],
  ])('the words of %s are found', async (_, body) => {
    const got = await answerTo({ status: 400, headers: {}, acts: [bytes(body)] });
    expect(got.end).toMatchObject({ failure: { message: expect.stringContaining('vendor words') as string } });
  });

  test('a refusal without end is read only so far', async () => {
    const got = await answerTo({ status: 500, headers: {}, acts: [bytes('x'.repeat(200_000)), { act: 'hang' }] });
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'provider_failed' } });
  });

  test('a Retry-After date without the provider’s own date is read by our clock (RT17)', async () => {
    const headers = { date: 'not a date', 'retry-after': 'Tue, 01 Dec 2026 10:00:05 GMT' };
    expect((await answerTo(errorReply(503, { message: 'm' }, headers))).end).toMatchObject({ retryAfterMs: 5000 });
  });
});

describe('requests', () => {
  test('say what the format wants to hear (PR1)', async () => {
    const items: Item[] = [
      {
        type: 'person',
        parts: [
          { type: 'text', text: 'look' },
          { type: 'image', mediaType: 'image/png', base64: 'AAAA' },
        ],
      },
      {
        type: 'reply',
        provider: 'scripted',
        model: 'm',
        pieces: [
          { type: 'reasoning', text: 'private' },
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', callId: 'cal_1', tool: 'read', argumentsText: '{"path":"a.png"}' },
          { type: 'tool-call', callId: 'cal_2', tool: 'read', argumentsText: '{"path":"b"}' },
        ],
      },
      {
        type: 'result',
        callId: 'cal_1',
        tool: 'read',
        parts: [{ type: 'image', mediaType: 'image/png', base64: 'BBBB' }],
        failed: false,
      },
      { type: 'result', callId: 'cal_2', tool: 'read', parts: [{ type: 'text', text: 'no such file' }], failed: true },
      { type: 'reply', provider: 'scripted', model: 'm', pieces: [{ type: 'reasoning', text: 'only thought' }] },
      person('and now?'),
    ];
    const read = { name: 'read', description: 'Reads.', parameters: { type: 'object' } };
    const { body, headers, path } = await requestOf({ ...aRequest(items, [read]), effort: 'high' });
    expect(path).toBe('/v1/chat/completions');
    expect(headers.authorization).toBe('Bearer sk-secret');
    expect(Object.keys(headers).filter((name) => /stainless|openai/.test(name))).toEqual([]);
    expect(body).toEqual({
      model: 'test-model',
      stream: true,
      stream_options: { include_usage: true },
      reasoning_effort: 'high',
      tools: [{ type: 'function', function: read }],
      messages: [
        { role: 'system', content: 'You are a test.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 'c00000001', type: 'function', function: { name: 'read', arguments: '{"path":"a.png"}' } },
            { id: 'c00000002', type: 'function', function: { name: 'read', arguments: '{"path":"b"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c00000001', content: '(The result is the picture that follows.)' },
        { role: 'tool', tool_call_id: 'c00000002', content: 'no such file' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'From the result of read (call c00000001):' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,BBBB' } },
          ],
        },
        { role: 'user', content: 'and now?' },
      ],
    });
  });

  test('reasoning goes back to the provider that made it, within the running exchange, and to no other (PR1)', async () => {
    const call = (provider: string, callId: string): Item[] => [
      {
        type: 'reply',
        provider,
        model: 'm',
        pieces: [
          { type: 'reasoning', text: `thought of ${provider}`, signature: 'reasoning_content' },
          { type: 'tool-call', callId, tool: 'read', argumentsText: '{}' },
        ],
      },
      { type: 'result', callId, tool: 'read', parts: [], failed: false },
    ];
    const items = [
      person('a'),
      ...call('scripted', 'cal_1'),
      person('b'),
      ...call('scripted', 'cal_2'),
      ...call('other', 'cal_3'),
    ];
    const { body } = await requestOf(aRequest(items));
    const sent = body.messages
      .filter((message) => message.role === 'assistant')
      .map((message) => message.reasoning_content);
    expect(sent).toEqual([undefined, 'thought of scripted', undefined]);
  });

  test('reasoning that must go back is marked as it arrives', async () => {
    const marked = await answerTo(chatReply({ reasoning: 'hm', text: 'x' }));
    expect(marked.events).toContainEqual({ type: 'part-ended', key: 'reasoning-1', signature: 'reasoning_content' });
    const unmarked = await answerTo(chatReply({ reasoning: 'hm', reasoningField: 'reasoning', text: 'x' }));
    expect(unmarked).toMatchObject({ reasoning: 'hm', text: 'x' });
    expect(unmarked.events).toContainEqual({ type: 'part-ended', key: 'reasoning-1' });
  });

  test('without a key no Authorization is sent, whatever the environment holds', async () => {
    process.env['OPENAI_API_KEY'] = 'sk-from-the-environment';
    onTestFinished(() => {
      delete process.env['OPENAI_API_KEY'];
    });
    const { headers, body } = await requestOf(aRequest(), null);
    expect(headers.authorization).toBeUndefined();
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('reasoning_effort');
  });
});

describe('bytes may be split anywhere', () => {
  const small = chatReply({
    reasoning: 'hm 漢',
    text: ['Hé', '🙂'],
    calls: [{ tool: 'read', arguments: { path: 'ä' }, pieces: 3 }],
  });

  test('at every single place of a small stream (C12)', async () => {
    const whole = await answerTo(small);
    const length = bytesOf(small).length;
    const got = await answersTo(offsets(length).map((at) => splitAt(small, [at])));
    for (const one of got) expect(one).toEqual(whole);
  });

  test('cut at every single place: calls run only once the finish reason has arrived (PR21)', async () => {
    const whole = await answerTo(small);
    const length = bytesOf(small).length;
    const mark = Buffer.from(bytesOf(small)).indexOf('"finish_reason":"tool_calls"');
    const finished = Buffer.from(bytesOf(small)).indexOf('\n\n', mark);
    const places = offsets(length).filter((at) => at % 7 === 0 || Math.abs(at - finished) < 8);
    const got = await answersTo(places.map((at) => truncated(small, at, 'end')));
    for (const [index, one] of got.entries()) {
      const at = places[index]!;
      if (at <= finished) expect(one.end).toMatchObject({ type: 'failed', failure: { code: 'reply_cut' } });
      if (at >= finished + 2) expect(callsOf(one.end)).toEqual(callsOf(whole.end));
    }
  });
});

describe('recorded vendor streams', () => {
  triedOnRecordings({
    folder: 'openai-chat',
    replies: (lines) => [[...lines, '[DONE]'].map((line) => `data: ${line}\n\n`).join('')],
    format: chatFormat,
    finish: /"finish_reason":"/,
  });
});

async function answerTo(reply: Reply): Promise<Gathered> {
  return (await answersTo([reply]))[0]!;
}

/** One after the other through one client, as a session would ask. */
async function answersTo(replies: Reply[]): Promise<Gathered[]> {
  const server = await startOpenAiServer();
  const client = openAiChat({
    provider: 'scripted',
    baseUrl: server.url,
    key: null,
    keyName: null,
    idleMs: 10_000,
    clock,
  });
  try {
    const got: Gathered[] = [];
    for (const reply of replies) {
      server.enqueue(reply);
      got.push(await gather(client.stream(aRequest(), new AbortController().signal)));
    }
    return got;
  } finally {
    await client.close();
    await server.close();
  }
}

async function callsFrom(pieces: Record<string, unknown>[]): Promise<unknown[]> {
  const got = await answerTo(chunkReply([...pieces.map(callDelta), finish('tool_calls')]));
  expect(got.end.type).toBe('done');
  return callsOf(got.end).map((call) => [call.providerCallId, call.tool, call.arguments]);
}

async function requestOf(request: ModelRequest, key: string | null = 'sk-secret') {
  const server = await startOpenAiServer();
  const client = openAiChat({ provider: 'scripted', baseUrl: server.url, key, keyName: null, clock });
  try {
    server.enqueue(chatReply({ text: 'ok' }));
    await gather(client.stream(request, new AbortController().signal));
    return await server.request(1);
  } finally {
    await client.close();
    await server.close();
  }
}

function offsets(length: number): number[] {
  return Array.from({ length: length - 1 }, (_, index) => index + 1);
}

test('US6: a model that wants reasoning beside every call of the running exchange gets that of another, or a word for it', () => {
  const reply = (callId: string, pieces: ReplyPiece[]): Item => ({
    type: 'reply',
    provider: 'other',
    model: 'claude',
    pieces: [...pieces, { type: 'tool-call', callId, tool: 'read', argumentsText: '{}' }],
  });
  const result = (callId: string): Item => ({ type: 'result', callId, tool: 'read', parts: [], failed: false });
  const items: Item[] = [
    person('go'),
    reply('cal_1', [{ type: 'reasoning', text: 'hm', signature: 'anthropic:x' }]),
    result('cal_1'),
    reply('cal_2', []),
    result('cal_2'),
  ];
  const sent = (model: string) =>
    chatBody({ ...aRequest(items), model }, 'deepseek').messages.flatMap((message) =>
      message.role === 'assistant' ? [message.reasoning_content] : [],
    );
  expect(sent('deepseek-reasoner')).toEqual(['hm', '(No reasoning was given.)']);
  expect(sent('gpt-4.1')).toEqual([undefined, undefined]);
});
