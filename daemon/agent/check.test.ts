/** TL27: the command by which a person wants the work of a turn checked, with the real bash. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findMarked } from '../base/process-table.ts';
import type { ModelRequest } from '../llm/item.ts';
import { agentOn, calls, ended, says } from '../testing/agent-on.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { sessionIdOf } from '../testing/temporary-home.ts';
import { FileQueue } from '../tools/file-queue.ts';
import { builtInTools } from '../tools/registry.ts';

const write = (content: string) => calls(['write', { path: 'notes.md', content }]);
/** Counts its runs; fails where the notes name no moss. */
const command = 'echo x >> runs; grep -q Moss notes.md || { echo "no moss"; exit 3; }';

async function on(script: Parameters<typeof agentOn>[0], check = command) {
  const folder = temporaryFolder();
  const made = await agentOn(script, {
    folder,
    check,
    tools: builtInTools(new FileQueue()),
    events: [{ type: 'session.configured', mode: 'auto' }],
  });
  const runs = () => (existsSync(join(folder, 'runs')) ? readFileSync(join(folder, 'runs'), 'utf8').length / 2 : 0);
  return { ...made, folder, runs };
}

const notes = ({ items }: ModelRequest) =>
  items.flatMap((item) =>
    item.type === 'person' ? item.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
  );

describe('TL27: the check of a turn that changed files', () => {
  test('that fails is told to the agent, in the same turn, and run once more after it put things right', async () => {
    const made = await on([write('Roses\n'), says('Done.'), write('Roses\nMoss\n'), says('Now it has moss.')]);
    await made.submit('Plant.');
    const { turns, warnings } = await made.until(ended());
    expect(made.runs()).toBe(2);
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({ outcome: 'completed', check: { runs: 2, outcome: 'completed', title: command } });
    expect(warnings).toEqual([]);
    const [, , third, fourth] = made.model.requests.map(notes);
    expect(third?.at(-1)).toMatch(
      /^\[The check that the person set for this project \(echo x[^]*no moss\n\[Exit code 3.\]$/,
    );
    expect(fourth).toEqual(third);
  });

  test('that fails a second time is told to the person, and the turn ends: no loop', async () => {
    const made = await on([write('Roses\n'), says('Done.'), says('That is not mine.'), says('Next.')]);
    await made.submit('Plant.');
    const { turns, warnings } = await made.until(ended());
    expect(made.runs()).toBe(2);
    expect(turns[0]).toMatchObject({ outcome: 'completed', check: { runs: 2, outcome: 'failed' } });
    expect(warnings.map(({ message }) => message)).toEqual([
      `The check of this project (${command}) still fails after the agent was told and worked on it.`,
    ]);
    await made.submit('Never mind.');
    await made.until(ended(2));
    expect(made.runs()).toBe(2);
  });

  test('that passes ends the turn; where nothing was changed none is made', async () => {
    const made = await on([write('Moss\n'), says('Done.'), calls(['read', { path: 'notes.md' }]), says('Read.')]);
    await made.submit('Plant.');
    await made.until(ended());
    await made.submit('Read.');
    const { turns } = await made.until(ended(2));
    expect(made.runs()).toBe(1);
    expect(turns.map(({ check }) => check?.outcome ?? null)).toEqual(['completed', null]);
  });

  test('what a person says meanwhile joins the turn, and is checked with it', async () => {
    const made = await on(
      [write('Roses\n'), says('Done.'), write('Moss\n'), says('With moss.')],
      `until [ -e go ]; do sleep 0.05; done; ${command}`,
    );
    await made.submit('Plant.');
    await made.until((now) => now.active?.check?.outcome === null);
    await made.submit('And moss.', 'next-step');
    writeFileSync(join(made.folder, 'go'), '');
    const { turns } = await made.until(ended());
    expect(turns[0]).toMatchObject({ outcome: 'completed', check: { runs: 2, outcome: 'completed' } });
    expect(notes(made.model.requests[2] as ModelRequest).slice(-2)).toEqual([
      expect.stringMatching(/no moss/),
      'And moss.',
    ]);
  });

  test('what is changed after it passed is checked anew', async () => {
    const wait = 'if [ ! -e go ]; then touch at; until [ -e go ]; do sleep 0.05; done; fi;';
    const made = await on(
      [write('Moss\n'), says('Done.'), write('Ivy\n'), says('Ivy.'), write('Moss\n'), says('Moss.')],
      `${wait} ${command}`,
    );
    await made.submit('Plant.');
    await made.until((now) => now.active?.check?.outcome === null);
    await made.submit('Ivy, too.', 'next-step');
    writeFileSync(join(made.folder, 'go'), '');
    const { turns } = await made.until(ended());
    expect(made.runs()).toBe(3);
    expect(turns).toHaveLength(1);
    expect(turns[0]?.check).toMatchObject({ runs: 2, outcome: 'completed' });
  });

  test('an abort and a shutdown end it, with all it started, and the turn with it', async () => {
    const made = await on(
      [write('Roses\n'), says('Done.'), write('Ferns\n'), says('Done.')],
      '(sleep 300 & sleep 301) & wait',
    );
    await made.submit('Plant.');
    await made.until((now) => now.active?.check?.outcome === null);
    await made.agent.abort(made.ids.mark());
    expect(made.agent.conversation.turns[0]).toMatchObject({ outcome: 'aborted', check: { outcome: 'aborted' } });
    expect(await findMarked(sessionIdOf(1))).toEqual([]);

    await made.submit('Again.');
    await made.until((now) => now.active?.check?.outcome === null);
    const again = await made.restart();
    expect(again.agent.conversation.turns[1]).toMatchObject({
      outcome: 'interrupted',
      check: { outcome: 'interrupted' },
    });
    expect(again.agent.conversation.anomalies).toEqual([]);
    expect(await findMarked(sessionIdOf(1))).toEqual([]);
  });

  test('one that cannot be run is told as failed', async () => {
    const made = await on([write('Roses\n'), says('Done.'), says('It is not there.')], 'no-such-program-here');
    await made.submit('Plant.');
    const { turns } = await made.until(ended());
    expect(turns[0]?.check).toMatchObject({
      runs: 2,
      outcome: 'failed',
      text: expect.stringMatching(/not found\n\[Exit code 127.\]/) as string,
    });
  });
});
