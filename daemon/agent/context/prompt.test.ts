import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noSandbox, type SandboxState } from '#protocol/values/sandbox.ts';
import { FileQueue } from '../../tools/file-queue.ts';
import { builtInTools, toolsFor } from '../../tools/registry.ts';
import { agentOn, calls, ended, fakeTool, says } from '../../testing/agent-on.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { promptParts, promptText } from './prompt.ts';

const facts = { mode: 'ask' as const, platform: 'linux', sandbox: noSandbox, day: '2026-01-01' };
const namesOf = async (folder: string) => (await promptParts({ ...facts, folder })).map(({ name }) => name);

test('CX4 AGENTS.md and CLAUDE.md are read from the folder up to the root of its repository, the nearest last; nothing above it', async () => {
  const outside = temporaryFolder();
  const root = join(outside, 'repository');
  const folder = join(root, 'packages', 'app');
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(root, '.git'));
  writeFileSync(join(outside, 'AGENTS.md'), 'of a stranger');
  writeFileSync(join(root, 'AGENTS.md'), 'of the root');
  writeFileSync(join(root, 'CLAUDE.md'), 'also of the root');
  writeFileSync(join(root, 'packages', 'CLAUDE.md'), 'of the packages');
  writeFileSync(join(folder, 'AGENTS.md'), 'of the app');
  writeFileSync(join(folder, 'CLAUDE.md'), 'of the app');
  expect(await namesOf(folder)).toEqual([
    'base',
    'environment',
    '../../AGENTS.md',
    '../../CLAUDE.md',
    '../CLAUDE.md',
    'AGENTS.md',
    'day',
    'mode',
  ]);
  const text = promptText(await promptParts({ ...facts, folder })).system;
  expect(text).not.toContain('of a stranger');
  expect(text.indexOf('of the root')).toBeLessThan(text.indexOf('of the app'));
});

test('CX4 outside a repository only the folder itself counts; what is empty, a folder, or too long is no hindrance', async () => {
  const outside = temporaryFolder();
  const folder = join(outside, 'app');
  mkdirSync(join(folder, 'CLAUDE.md'), { recursive: true });
  writeFileSync(join(outside, 'AGENTS.md'), 'above');
  writeFileSync(join(folder, 'AGENTS.md'), 'x'.repeat(200_000));
  const parts = await promptParts({ ...facts, folder });
  expect(parts.map(({ name }) => name)).toEqual(['base', 'environment', 'AGENTS.md', 'day', 'mode']);
  expect(parts[2]?.text).toContain('The rest of this file is left out');
  expect(parts[2]?.text.length).toBeLessThan(70_000);
  writeFileSync(join(folder, 'AGENTS.md'), ' \n');
  expect(await namesOf(folder)).toEqual(['base', 'environment', 'day', 'mode']);
});

test('CX4 a change of the instructions is in the next request, also within a turn', async () => {
  const folder = temporaryFolder();
  const instructions = join(folder, 'AGENTS.md');
  writeFileSync(instructions, 'Use tabs.');
  const look = fakeTool('look', {
    run: () => {
      writeFileSync(instructions, 'Use spaces.');
      return Promise.resolve('looked');
    },
  });
  const made = await agentOn([calls('look'), says('done'), says('again')], { folder, tools: [look] });
  await made.submit('go');
  await made.until(ended());
  rmSync(instructions);
  await made.submit('go');
  await made.until(ended(2));
  const [first, second, third] = made.model.requests.map(({ system }) => system);
  expect(first).toContain('Use tabs.');
  expect(second).toContain('Use spaces.');
  expect(third).not.toContain('Use ');
});

test('CX17 the prompt asks for no narration before calls and for faithful reports; each mode says what it is', async () => {
  const text = promptText(await promptParts({ ...facts, folder: temporaryFolder() })).system;
  expect(text).toContain('Do not narrate before tool calls');
  expect(text).toContain('Report outcomes, errors and blockers faithfully');
  for (const mode of ['ask', 'plan', 'auto'] as const)
    expect(promptText(await promptParts({ ...facts, mode, folder: '/' })).hints).toContain(`Mode: ${mode}.`);
});

test('TL30 what is sent before anything was said stays under 10 KB: the prompt and all tools that are of use', async () => {
  const tools = builtInTools(new FileQueue());
  const folder = temporaryFolder();
  mkdirSync(join(folder, '.git'));
  const made = await agentOn([says('hello')], { folder, tools });
  await made.submit('hi');
  await made.until(ended());
  const [request] = made.model.requests;
  const offered = toolsFor('ask', tools).map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }));
  // There are no sub-agents in this test, but wherever a person works.
  const sent = offered.filter(({ name }) => request?.tools.some((tool) => tool.name === name) || name === 'task');
  expect(request?.tools).toEqual(sent.filter(({ name }) => name !== 'task'));
  // What is of no use yet is not told of: there are no jobs.
  expect(offered.filter((tool) => !sent.includes(tool)).map(({ name }) => name)).toEqual(['job']);
  const bytes = Buffer.byteLength(request?.system ?? '') + Buffer.byteLength(JSON.stringify(sent));
  expect(bytes).toBeGreaterThan(3_000);
  expect(bytes).toBeLessThan(10_000);
});

test('TL30 git is told of in a repository only, from the moment that there is one', async () => {
  const folder = temporaryFolder();
  const begin = fakeTool('begin', {
    run: () => {
      mkdirSync(join(folder, '.git'));
      return Promise.resolve('begun');
    },
  });
  const made = await agentOn([calls('begin'), says('done')], {
    folder,
    tools: [...builtInTools(new FileQueue()), begin],
  });
  await made.submit('go');
  await made.until(ended());
  expect(made.model.requests.map(({ tools }) => tools.some(({ name }) => name === 'git'))).toEqual([false, true]);
});

test('PM18 the prompt says which sandbox holds commands, where one does, and no word of one else', async () => {
  const said = async (sandbox: SandboxState) =>
    promptText(await promptParts({ ...facts, sandbox, folder: '/' })).system;
  expect(await said(noSandbox)).not.toContain('sandbox');
  expect(await said({ level: 'workspace-write', network: true, problem: null })).toContain(
    'Commands run in a sandbox: they write in the folder above and /tmp only; what one leaves running',
  );
  expect(await said({ level: 'read-only', network: false, problem: null })).toContain(
    'they write in /tmp only, and reach no network',
  );
});
