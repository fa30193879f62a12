/** `alcove run --strategy`, as a script runs it: what each strategy sends, who accepts a plan, and what is said of a strategy that is none. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatReply, type ChatReply } from '../../daemon/testing/openai-server.ts';
import { House } from './house.ts';

const write = { tool: 'write', arguments: { path: 'plan.md', content: 'moss\n' } };
const propose = { tool: 'propose_plan', arguments: { plan: '1. Write plan.md.' } };

async function run(replies: ChatReply[], words: string[]) {
  const house = await House.open();
  house.provider.enqueue(...replies.map(chatReply));
  const result = await house.alcove(['run', 'Do it.', ...words]).ended();
  const { requests } = house.provider;
  return { house, result, requests, wrote: existsSync(join(house.folder, 'plan.md')) };
}

it('OR1: react, which is the default, goes on until a reply has no calls', async () => {
  for (const words of [[], ['--strategy', 'react']]) {
    const { result, requests } = await run(
      [{ calls: [{ tool: 'ls', arguments: {} }] }, { calls: [{ tool: 'ls', arguments: {} }] }, { text: 'Looked.' }],
      words,
    );
    expect(result).toMatchObject({ code: 0, stdout: 'Looked.\n' });
    expect(requests).toHaveLength(3);
  }
});

it('OR2: single is one request without a tool', async () => {
  const { result, requests } = await run([{ text: 'Moss.' }], ['--strategy', 'single']);
  expect(result).toMatchObject({ code: 0, stdout: 'Moss.\n' });
  expect(requests).toHaveLength(1);
  expect(requests[0]?.body).not.toHaveProperty('tools');
});

it('OR3 PM9: a plan that was accepted beforehand is carried out in the same command; no request ends with the assistant', async () => {
  for (const words of [['--yes'], ['--mode', 'auto']]) {
    const { result, requests, wrote } = await run(
      [{ calls: [propose] }, { calls: [write] }, { text: 'Written.' }],
      ['--strategy', 'plan', ...words],
    );
    expect(result).toMatchObject({ code: 0, stdout: 'Written.\n', stderr: '' });
    expect(wrote).toBe(true);
    const tools = requests.map(({ body }) => (body.tools ?? []).map((tool) => tool.function.name));
    expect(tools[0]).toContain('propose_plan');
    expect(tools[0]).not.toContain('write');
    expect(tools[1]).toContain('write');
    expect(requests.map(({ body }) => body.messages.at(-1)?.role)).toEqual(['user', 'tool', 'tool']);
  }
});

it('OR3: a plan that is only said is carried out too, asked for by the person and not by the assistant', async () => {
  const { result, requests, wrote } = await run(
    [{ text: '1. Write plan.md.' }, { calls: [write] }, { text: 'Written.' }],
    ['--strategy', 'plan', '--yes'],
  );
  expect(result).toMatchObject({ code: 0, stdout: 'Written.\n' });
  expect(wrote).toBe(true);
  expect(requests.map(({ body }) => body.messages.at(-1)?.role)).toEqual(['user', 'user', 'tool']);
});

it('OR3: where nobody can accept a plan nothing is asked of a model, and it says what is needed', async () => {
  const { result, requests } = await run([], ['--strategy', 'plan']);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('--yes');
  expect(requests).toHaveLength(0);
});

it('OR1: a strategy that is none names those that are', async () => {
  const { result } = await run([], ['--strategy', 'plam']);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('Did you mean plan? Strategies: react, single, plan.');
});
