/** The offline demo, driven as a session drives it, against a folder in memory: it really works through tools, and reports what happened. */
import { describe, expect, test } from 'vitest';
import { gather, person } from '../formats/contract.ts';
import type { Item, ModelCall, ToolOffer } from '../item.ts';
import { demoReply, offlineModel } from './offline.ts';

const hurried = { wordMs: 0, lineMs: 0 };
const forever = new AbortController().signal;
const tools: ToolOffer[] = ['read', 'write', 'edit', 'bash'].map((name) => ({ name, description: '', parameters: {} }));

type Outcome = { text: string; failed: boolean };

/** A conversation with the demo. `judge` may answer a call instead of the tool, as a refusal or a crash would. */
class Talk {
  readonly files: Map<string, string>;
  readonly items: Item[] = [];
  readonly called: string[] = [];
  readonly offered: ToolOffer[];
  readonly #judge: (call: ModelCall) => Outcome | null;
  #calls = 0;

  constructor(
    files: Record<string, string>,
    options: { offered?: ToolOffer[]; judge?: (call: ModelCall) => Outcome | null } = {},
  ) {
    this.files = new Map(Object.entries(files));
    this.offered = options.offered ?? tools;
    this.#judge = options.judge ?? (() => null);
  }

  /** Says something and lets the demo work to its end; returns its last words. */
  async say(input: string): Promise<string> {
    this.items.push(person(input));
    for (let steps = 0; steps < 20; steps += 1) {
      const text = await this.step();
      if (text !== null) return text;
    }
    throw new Error('the demo does not come to an end');
  }

  /** One model call and the calls it asks for; the text, once it asks for none. */
  async step(): Promise<string | null> {
    const model = offlineModel(hurried);
    const request = { model: 'demo', effort: null, system: '', items: this.items, tools: this.offered };
    const got = await gather(model.stream(request, forever));
    if (got.end.type !== 'done') throw new Error(`ended ${got.end.type}`);
    expect(got.end.usage).toBe(null);
    const calls = got.end.calls.map((call) => ({ ...call, callId: `cal_${++this.#calls}` }));
    this.items.push({
      type: 'reply',
      provider: 'offline',
      model: 'demo',
      pieces: [
        ...(got.text === '' ? [] : [{ type: 'text' as const, text: got.text }]),
        ...calls.map(({ callId, tool, argumentsText }) => ({
          type: 'tool-call' as const,
          callId,
          tool,
          argumentsText,
        })),
      ],
    });
    for (const call of calls) {
      this.called.push(`${call.tool} ${textOf(call.arguments['path'] ?? call.arguments['command'])}`);
      const outcome = this.#judge(call) ?? this.#run(call);
      const parts = [{ type: 'text' as const, text: outcome.text }];
      this.items.push({ type: 'result', callId: call.callId, tool: call.tool, parts, failed: outcome.failed });
    }
    return calls.length === 0 ? got.text : null;
  }

  #run(call: ModelCall): Outcome {
    const path = textOf(call.arguments['path']);
    const text = this.files.get(path);
    switch (call.tool) {
      case 'read':
        if (text === undefined) return { text: `no such file: ${path}`, failed: true };
        return {
          text: text
            .split('\n')
            .map((line, index) => `${String(index + 1).padStart(6)}\t${line}`)
            .join('\n'),
          failed: false,
        };
      case 'write':
        this.files.set(path, textOf(call.arguments['content']));
        return { text: 'written', failed: false };
      case 'edit': {
        const [edit] = call.arguments['edits'] as { oldText: string; newText: string }[];
        if (text?.split(edit!.oldText).length !== 2) return { text: 'oldText does not stand there once', failed: true };
        this.files.set(
          path,
          text.replace(edit!.oldText, () => edit!.newText),
        );
        return { text: 'edited', failed: false };
      }
      default: {
        const command = textOf(call.arguments['command']);
        if (command.startsWith('ls')) return { text: [...this.files.keys(), 'src/'].sort().join('\n'), failed: false };
        return { text: `output of ${command}`, failed: false };
      }
    }
  }
}

const denied = { text: 'The person denied this call.', failed: true };

describe('the tour', () => {
  test('looks, reads, writes, runs, and sums up (EV2)', async () => {
    const talk = new Talk({ 'README.md': '# Hi', 'a.txt': 'a' });
    const end = await talk.say('please build me a house');
    expect(talk.called).toEqual(['bash ls -1Ap', 'read README.md', 'write alcove-demo.md', 'bash cat alcove-demo.md']);
    expect(talk.files.get('alcove-demo.md')).toContain('Visit 1 of the scripted demo.');
    expect(end.match(/: done\./g)).toHaveLength(4);
    expect(JSON.stringify(talk.items[1])).toContain('no AI');
  });

  test('a second visit adds a line instead of writing anew', async () => {
    const talk = new Talk({});
    await talk.say('hello');
    await talk.say('tour');
    await talk.say('tour');
    expect(talk.files.get('alcove-demo.md')?.match(/Visit \d+/g)).toEqual(['Visit 1', 'Visit 2', 'Visit 3']);
    expect(talk.called.slice(-3)).toEqual(['read alcove-demo.md', 'edit alcove-demo.md', 'bash cat alcove-demo.md']);
  });

  test('denied calls are left out and said', async () => {
    const talk = new Talk({ 'b.md': 'b' }, { judge: (call) => (call.tool === 'read' ? null : denied) });
    const end = await talk.say('hello');
    expect(talk.called).toEqual(['bash ls -1Ap', 'read README.md', 'read alcove-demo.md', 'write alcove-demo.md']);
    expect(end).toContain('The person denied this call.');
    expect(end).toContain('No file was changed by me.');
    expect(end.match(/did not happen\./g)).toHaveLength(4);
    expect(end.match(/: done\./g)).toBe(null);
  });

  test('where only reading is offered it reads, and says what it left out', async () => {
    const talk = new Talk({ 'README.md': 'x' }, { offered: tools.filter((tool) => tool.name === 'read') });
    const end = await talk.say('hello');
    expect(talk.called).toEqual(['read README.md']);
    expect(end).toContain('bash, write and edit');
    expect(end).toContain('No file was changed.');
  });

  test('a demo file that a person rewrote is left alone', async () => {
    const talk = new Talk({ 'alcove-demo.md': 'mine now' });
    const end = await talk.say('hello');
    expect(talk.files.get('alcove-demo.md')).toBe('mine now');
    expect(end).toContain('No file was changed.');
  });

  test('it goes on from the items alone: a call that a crash interrupted is reported, not repeated', async () => {
    const talk = new Talk(
      { 'README.md': 'x' },
      {
        judge: (call) => (call.tool === 'write' ? { text: 'Interrupted: the daemon ended.', failed: true } : null),
      },
    );
    const end = await talk.say('hello');
    expect(talk.called.filter((one) => one.startsWith('write'))).toHaveLength(1);
    expect(end).toContain('Interrupted: the daemon ended.');
  });
});

describe('orders', () => {
  test.each([
    ['list', 'bash ls -la', 'README.md'],
    ['ls src', 'bash ls -la -- src', 'README.md'],
    ['read README.md', 'read README.md', '# Hi'],
    ['run echo `a`', 'bash echo `a`', 'output of echo `a`'],
    ['write new.txt some text', 'write new.txt', 'new.txt'],
  ])('%s', async (input, called, shown) => {
    const talk = new Talk({ 'README.md': '# Hi' });
    expect(await talk.say(input)).toContain(shown);
    expect(talk.called).toEqual([called]);
  });

  test('edit adds a line after one that stands once, or replaces what it is told', async () => {
    const talk = new Talk({ 'a.txt': 'same\nsame\nother\n' });
    await talk.say('edit a.txt');
    expect(talk.files.get('a.txt')).toBe('same\nsame\nother\nThis line was added by the scripted demo of Alcove.\n');
    await talk.say('edit a.txt other => another thing');
    expect(talk.files.get('a.txt')).toContain('another thing\n');
    expect(await talk.say('edit missing.txt')).toContain('no such file');
    const same = new Talk({ 'b.txt': 'same\nsame\n' });
    expect(await same.say('edit b.txt')).toContain('left it');
  });

  test('count streams one number a line; think shows reasoning; both introduce themselves first', async () => {
    const counting = await gather(offlineModel(hurried).stream(requestOf('count to 12'), forever));
    expect(counting.text.endsWith('\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n')).toBe(true);
    expect(counting.text).toContain('no AI');
    const thinking = await gather(offlineModel(hurried).stream(requestOf('think about it'), forever));
    expect(thinking.reasoning).not.toBe('');
    const failing = await gather(offlineModel(hurried).stream(requestOf('fail'), forever));
    expect(failing.end).toMatchObject({ type: 'failed', failure: { code: 'provider_failed' } });
  });

  test('a steering input is what counts: the running exchange is left for it', async () => {
    const talk = new Talk({ 'README.md': 'x' });
    talk.items.push(person('hello'));
    await talk.step();
    expect(await talk.say('count to 2')).toBe('1\n2\n');
  });

  test('what it does not know it says, and help lists what it can', async () => {
    const talk = new Talk({});
    await talk.say('help');
    const end = await talk.say('write me an essay');
    expect(talk.called).toEqual(['write me']);
    expect(end).toContain('wrote');
    expect(await talk.say('what is love?')).toMatch(/no AI, so I cannot[\s\S]*count to 100/);
  });

  test('a failed order is said in the words of the result, and a missing tool is named', async () => {
    const talk = new Talk({}, { judge: () => denied });
    expect(await talk.say('run rm -rf x')).toContain('The person denied this call.');
    const bare = new Talk({}, { offered: [] });
    expect(await bare.say('run ls')).toContain('`bash`');
  });
});

test('words come with pauses, so that streaming can be watched, and abort ends them', async () => {
  const reply = demoReply(requestOf('hello'), { wordMs: 25, lineMs: 50 });
  expect(reply[0]).toMatchObject({ type: 'say', paceMs: 25 });
  const abort = new AbortController();
  const running = gather(offlineModel().stream(requestOf('count to 1000'), abort.signal));
  setTimeout(() => abort.abort(), 50);
  expect((await running).end.type).toBe('aborted');
});

function requestOf(input: string) {
  return { model: 'demo', effort: null, system: '', items: [person(input)], tools };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
