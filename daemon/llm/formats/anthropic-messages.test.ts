/** The Anthropic Messages adapter: the acceptance suite of all adapters, then what is this format's own, then recorded streams where they are. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { messagesError, messagesEvents, messagesReply, startAnthropicServer } from '../../testing/anthropic-server.ts';
import { namedEvents, triedOnRecordings } from '../../testing/recorded-streams.ts';
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
import { anthropicMessages, messagesFormat } from './anthropic-messages.ts';
import { acceptance, aRequest, callsOf, gather, person, type Gathered } from './contract.ts';
import { messagesBody, type MessagesBody } from './anthropic-messages-request.ts';
import type { Item, ModelRequest, ReplyPiece } from '../item.ts';

const clock = { now: () => Date.parse('2026-12-01T10:00:00Z') };

describe('Anthropic Messages keeps the contract of adapters', () => {
  acceptance<Reply>({
    format: 'anthropic-messages',
    start: () => startAnthropicServer(),
    client: ({ baseUrl, key, idleMs }) =>
      anthropicMessages({ provider: 'scripted', baseUrl, key, keyName: 'SCRIPTED_KEY', idleMs, clock }),
    play: {
      text: (text) => messagesReply({ text }),
      reasoningThenText: (thinking, text) => messagesReply({ thinking, text }),
      calls: (calls) => messagesReply({ calls }),
      unfinished: (text) => messagesReply({ text, stop: null }),
      unfinishedCall: (tool, argumentsText) => messagesReply({ calls: [{ tool, argumentsText }], stop: null }),
      withoutUsage: (text) => messagesReply({ text, usage: null }),
      errorInStream: (text) =>
        eventReply([...messagesEvents({ text, stop: null }), messagesError('api_error', 'upstream broke')]),
      status: (status, message, headers) => errorReply(status, { type: 'some_error', message }, headers),
      contextFull: () =>
        errorReply(400, {
          type: 'invalid_request_error',
          message: 'prompt is too long: 210000 tokens > 200000 maximum',
        }),
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

describe('the events of a reply', () => {
  test('blocks of tools that the vendor runs, and kinds nobody knows, are passed over', async () => {
    const block = (index: number, content: unknown, delta: unknown) => [
      { type: 'content_block_start', index, content_block: content },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ];
    const got = await answerTo(
      eventReply(
        [
          { type: 'message_start', message: {} },
          ...block(
            0,
            { type: 'server_tool_use', id: 's', name: 'web', input: {} },
            { type: 'input_json_delta', partial_json: '{' },
          ),
          ...block(1, { type: 'web_search_tool_result', content: [] }, { type: 'new_delta', text: 'x' }),
          ...block(2, { type: 'text', text: 'fo' }, { type: 'text_delta', text: 'und' }),
          ...block(2, { type: 'something_new' }, { type: 'citations_delta' }),
          { type: 'weather_report' },
          7,
          { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
          { type: 'message_stop' },
        ].map((event) => (typeof event === 'number' ? { type: 'number' } : event)),
      ),
    );
    expect(got).toMatchObject({ text: 'found', end: { type: 'done', stop: 'end', calls: [] } });
  });

  test('interleaved blocks are told apart by their index, and arguments sent at once are read (PR21)', async () => {
    const json = (index: number, partial_json: string) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json },
    });
    const start = (index: number, id: string, input: unknown = {}) => ({
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id, name: 'read', input },
    });
    const got = await answerTo(
      eventReply([
        start(0, 'a'),
        start(1, 'b'),
        json(1, '{"path":'),
        json(0, '{"path":"a"'),
        json(1, '"b"}'),
        json(0, '}'),
        start(2, 'c', { path: 'c' }),
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      ]),
    );
    expect(callsOf(got.end).map((call) => [call.providerCallId, call.arguments])).toEqual([
      ['a', { path: 'a' }],
      ['b', { path: 'b' }],
      ['c', { path: 'c' }],
    ]);
  });

  test.each([
    ['end_turn', 'end'],
    ['stop_sequence', 'end'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refusal'],
    ['pause_turn', 'other'],
  ])('stop reason %s is %s', async (reason, stop) => {
    expect((await answerTo(messagesReply({ text: 'x', stop: reason }))).end).toMatchObject({ type: 'done', stop });
  });

  test('a call that the limit cut off before its arguments is not run', async () => {
    const got = await answerTo(messagesReply({ calls: [{ tool: 'wipe', argumentsText: '' }], stop: 'max_tokens' }));
    expect(got.end).toMatchObject({ type: 'done', stop: 'length', calls: [{ problem: expect.any(String) as string }] });
  });

  test('usage counts cached tokens into the input, of start and end the larger number (PR22, C13)', async () => {
    const got = await answerTo(
      messagesReply({
        text: 'x',
        startUsage: {
          input_tokens: 1,
          cache_read_input_tokens: 42_320,
          cache_creation_input_tokens: 1774,
          output_tokens: 2,
        },
        usage: { input_tokens: 0, output_tokens: 113, output_tokens_details: { thinking_tokens: 7 } },
      }),
    );
    expect(got.end).toMatchObject({
      usage: { input: 44_095, output: 113, cacheRead: 42_320, cacheWrite: 1774, reasoning: 7 },
    });
  });

  test('of a cut reply the input is known, the output is not zero but unknown (PR22)', async () => {
    const got = await answerTo(
      messagesReply({ text: 'x', stop: null, startUsage: { input_tokens: 9, output_tokens: 1 } }),
    );
    expect(got.end).toMatchObject({
      type: 'failed',
      usage: { input: 9, output: null, cacheRead: null, cacheWrite: null, reasoning: null },
    });
  });

  test.each([
    ['overloaded_error', 'Overloaded', 'provider_failed', true],
    ['rate_limit_error', 'slower', 'rate_limited', true],
    ['invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum', 'context_full', false],
    ['invalid_request_error', 'input length and `max_tokens` exceed context limit: 9 + 8 > 10', 'context_full', false],
    ['invalid_request_error', 'no', 'provider_refused', false],
    ['authentication_error', 'no', 'unauthorized', false],
    ['not_found_error', 'model: x', 'model_unknown', false],
    ['request_too_large', 'no', 'context_full', false],
  ])('the error %s in mid-stream (%s) is %s', async (type, message, code, retryable) => {
    const got = await answerTo(eventReply([{ type: 'message_start', message: {} }, messagesError(type, message)]));
    expect(got.end).toMatchObject({ type: 'failed', failure: { code }, retryable });
  });

  test('overloaded before the stream is a matter of waiting, as long as it says (RT17)', async () => {
    const got = await answerTo(
      errorReply(529, { type: 'overloaded_error', message: 'Overloaded' }, { 'retry-after': '3' }),
    );
    expect(got.end).toMatchObject({ failure: { code: 'provider_failed' }, retryable: true, retryAfterMs: 3000 });
  });
});

describe('reasoning', () => {
  const asked: ModelRequest = { ...aRequest(), model: 'claude-opus-4-6', effort: 'high' };

  test('comes with what its vendor wants back, and goes back word for word (US6)', async () => {
    const got = await answerTo(
      messagesReply({ thinking: ['h', 'm'], signature: 'c2ln', redacted: 'c2VjcmV0', text: 'so' }),
    );
    const signatures = got.events.flatMap((event) => (event.type === 'part-ended' ? [event.signature ?? null] : []));
    expect(signatures).toEqual(['anthropic:c2ln', 'anthropic-redacted:c2VjcmV0', null]);
    const items = [person('a'), thinker('scripted', 'claude-opus-4-6-20260205', signatures), person('b')];
    const { body } = await requestOf({ ...asked, items });
    expect(body.messages[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'c2VjcmV0' },
        { type: 'text', text: 'so' },
      ],
    });
  });

  test.each([
    ['another provider', 'other', 'claude-opus-4-6', ['anthropic:s', 'anthropic-redacted:s']],
    ['another model', 'scripted', 'claude-opus-4-5', ['anthropic:s', 'anthropic-redacted:s']],
    ['another format', 'scripted', 'claude-opus-4-6', ['reasoning_content', 'responses:{}']],
    ['a reply that was cut', 'scripted', 'claude-opus-4-6', [null, null]],
  ])('of %s is left out (US6)', async (_, provider, model, signatures) => {
    const { body } = await requestOf({ ...asked, items: [person('a'), thinker(provider, model, signatures)] });
    expect(body.messages[1]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'so' }] });
  });

  test('that nothing follows is left out', async () => {
    const alone = thinker('scripted', 'claude-opus-4-6', ['anthropic:s']);
    alone.pieces = alone.pieces.filter((piece) => piece.type === 'reasoning');
    const { body } = await requestOf({ ...asked, items: [person('a'), alone, person('b')] });
    expect(body.messages.map((message) => message.role)).toEqual(['user']);
  });

  test.each([
    [
      'claude-opus-4-6',
      'low',
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    ],
    ['claude-sonnet-4-6', 'xhigh', { output_config: { effort: 'high' } }],
    ['claude-opus-5', 'xhigh', { output_config: { effort: 'xhigh' } }],
    ['claude-mythos-preview', 'low', { output_config: { effort: 'low' } }],
    ['claude-opus-5', 'off', { thinking: { type: 'disabled' } }],
    [
      'claude-sonnet-4-5-20250929',
      'high',
      { thinking: { type: 'enabled', budget_tokens: 16_384 }, max_tokens: 64_000 },
    ],
    ['claude-opus-4-1', 'xhigh', { thinking: { type: 'enabled', budget_tokens: 16_000 }, max_tokens: 32_000 }],
    ['claude-3-7-sonnet-latest', 'low', { thinking: { type: 'enabled', budget_tokens: 2048 } }],
    ['somebody-else', 'medium', { thinking: { type: 'enabled', budget_tokens: 8192 }, max_tokens: 16_384 }],
  ] as const)('effort on %s: %s (PR7)', async (model, effort, fields) => {
    expect((await requestOf({ ...aRequest(), model, effort })).body).toMatchObject(fields);
  });

  test('an old model is asked for none, a new one not unless somebody chose', async () => {
    const old = await requestOf({ ...aRequest(), model: 'claude-3-5-haiku-latest', effort: 'high' });
    expect(old.body).not.toHaveProperty('thinking');
    expect(old.body.max_tokens).toBe(8192);
    expect((await requestOf({ ...asked, effort: null })).body).not.toHaveProperty('thinking');
  });

  test('a budget is not asked for in an exchange that another model began (US6)', async () => {
    const begun = (piece: Item & { type: 'reply' }): Item[] => [
      person('a'),
      {
        ...piece,
        pieces: [...piece.pieces, { type: 'tool-call', callId: 'cal_1', tool: 'read', argumentsText: '{}' }],
      },
      { type: 'result', callId: 'cal_1', tool: 'read', parts: [], failed: false },
    ];
    const model = 'claude-sonnet-4-5';
    const request = { ...asked, model };
    const own = await requestOf({ ...request, items: begun(thinker('scripted', model, ['anthropic:s'])) });
    expect(own.body.thinking).toMatchObject({ type: 'enabled' });
    const foreign = begun(thinker('other', model, ['anthropic:s']));
    expect((await requestOf({ ...request, items: foreign })).body).not.toHaveProperty('thinking');
    const later = await requestOf({ ...request, items: [...foreign, thinker('other', model, []), person('b')] });
    expect(later.body.thinking).toMatchObject({ type: 'enabled' });
  });
});

describe('requests', () => {
  test('say what the format wants to hear (PR1)', async () => {
    const picture = { type: 'image', mediaType: 'image/png', base64: 'AAAA' } as const;
    const items: Item[] = [
      { type: 'person', parts: [{ type: 'text', text: 'look' }, picture, { ...picture, mediaType: 'image/tiff' }] },
      {
        type: 'reply',
        provider: 'scripted',
        model: 'test-model',
        pieces: [
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', callId: 'cal_1', tool: 'read', argumentsText: '{"path":"a.png"}' },
          { type: 'tool-call', callId: 'cal.2', tool: 'read', argumentsText: '{}' },
        ],
      },
      {
        type: 'result',
        callId: 'cal_1',
        tool: 'read',
        parts: [{ type: 'text', text: 'here' }, picture],
        failed: false,
      },
      { type: 'result', callId: 'cal.2', tool: 'read', parts: [{ type: 'text', text: ' ' }], failed: true },
      person('and now?'),
    ];
    const tools = ['read', 'write'].map((name) => ({ name, description: name, parameters: { type: 'object' } }));
    const { body, headers, path } = await requestOf({ ...aRequest(items, tools), model: 'm' });
    expect(path).toBe('/v1/messages');
    expect(headers).toMatchObject({
      'x-api-key': 'sk-secret',
      'anthropic-version': '2023-06-01',
      'user-agent': 'alcove',
    });
    expect(Object.keys(headers).filter((name) => /stainless|authorization|beta/.test(name))).toEqual([]);
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const cache_control = { type: 'ephemeral' };
    expect(body).toEqual({
      model: 'm',
      max_tokens: 16_384,
      stream: true,
      system: [{ type: 'text', text: 'You are a test.', cache_control }],
      tools: [
        { name: 'read', description: 'read', input_schema: { type: 'object' } },
        { name: 'write', description: 'write', input_schema: { type: 'object' }, cache_control },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            image,
            { type: 'text', text: expect.stringContaining('image/tiff') as string, cache_control },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'cal_1', name: 'read', input: { path: 'a.png' } },
            { type: 'tool_use', id: 'cal_2', name: 'read', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'cal_1', content: [{ type: 'text', text: 'here' }, image] },
            {
              type: 'tool_result',
              tool_use_id: 'cal_2',
              content: [{ type: 'text', text: '(No output.)' }],
              is_error: true,
            },
            { type: 'text', text: 'and now?', cache_control },
          ],
        },
      ],
    });
  });

  test('the next request repeats this one word for word up to its mark, so that a cache hits', async () => {
    const tools = [{ name: 'read', description: 'r', parameters: { type: 'object' } }];
    const reply = thinker('scripted', 'test-model', ['anthropic:s']);
    const first = (await requestOf(aRequest([person('a'), reply, person('b')], tools))).body;
    const next = (await requestOf(aRequest([person('a'), reply, person('b'), reply, person('c')], tools))).body;
    const unmarked = (value: unknown) => JSON.stringify(value).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
    expect({ system: next.system, tools: next.tools }).toEqual({ system: first.system, tools: first.tools });
    expect(unmarked(next.messages.slice(0, 3))).toBe(unmarked(first.messages));
    expect(next.messages.map((message) => JSON.stringify(message).includes('cache_control'))).toEqual([
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  test('the length limit of the settings comes before ours', async () => {
    const server = await startAnthropicServer();
    onTestFinished(() => server.close());
    const client = anthropicMessages({
      provider: 'p',
      baseUrl: `${server.url}/v1`,
      key: null,
      keyName: null,
      clock,
      maxOutputTokens: () => 1000,
    });
    onTestFinished(() => client.close());
    server.enqueue(messagesReply({ text: 'x' }));
    await gather(client.stream({ ...aRequest(), effort: 'high' }, new AbortController().signal));
    const { body, path, headers } = await server.request(1);
    expect(path).toBe('/v1/messages');
    expect(headers).not.toHaveProperty('x-api-key');
    expect(body).toMatchObject({ max_tokens: 1000 });
    expect(body).not.toHaveProperty('thinking');
  });
});

describe('recorded streams', () => {
  triedOnRecordings({
    folder: 'anthropic-messages',
    replies: (lines) => [namedEvents(lines)],
    format: messagesFormat,
    finish: /"stop_reason":"/,
  });
});

function thinker(provider: string, model: string, signatures: readonly (string | null)[]): Item & { type: 'reply' } {
  const texts = ['hm', ''];
  return {
    type: 'reply',
    provider,
    model,
    pieces: [
      ...texts.map((text, index) => ({
        type: 'reasoning' as const,
        text,
        ...(typeof signatures[index] === 'string' && { signature: signatures[index] }),
      })),
      { type: 'text', text: 'so' },
    ],
  };
}

async function answerTo(reply: Reply): Promise<Gathered> {
  const { server, client } = await begin();
  server.enqueue(reply);
  return await gather(client.stream(aRequest(), new AbortController().signal));
}

async function requestOf(request: ModelRequest) {
  const { server, client } = await begin();
  server.enqueue(messagesReply({ text: 'ok' }));
  await gather(client.stream(request, new AbortController().signal));
  return await server.request(1);
}

async function begin() {
  const server = await startAnthropicServer();
  const client = anthropicMessages({
    provider: 'scripted',
    baseUrl: server.url,
    key: 'sk-secret',
    keyName: null,
    clock,
  });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return { server, client };
}

describe('PR16: what the vendor has read is kept', () => {
  /** As the vendor does it: what stands before a mark is kept; a request reads the longest such beginning, twenty blocks before its own marks at most. */
  function vendor() {
    const kept = new Set<string>();
    return (body: MessagesBody): { read: number; blocks: number } => {
      const blocks: { text: string; marked: boolean }[] = [];
      const add = (role: string, block: object) => {
        const { cache_control: mark, ...rest } = block as { cache_control?: unknown };
        blocks.push({ text: JSON.stringify([role, rest]), marked: mark !== undefined });
      };
      for (const tool of body.tools ?? []) add('tool', tool);
      for (const block of body.system ?? []) add('system', block);
      for (const { role, content } of body.messages) for (const block of content) add(role, block);
      const upTo = (end: number) => blocks.slice(0, end).map(({ text }) => text).join('\n'); // prettier-ignore
      let read = 0;
      for (const [place, { marked }] of blocks.entries()) {
        if (!marked) continue;
        for (let end = place + 1; end > Math.max(0, place + 1 - 20); end -= 1) {
          if (kept.has(upTo(end))) read = Math.max(read, end);
        }
      }
      for (const [place, { marked }] of blocks.entries()) if (marked) kept.add(upTo(place + 1));
      return { read, blocks: blocks.length };
    };
  }
  const tools = ['write', 'read'].map((name) => ({ name, description: name, parameters: { type: 'object' } }));
  const request = (items: Item[], hints: string): ModelRequest => ({ ...aRequest(items, tools), hints });
  const call = (id: string): ReplyPiece => ({ type: 'tool-call', callId: id, tool: 'read', argumentsText: '{}' });
  const reply = (...pieces: ReplyPiece[]): Item => ({ type: 'reply', provider: 'p', model: 'test-model', pieces });
  const result = (callId: string): Item => ({ type: 'result', callId, tool: 'read', parts: [], failed: false });
  const bodyOf = (items: Item[], hints: string) => messagesBody(request(items, hints), 'p', null);

  test('PR16: the same request again is read from what was kept, all but the hints', () => {
    const ask = vendor();
    expect(ask(bodyOf([person('a')], 'Mode: ask'))).toEqual({ read: 0, blocks: 5 });
    expect(ask(bodyOf([person('a')], 'Mode: ask'))).toEqual({ read: 4, blocks: 5 });
  });

  test('PR16: another day or mode changes nothing of what is kept', () => {
    const ask = vendor();
    const first = [person('a')];
    const second = [...first, reply({ type: 'text', text: 'b' }), person('c')];
    const third = [...second, reply(call('x')), result('x')];
    ask(bodyOf(first, 'Today: Monday. Mode: ask'));
    expect(ask(bodyOf(second, 'Today: Tuesday. Mode: auto')).read).toBe(4);
    expect(ask(bodyOf(third, 'Today: Tuesday. Mode: ask')).read).toBe(6);
  });

  test('PR16: more results in one reply than the vendor looks back over are no miss', () => {
    const ask = vendor();
    const ids = Array.from({ length: 30 }, (_, place) => `c${place}`);
    const items = [person('a')];
    ask(bodyOf(items, 'x'));
    items.push(reply(...ids.map(call)), ...ids.map(result));
    expect(ask(bodyOf(items, 'x')).read).toBe(4);
    items.push(reply({ type: 'text', text: 'done' }), person('next'));
    expect(ask(bodyOf(items, 'x')).read).toBe(4 + 60);
  });

  test('PR16: an hour is asked for where the settings say so, at every mark', () => {
    const body = messagesBody(request([person('a')], ''), 'p', null, '1h');
    const marks = JSON.stringify(body).match(/"cache_control":\{[^}]*\}/g);
    expect(new Set(marks)).toEqual(new Set(['"cache_control":{"type":"ephemeral","ttl":"1h"}']));
    expect(marks).toHaveLength(3);
  });
});
