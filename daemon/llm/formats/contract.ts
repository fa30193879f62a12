/**
 * The acceptance suite of every wire adapter, run against a real server on loopback that speaks the adapter's format by script. What it asks
 * is the contract of model-stream.ts and nothing of one format; an adapter's own tests ask for the rest. A subject brings the adapter and a
 * server with words for what the suite wants played.
 */
import { expect, onTestFinished, test } from 'vitest';
import type { Item, ModelRequest, StreamEnd, StreamEvent, ToolOffer } from '../item.ts';
import type { ModelClient } from '../model-stream.ts';

export interface WireSubject<Reply> {
  /** Its name in `describe`. */
  format: string;
  start(): Promise<WireServer<Reply>>;
  client(options: { baseUrl: string; key: string | null; idleMs: number }): ModelClient;
  play: {
    text(pieces: string[]): Reply;
    reasoningThenText(reasoning: string, text: string): Reply;
    calls(calls: { tool: string; argumentsText: string }[]): Reply;
    /** A text that has begun, with neither finish reason nor end: what follows is up to the suite. */
    unfinished(text: string): Reply;
    unfinishedCall(tool: string, argumentsText: string): Reply;
    withoutUsage(text: string): Reply;
    /** A text that has begun, then an error in the stream. */
    errorInStream(text: string): Reply;
    status(status: number, message: string, headers: Record<string, string>): Reply;
    /** The vendor's way of saying that the request is too large for the model. */
    contextFull(): Reply;
    cut(reply: Reply): Reply;
    hang(reply: Reply): Reply;
    hangAtOnce(): Reply;
    /** How many bytes it has, and the same reply with its body ended after so many. */
    length(reply: Reply): number;
    upTo(reply: Reply, bytes: number): Reply;
    /** The same bytes, each as a write of its own. */
    byteByByte(reply: Reply): Reply;
  };
}

export interface WireServer<Reply> {
  readonly url: string;
  readonly requests: readonly { body: unknown }[];
  readonly connections: number;
  enqueue(...replies: Reply[]): void;
  request(count: number): Promise<unknown>;
  quiet(): Promise<void>;
  close(): Promise<void>;
}

/** Everything a stream said, gathered. */
export interface Gathered {
  events: StreamEvent[];
  end: StreamEnd;
  text: string;
  reasoning: string;
}

const idleMs = 20_000;
const key = 'sk-test-0123456789abcdef';

export function acceptance<Reply>(subject: WireSubject<Reply>): void {
  const { play } = subject;

  async function begin(options: { idleMs?: number } = {}) {
    const server = await subject.start();
    const client = subject.client({ baseUrl: server.url, key, idleMs: options.idleMs ?? idleMs });
    onTestFinished(async () => {
      await client.close();
      await server.close();
    });
    return { server, client };
  }

  async function answerTo(reply: Reply, options: { idleMs?: number } = {}): Promise<Gathered> {
    const { server, client } = await begin(options);
    server.enqueue(reply);
    return await gather(client.stream(aRequest(), new AbortController().signal));
  }

  test('a text arrives in its pieces and ends done', async () => {
    const got = await answerTo(play.text(['Hel', 'lo ', 'you']));
    expect(got.text).toBe('Hello you');
    expect(got.end).toMatchObject({ type: 'done', stop: 'end', calls: [] });
    expect(got.events.filter((event) => event.type === 'part-delta')).toHaveLength(3);
  });

  test('every part that starts ends before done, and no delta stands outside its part', async () => {
    const got = await answerTo(play.reasoningThenText('hm', 'so'));
    expect(got).toMatchObject({ reasoning: 'hm', text: 'so', end: { type: 'done' } });
    expect(shape(got.events)).toEqual(['start', 'delta', 'end', 'start', 'delta', 'end', 'done']);
  });

  test('calls come whole, in order, and only in done (PR21)', async () => {
    const calls = [
      { tool: 'read', argumentsText: '{"path":"a"}' },
      { tool: 'write', argumentsText: '{"path":"b","content":"c"}' },
    ];
    const got = await answerTo(play.calls(calls));
    expect(got.end).toMatchObject({
      type: 'done',
      stop: 'tool-calls',
      calls: [
        { tool: 'read', argumentsText: '{"path":"a"}', arguments: { path: 'a' }, problem: null },
        { tool: 'write', arguments: { path: 'b', content: 'c' }, problem: null },
      ],
    });
    const announced = got.events.flatMap((event) =>
      event.type === 'part-started' && event.kind === 'tool-call' ? [{ key: event.key, tool: event.tool }] : [],
    );
    expect(callsOf(got.end).map(({ key, tool }) => ({ key, tool }))).toEqual(announced);
  });

  test('PR20: a reply that is one call of an offered tool, written as text, is that call; of an unknown tool it stays text', async () => {
    const tools = [{ name: 'read', description: 'reads', parameters: { type: 'object' } }];
    const asked = async (pieces: string[]) => {
      const { server, client } = await begin();
      server.enqueue(play.text(pieces));
      return await gather(client.stream(aRequest([person('go')], tools), new AbortController().signal));
    };
    const found = await asked(['{"name":"read","argu', 'ments":{"path":"a"}}']);
    expect(found.end).toMatchObject({ stop: 'tool-calls', calls: [{ tool: 'read', arguments: { path: 'a' } }] });
    const unknown = await asked(['{"name":"wipe","arguments":{}}']);
    expect(unknown).toMatchObject({ text: '{"name":"wipe","arguments":{}}', end: { stop: 'end', calls: [] } });
    expect((await asked(['Look: {"name":"read","arguments":{}}'])).end).toMatchObject({ stop: 'end', calls: [] });
  });

  test('arguments that are no JSON object are a problem of that call alone (PR21)', async () => {
    const texts = ['{"path":', '[1]', '"a"', 'null', '', '{"path":"ok"}'];
    const got = await answerTo(play.calls(texts.map((argumentsText) => ({ tool: 'read', argumentsText }))));
    const problems = callsOf(got.end).map((call) => call.problem !== null);
    expect(problems).toEqual([true, true, true, true, false, false]);
    expect(callsOf(got.end).map((call) => call.arguments)).toEqual([{}, {}, {}, {}, {}, { path: 'ok' }]);
  });

  test('characters of several bytes survive being split between bytes, in text and in arguments (C12)', async () => {
    const text = await answerTo(play.byteByByte(play.text(['ein Zeichen: 漢', '🙂, ', 'é'])));
    expect(text).toMatchObject({ text: 'ein Zeichen: 漢🙂, é', end: { type: 'done' } });
    const argumentsText = JSON.stringify({ path: '漢字/🙂.txt' });
    const call = await answerTo(play.byteByByte(play.calls([{ tool: 'read', argumentsText }])));
    expect(callsOf(call.end)[0]?.arguments).toEqual({ path: '漢字/🙂.txt' });
  });

  test('a stream whose connection is cut at any byte is whole or failed, never half a reply that says it is done', async () => {
    const { server, client } = await begin();
    const whole = play.calls([{ tool: 'read', argumentsText: '{"path":"漢"}' }]);
    const length = play.length(whole);
    const ends = new Set<string>();
    for (let at = 0; at <= length; at += 1) {
      server.enqueue(play.upTo(whole, at));
      const got = await gather(client.stream(aRequest(), new AbortController().signal));
      if (got.end.type === 'done')
        expect(callsOf(got.end)).toMatchObject([{ arguments: { path: '漢' }, problem: null }]);
      else expect(got.end).toMatchObject({ type: 'failed' });
      ends.add(got.end.type);
    }
    expect([...ends].sort()).toEqual(['done', 'failed']);
  }, 30_000);

  test('no delta ends inside a character', async () => {
    const got = await answerTo(play.text(['a\uD83D', '\uDE42b']));
    expect(got.text).toBe('a🙂b');
    for (const event of got.events) if (event.type === 'part-delta') expect(event.text).not.toMatch(/[\uD800-\uDBFF]$/);
  });

  test('a huge delta arrives whole', async () => {
    const huge = 'x'.repeat(3 * 1024 * 1024);
    const got = await answerTo(play.text([huge]));
    expect(got.text.length).toBe(huge.length);
    expect(got.end.type).toBe('done');
  });

  test('a reply whose usage never came is done with usage unknown, not zero (PR22, C13)', async () => {
    const got = await answerTo(play.withoutUsage('hello'));
    expect(got.end).toMatchObject({ type: 'done', usage: null });
  });

  test('a connection cut in mid-reply is a failed reply, not to be repeated once something was shown', async () => {
    const got = await answerTo(play.cut(play.unfinished('half a se')));
    expect(got.text).toBe('half a se');
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'reply_cut' }, retryable: false, usage: null });
  });

  test('a stream that ends quietly before the reply is complete is a failed reply', async () => {
    const got = await answerTo(play.unfinished('half a se'));
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'reply_cut' }, retryable: false });
  });

  test('a cut reply runs none of its calls, whole as they may look (PR21)', async () => {
    const got = await answerTo(play.unfinishedCall('write', '{"path":"a","content":"b"}'));
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'reply_cut' }, retryable: false });
    expect(got.end).not.toHaveProperty('calls');
  });

  test('an error in mid-stream fails the reply and keeps what was said (RT15)', async () => {
    const got = await answerTo(play.errorInStream('so far'));
    expect(got.text).toBe('so far');
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'provider_failed' }, retryable: false });
  });

  test.each([
    [401, 'unauthorized', false],
    [403, 'unauthorized', false],
    [404, 'model_unknown', false],
    [400, 'provider_refused', false],
    [422, 'provider_refused', false],
    [408, 'provider_failed', true],
    [409, 'provider_failed', true],
    [429, 'rate_limited', true],
    [500, 'provider_failed', true],
    [503, 'provider_failed', true],
    [529, 'provider_failed', true],
  ] as const)('status %i is %s, and a repeat may help: %s (RT15, RT17)', async (status, code, retryable) => {
    const got = await answerTo(play.status(status, 'the words of the vendor', {}));
    expect(got.end).toMatchObject({ type: 'failed', failure: { code }, retryable, retryAfterMs: null, usage: null });
    expect(messageOf(got.end)).toContain('the words of the vendor');
  });

  test('a provider that says how long to wait is heard: seconds, a date, milliseconds (RT17)', async () => {
    const wait = async (headers: Record<string, string>) => {
      const { end } = await answerTo(play.status(429, 'slower', headers));
      return end.type === 'failed' ? end.retryAfterMs : undefined;
    };
    expect(await wait({ 'retry-after': '7' })).toBe(7000);
    expect(await wait({ 'retry-after': '1.5' })).toBe(1500);
    expect(await wait({ 'retry-after-ms': '250', 'retry-after': '7' })).toBe(250);
    const dates = { date: 'Tue, 01 Dec 2026 10:00:00 GMT', 'retry-after': 'Tue, 01 Dec 2026 10:00:30 GMT' };
    expect(await wait(dates)).toBe(30_000);
    expect(await wait({ 'retry-after': 'soon' })).toBe(null);
    // An overloaded vendor is heard too.
    const { end } = await answerTo(play.status(529, 'overloaded', { 'retry-after': '3' }));
    expect(end).toMatchObject({ type: 'failed', retryable: true, retryAfterMs: 3000 });
  });

  test('a request larger than the model is told apart from other refusals', async () => {
    const got = await answerTo(play.contextFull());
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'context_full' }, retryable: false });
  });

  test('a redirect is refused, and its target sees neither request nor key', async () => {
    const target = await subject.start();
    onTestFinished(() => target.close());
    const got = await answerTo(play.status(307, '', { location: `${target.url}/elsewhere` }));
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'provider_refused' }, retryable: false });
    expect(target.requests).toHaveLength(0);
  });

  test('the key stands in no message, even where the provider repeats it', async () => {
    const got = await answerTo(play.status(401, `bad key ${key}; sent as Bearer ${key}`, {}));
    expect(JSON.stringify(got.end)).not.toContain(key);
  });

  test('silence beyond the limit ends timed out, before and within a reply', async () => {
    const before = await answerTo(play.hangAtOnce(), { idleMs: 150 });
    expect(before.end).toMatchObject({ type: 'failed', failure: { code: 'timed_out' }, retryable: true });
    const within = await answerTo(play.hang(play.unfinished('half')), { idleMs: 150 });
    expect(within.end).toMatchObject({ type: 'failed', failure: { code: 'timed_out' }, retryable: false });
  });

  test('our own slowness is not taken for the silence of the provider', async () => {
    const { server, client } = await begin({ idleMs: 150 });
    server.enqueue(play.text(['a', 'b', 'c']));
    let last: StreamEvent | null = null;
    for await (const event of client.stream(aRequest(), new AbortController().signal)) {
      if (event.type === 'part-started') await new Promise((resolve) => setTimeout(resolve, 400));
      last = event;
    }
    expect(last).toMatchObject({ type: 'done' });
  });

  test('a provider that cannot be reached is said to be so', async () => {
    const server = await subject.start();
    await server.close();
    const client = subject.client({ baseUrl: server.url, key, idleMs });
    const got = await gather(client.stream(aRequest(), new AbortController().signal));
    await client.close();
    expect(got.end).toMatchObject({ type: 'failed', failure: { code: 'provider_unreachable' }, retryable: true });
  });

  test('abort ends the stream at once and frees the connection', async () => {
    const { server, client } = await begin();
    server.enqueue(play.hang(play.unfinished('half')));
    const abort = new AbortController();
    const events: StreamEvent[] = [];
    let began = 0;
    for await (const event of client.stream(aRequest(), abort.signal)) {
      events.push(event);
      if (event.type !== 'part-delta') continue;
      began = performance.now();
      abort.abort();
    }
    expect(performance.now() - began).toBeLessThan(1000);
    expect(events.at(-1)).toEqual({ type: 'aborted', usage: null });
    await server.quiet();
  });

  test('abort before the answer ends the stream too, and an aborted signal asks nothing', async () => {
    const { server, client } = await begin();
    server.enqueue(play.hangAtOnce());
    const abort = new AbortController();
    const running = gather(client.stream(aRequest(), abort.signal));
    await server.request(1);
    abort.abort();
    expect((await running).events).toEqual([{ type: 'aborted', usage: null }]);
    const later = await gather(client.stream(aRequest(), abort.signal));
    expect(later.events).toEqual([{ type: 'aborted', usage: null }]);
    expect(server.requests).toHaveLength(1);
  });

  test('a reader that leaves early takes the connection with it', async () => {
    const { server, client } = await begin();
    server.enqueue(play.hang(play.unfinished('half')));
    for await (const event of client.stream(aRequest(), new AbortController().signal)) {
      if (event.type === 'part-delta') break;
    }
    await server.quiet();
  });

  test('one connection serves request after request; after close none is left, and running replies have ended (PR30)', async () => {
    const { server, client } = await begin();
    server.enqueue(play.text(['a']), play.text(['b']), play.hang(play.unfinished('half')));
    const signal = new AbortController().signal;
    await gather(client.stream(aRequest(), signal));
    await gather(client.stream(aRequest(), signal));
    expect(server.connections).toBe(1);
    const running = gather(client.stream(aRequest(), signal));
    await server.request(3);
    await client.close();
    await client.close();
    expect((await running).end.type).toBe('aborted');
    await server.quiet();
    expect((await gather(client.stream(aRequest(), signal))).end.type).toBe('aborted');
  });

  test('two replies at once do not mix', async () => {
    const { server, client } = await begin();
    server.enqueue(play.byteByByte(play.text(['one'])), play.byteByByte(play.text(['two'])));
    const signal = new AbortController().signal;
    const both = await Promise.all([
      gather(client.stream(aRequest(), signal)),
      gather(client.stream(aRequest(), signal)),
    ]);
    expect(both.map((got) => got.text).sort()).toEqual(['one', 'two']);
  });

  test('a failed request is asked once: repeating is for others to decide (RT17)', async () => {
    const { server, client } = await begin();
    server.enqueue(play.status(500, 'no', {}));
    await gather(client.stream(aRequest(), new AbortController().signal));
    expect(server.requests).toHaveLength(1);
  });
}

export function aRequest(items: Item[] = [person('hello')], tools: ToolOffer[] = []): ModelRequest {
  return { model: 'test-model', effort: null, system: 'You are a test.', items, tools };
}

export function person(text: string): Item {
  return { type: 'person', parts: [{ type: 'text', text }] };
}

/** Reads a stream to its end and checks what must hold of every stream. */
export async function gather(stream: AsyncIterable<StreamEvent>): Promise<Gathered> {
  const events: StreamEvent[] = [];
  for await (const event of stream) events.push(event);
  const ends = events.filter((event): event is StreamEnd => isEnd(event));
  expect(ends).toHaveLength(1);
  const end = ends[0];
  if (end === undefined || events.at(-1) !== end) throw new Error('the end is not the last event');
  const open = new Map<string, string>();
  const seen = new Set<string>();
  const texts = { text: '', reasoning: '', 'tool-call': '' };
  for (const event of events) {
    switch (event.type) {
      case 'part-started':
        expect(seen).not.toContain(event.key);
        seen.add(event.key);
        open.set(event.key, event.kind);
        break;
      case 'part-delta': {
        const kind = open.get(event.key);
        expect(kind === 'text' || kind === 'reasoning').toBe(true);
        texts[kind as 'text' | 'reasoning'] += event.text;
        break;
      }
      case 'part-ended':
        expect(open.delete(event.key)).toBe(true);
        break;
      case 'done':
        expect([...open]).toEqual([]);
        break;
      case 'failed':
      case 'aborted':
        break;
    }
  }
  return { events, end, text: texts.text, reasoning: texts.reasoning };
}

export function callsOf(end: StreamEnd) {
  return end.type === 'done' ? end.calls : [];
}

function isEnd(event: StreamEvent): event is StreamEnd {
  return event.type === 'done' || event.type === 'failed' || event.type === 'aborted';
}

function messageOf(end: StreamEnd): string {
  return end.type === 'failed' ? end.failure.message : '';
}

function shape(events: StreamEvent[]): string[] {
  const words = { 'part-started': 'start', 'part-delta': 'delta', 'part-ended': 'end' } as const;
  return events.map((event) => (isEnd(event) ? event.type : words[event.type]));
}
