/**
 * The same work over each wire format: twenty steps with calls in parallel, run by the command line against a provider on loopback that speaks
 * the format and demands what the vendor demands. Each log folds to the same conversation.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MessagesBody } from '../../daemon/llm/anthropic-messages-request.ts';
import type { ResponsesBody } from '../../daemon/llm/openai-responses-request.ts';
import { messagesReply, startAnthropicServer } from '../../daemon/testing/anthropic-server.ts';
import { chatReply, startOpenAiServer, type ChatBody } from '../../daemon/testing/openai-server.ts';
import { responsesReply, startResponsesServer } from '../../daemon/testing/responses-server.ts';
import type { Reply, WireServer } from '../../daemon/testing/wire-server.ts';
import { callsOf, eventsIn, House, report, secretKey, soundFold, textIn } from './house.ts';

/** One reply in no format's words. */
interface Said {
  thought?: string;
  text?: string;
  calls?: { tool: string; arguments: Record<string, unknown> }[];
}

/** What a request says of calls and results, in order: `+id` a call, `-id` its result. */
type Marks = string[];

interface Format {
  name: 'openai-chat' | 'anthropic-messages' | 'openai-responses';
  start(): Promise<WireServer<unknown>>;
  reply(said: Said): Reply;
  marks(body: unknown): Marks;
}

const texts = (said: Said) =>
  (said.calls ?? []).map((one) => ({ tool: one.tool, argumentsText: JSON.stringify(one.arguments) }));

const formats: Format[] = [
  {
    name: 'openai-chat',
    start: startOpenAiServer,
    reply: ({ thought, text, calls }) =>
      chatReply({ ...(thought && { reasoning: thought }), ...(text && { text }), ...(calls && { calls }) }),
    marks: (body) =>
      (body as ChatBody).messages.flatMap((message) =>
        message.role === 'tool'
          ? [`-${message.tool_call_id ?? ''}`]
          : (message.tool_calls ?? []).map(({ id }) => `+${id}`),
      ),
  },
  {
    name: 'anthropic-messages',
    start: startAnthropicServer,
    reply: (said) =>
      messagesReply({
        ...(said.thought && { thinking: said.thought, signature: 'signed by the vendor' }),
        ...(said.text && { text: said.text }),
        calls: texts(said),
      }),
    marks: (body) =>
      (body as MessagesBody).messages.flatMap(({ content }) =>
        (typeof content === 'string' ? [] : (content as { type: string; id?: string; tool_use_id?: string }[])).flatMap(
          (block) =>
            block.type === 'tool_use'
              ? [`+${block.id ?? ''}`]
              : block.type === 'tool_result'
                ? [`-${block.tool_use_id ?? ''}`]
                : [],
        ),
      ),
  },
  {
    name: 'openai-responses',
    start: startResponsesServer,
    reply: (said) =>
      responsesReply({
        ...(said.thought && { reasoning: said.thought, encrypted: 'sealed by the vendor' }),
        ...(said.text && { text: said.text }),
        calls: texts(said),
      }),
    marks: (body) =>
      ((body as ResponsesBody).input as { type?: string; call_id?: string }[]).flatMap(({ type, call_id }) =>
        type === 'function_call' ? [`+${call_id ?? ''}`] : type === 'function_call_output' ? [`-${call_id ?? ''}`] : [],
      ),
  },
];

const look = { tool: 'read', arguments: { path: 'notes.md' } };
const work = (place: number) => ({
  tool: 'bash',
  arguments: { command: `echo ${place} >> steps.txt; echo did ${place}` },
});
/** Every fourth step thinks, speaks and makes three calls at once; the twentieth is the answer. */
const steps = Array.from({ length: 20 }, (_, place): Said => {
  if (place === 19) return { text: 'All done.' };
  if (place % 4 === 1) return { thought: 'Hm.', text: 'Looking.', calls: [look, work(place), look] };
  return { calls: [work(place)] };
});

describe.each(formats)('$name', (format) => {
  it(
    'PR2 PR21 RT1: twenty steps with calls in parallel are run, answered in order, and folded',
    { timeout: 60_000 },
    async () => {
      const house = await House.open();
      const server = await format.start();
      onTestFinished(() => server.close());
      const provider = { format: format.name, baseUrl: server.url, keyEnv: 'E2E_KEY', models: ['scripted'] };
      await writeFile(join(house.home, 'settings.json'), JSON.stringify({ providers: { vendor: provider } }));
      server.enqueue(...steps.map(format.reply));
      const from = performance.now();
      const run = await house
        .alcove(['run', 'Do twenty things.', '--model', 'vendor/scripted', '--mode', 'auto', '--json'])
        .ended();
      const tookMs = Math.round(performance.now() - from);
      expect(run).toMatchObject({ code: 0, stderr: '' });

      const events = eventsIn(run.stdout);
      const conversation = soundFold(events);
      expect(conversation.turns).toHaveLength(1);
      expect(conversation.turns[0]).toMatchObject({ outcome: 'completed', calls: 29 });
      expect(conversation.turns[0]?.steps).toHaveLength(20);
      expect(callsOf(conversation).map((one) => one.outcome)).toEqual(Array.from({ length: 29 }, () => 'completed'));
      expect(house.read('steps.txt')).toBe(Array.from({ length: 19 }, (_, place) => `${place}\n`).join(''));
      expect(textIn(events)).toBe(`${'Looking.'.repeat(5)}All done.`);
      expect(conversation.usage).toMatchObject({ steps: 20, unknownSteps: 0, input: 2000, output: 200 });

      expect(server.requests).toHaveLength(20);
      for (const [place, request] of server.requests.entries()) {
        // What every vendor demands: right behind the calls of a reply stand their results, in the same order, and nothing else.
        const owed: string[] = [];
        const marks = format.marks(request.body);
        for (const mark of marks) {
          if (mark.startsWith('+')) owed.push(mark.slice(1));
          else expect(mark.slice(1)).toBe(owed.shift());
        }
        expect(owed, `request ${place + 1} answers every call`).toEqual([]);
        expect(marks.filter((mark) => mark.startsWith('+'))).toHaveLength(
          steps.slice(0, place).reduce((sum, one) => sum + (one.calls?.length ?? 0), 0),
        );
      }
      expect(run.stdout).not.toContain(secretKey);
      report(`${format.name}: 20 steps, 29 calls, ${events.length} events, ${tookMs} ms with start and end`);
    },
  );
});
