/** Sessions that work in one file at the same time, with the tools of one daemon. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../llm/item.ts';
import type { Action } from '../llm/scripted/scripted.ts';
import { agentOn, allCalls, calls, ended, says, textOfCall, type MadeAgent } from '../testing/agent-on.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { FileQueue } from '../tools/file-queue.ts';
import { builtInTools } from '../tools/registry.ts';

const events = [{ type: 'session.configured', mode: 'auto' }] as const;
const lines = Array.from({ length: 8 }, (_, index) => `line ${index}`);

async function sessions(script: (session: number) => (request: ModelRequest) => Action[], turns: number) {
  const folder = join(temporaryFolder(), 'garden');
  mkdirSync(folder);
  const path = join(folder, 'notes.md');
  writeFileSync(path, `${lines.join('\n')}\n`);
  const tools = builtInTools(new FileQueue());
  const all: MadeAgent[] = [];
  for (const index of lines.keys()) all.push(await agentOn(script(index), { folder, tools, events: [...events] }));
  for (let turn = 1; turn <= turns; turn++) {
    await Promise.all(all.map((one) => one.submit('go')));
    await Promise.all(all.map((one) => one.until(ended(turn))));
  }
  return { ends: all.map((one) => one.session.conversation), text: () => readFileSync(path, 'utf8') };
}

const editOf = (session: number) =>
  calls(['edit', { path: 'notes.md', oldText: `line ${session}\n`, newText: `line ${session}, $& by ${session}\n` }]);
const allDone = `${lines.map((line, index) => `${line}, $& by ${index}`).join('\n')}\n`;

test('RT27: edits of one file by several sessions at once all apply', async () => {
  const { ends, text } = await sessions((session) => {
    const replies = [editOf(session), says('done')];
    return () => replies.shift() as Action[];
  }, 1);
  expect(text()).toBe(allDone);
  expect(ends.flatMap((end) => allCalls(end).map(({ outcome }) => outcome))).toEqual(lines.map(() => 'completed'));
});

test('RT27: sessions that had read it before others changed it are told so, read again, and lose nothing of anybody', async () => {
  const { ends, text } = await sessions((session) => {
    const read = calls(['read', { path: 'notes.md' }]);
    const replies = [read, says('read'), editOf(session)];
    return (request) => {
      const next = replies.shift();
      if (next !== undefined) return next;
      if (!JSON.stringify(request.items.at(-1)).includes('has changed on disk')) return says('done');
      replies.push(editOf(session));
      return read;
    };
  }, 2);
  expect(text()).toBe(allDone);
  const edits = ends.map((end) => allCalls(end).filter(({ tool }) => tool === 'edit'));
  for (const each of edits) {
    expect(each.at(-1)?.outcome).toBe('completed');
    for (const late of each.slice(0, -1))
      expect(textOfCall(late)).toMatch(/has changed on disk since it was last read/);
  }
  // All had read the same content, and one only was the first to change it.
  expect(edits.filter((each) => each.length === 1)).toHaveLength(1);
});
