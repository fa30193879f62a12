/** The provider of the bench, read by the program's own adapters: what it says in each format must be what a real one would have said. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../daemon/base/clock.ts';
import { anthropicMessages } from '../../../daemon/llm/formats/anthropic-messages.ts';
import type { Item, ModelRequest, StreamEvent } from '../../../daemon/llm/item.ts';
import type { ModelClient } from '../../../daemon/llm/model-stream.ts';
import { openAiChat } from '../../../daemon/llm/formats/openai-chat.ts';
import { openAiResponses } from '../../../daemon/llm/formats/openai-responses.ts';
import { now } from '../measure.ts';
import { startProvider, type BenchProvider } from './provider.ts';
import { readScript, standingOf } from './script.ts';
import { argumentsFor, shellToolOf, type OfferedTool } from './shell-tool.ts';

let provider: BenchProvider;
beforeAll(async () => {
  provider = await startProvider();
});
beforeEach(() => provider.reset());
afterAll(() => provider.close());

const bash = {
  name: 'bash',
  description: 'Runs a command.',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
};
const options = { provider: 'bench', key: null, keyName: null, clock: systemClock };

const formats: [format: string, client: () => ModelClient][] = [
  ['chat', () => openAiChat({ ...options, baseUrl: `${provider.url}/v1` })],
  ['responses', () => openAiResponses({ ...options, baseUrl: `${provider.url}/v1` })],
  ['messages', () => anthropicMessages({ ...options, baseUrl: provider.url })],
];

function asking(items: Item[], tools = [bash]): ModelRequest {
  return { model: 'scripted', effort: null, system: 'You work.', items, tools };
}

function person(text: string): Item {
  return { type: 'person', parts: [{ type: 'text', text }] };
}

/** A call and its result, as the next request repeats them. */
function step(number: number): Item[] {
  const callId = `call_${number}`;
  return [
    {
      type: 'reply',
      provider: 'bench',
      model: 'scripted',
      pieces: [{ type: 'tool-call', callId, tool: 'bash', argumentsText: '{"command":"echo k"}' }],
    },
    { type: 'result', callId, tool: 'bash', parts: [{ type: 'text', text: `k${number}` }], failed: false },
  ];
}

async function said(client: ModelClient, request: ModelRequest): Promise<{ text: string; end: StreamEvent }> {
  const events: StreamEvent[] = [];
  for await (const event of client.stream(request, new AbortController().signal)) events.push(event);
  await client.close();
  const text = events.flatMap((event) => (event.type === 'part-delta' ? [event.text] : [])).join('');
  return { text, end: events.at(-1) as StreamEvent };
}

describe.each(formats)('in the format %s', (format, client) => {
  test('as many steps as were asked for each call the shell tool, then a text ends the turn', async () => {
    const task = person('STEPS=2 go on');
    const first = await said(client(), asking([task]));
    const second = await said(client(), asking([task, ...step(1)]));
    const last = await said(client(), asking([task, ...step(1), ...step(2)]));
    const call = { tool: 'bash', arguments: { command: 'echo k' }, problem: null };
    expect(first.end).toMatchObject({ type: 'done', stop: 'tool-calls', calls: [call] });
    expect(second.end).toMatchObject({ type: 'done', stop: 'tool-calls', calls: [call] });
    expect(last.end).toMatchObject({ type: 'done', stop: 'end', calls: [] });
    expect(last.text).toMatch(/^@\d+@ word0 /);
    const requests = await provider.requests();
    expect(requests.map(({ step, lastResult, side }) => ({ step, lastResult, side }))).toEqual([
      { step: 0, lastResult: null, side: false },
      { step: 1, lastResult: 'k1', side: false },
      { step: 2, lastResult: 'k2', side: false },
    ]);
  });

  test('it tells what a request held and when it came, began to be answered and was', async () => {
    const before = now();
    await said(client(), asking([person('CHUNKS=1')]));
    const after = now();
    const [request] = await provider.requests();
    expect(request).toMatchObject({ format, toolCount: 1, systemBytes: expect.any(Number), outcome: 'answered' });
    const { arrivedAt, firstByteAt, endedAt, bodyBytes, systemBytes, toolsBytes } = request!;
    const moments = [before, arrivedAt, firstByteAt, endedAt, after];
    expect(moments).toEqual(moments.toSorted((a, b) => a - b));
    expect(systemBytes).toBeGreaterThanOrEqual('You work.'.length);
    expect(toolsBytes).toBeGreaterThan(JSON.stringify(bash.parameters).length);
    expect(bodyBytes).toBeGreaterThan(systemBytes + toolsBytes);
  });

  test('a text comes in as many pieces as were asked for, each with the moment it was sent, no sooner than its gap', async () => {
    const asked = now();
    const { text } = await said(client(), asking([person('CHUNKS=5 DELAY=4 BYTES=60')]));
    const stamps = [...text.matchAll(/@(\d+)@/g)].map(([, at]) => Number(at));
    expect(stamps).toHaveLength(5);
    expect(text).toHaveLength(5 * 60);
    // From when it was asked for: on a busy machine the first may come late, and the others hurry after it.
    for (const [place, at] of stamps.entries()) expect(at - asked).toBeGreaterThanOrEqual(place * 4000 - 2000);
  });

  test('a command of ones own is run once', async () => {
    const task = person(`CMD=${Buffer.from('sleep 30; echo "ä"').toString('base64')}`);
    const first = await said(client(), asking([task]));
    expect(first.end).toMatchObject({ calls: [{ arguments: { command: 'sleep 30; echo "ä"' } }] });
    expect((await said(client(), asking([task, ...step(1)]))).end).toMatchObject({ stop: 'end', calls: [] });
  });

  test('a request without tools is answered shortly and marked', async () => {
    const { text } = await said(client(), asking([person('STEPS=3')], []));
    expect(text).toBe('A short title');
    expect(await provider.requests()).toMatchObject([{ side: true, toolCount: 0, toolsBytes: 0 }]);
  });
});

test('a client that leaves in the middle of a text is told as such', async () => {
  const leaving = new AbortController();
  const client = openAiChat({ ...options, baseUrl: `${provider.url}/v1` });
  for await (const event of client.stream(asking([person('CHUNKS=100000 DELAY=2')]), leaving.signal))
    if (event.type === 'part-delta') leaving.abort();
  await client.close();
  await expect.poll(() => provider.requests()).toMatchObject([{ outcome: 'left' }]);
});

test.each(['chat/completions', 'responses', 'messages'])(
  'who wants no stream gets the reply whole: %s',
  async (path) => {
    const post = async (body: object) => {
      const response = await fetch(`${provider.url}/v1/${path}`, { method: 'POST', body: JSON.stringify(body) });
      return { type: response.headers.get('content-type'), text: await response.text() };
    };
    const asked = { role: 'user', content: 'STEPS=1' };
    const tools =
      path === 'chat/completions'
        ? [{ type: 'function', function: bash }]
        : [{ ...bash, input_schema: bash.parameters }];
    const whole = await post({ model: 'scripted', messages: [asked], input: [asked], tools });
    expect(whole.type).toBe('application/json');
    expect(whole.text).toContain('echo k');
    const title = await post({ model: 'scripted', messages: [asked], input: [asked] });
    expect(title.text).toContain('A short title');
  },
);

describe('the words', () => {
  test('the newest message of the user that holds any counts, and in it the last of each', () => {
    const standing = standingOf([
      { by: 'user', text: 'STEPS=5' },
      { by: 'tool', text: 'old' },
      { by: 'user', text: 'a reminder: STEPS=1\nSTEPS=2 CHUNKS=3' },
      { by: 'tool', text: 'k' },
      { by: 'user', text: 'words of the agent itself' },
    ]);
    expect(standing).toMatchObject({ step: 1, lastResult: 'k', script: { steps: 2, chunks: 3, command: 'echo k' } });
  });

  test('words in the quotes of an agent count', () => {
    expect(readScript('"STEPS=20 go on"\n')).toMatchObject({ steps: 20 });
  });

  test('without any, a short text', () => {
    expect(readScript('Hello')).toEqual({ steps: 0, command: 'echo k', chunks: 4, delayMs: 0, chunkBytes: 0 });
  });
});

describe('the shell tool', () => {
  const offered = (name: string, schema: object = {}): OfferedTool => ({
    name,
    kind: 'function',
    namespace: null,
    schema,
  });

  test('is found under the names that agents give it, and under no other', () => {
    for (const name of ['bash', 'Bash', 'shell', 'exec_command', 'run_shell_command'])
      expect(shellToolOf([offered('read'), offered('bash_output'), offered(name)])?.name).toBe(name);
    expect(shellToolOf([offered('read'), offered('kill_bash')])).toBeNull();
  });

  test('gets its command as text or list, and what else it insists on', () => {
    const schema = {
      properties: {
        command: { type: 'array' },
        description: { type: 'string' },
        timeout: { type: 'number' },
        background: { type: 'boolean' },
        mode: { enum: ['foreground', 'background'] },
      },
      required: ['command', 'description', 'background', 'mode'],
    };
    expect(argumentsFor(offered('shell', schema), 'echo k')).toEqual({
      command: ['bash', '-lc', 'echo k'],
      description: 'run the step',
      background: false,
      mode: 'foreground',
    });
  });
});
