import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextReport } from '#protocol/values/context-report.ts';
import type { Action } from '../../llm/scripted/scripted.ts';
import { agentOn, calls, ended, fakeTool, says } from '../../testing/agent-on.ts';
import { agentsIn } from '../../testing/agents-in.ts';
import { until } from '../../testing/session-with.ts';
import { sessionIdOf, temporaryHome } from '../../testing/temporary-home.ts';
import { pictureTokens } from './estimate.ts';
import { contextReport, sharesOf } from './report.ts';
import { reportOfLog } from './report-of-log.ts';

const of = (report: ContextReport, part: string) =>
  report.parts.filter((row) => row.part === part).map(({ name, tokens }) => ({ name, tokens }));
const used = (input: number): Action => ({
  type: 'usage',
  usage: { input, output: 10, cacheRead: null, cacheWrite: null, reasoning: null },
});
const x = (tokens: number) => 'x'.repeat(4 * tokens);

describe('CX3 what fills the context', () => {
  test('is told part by part, for each file of instructions too, and the parts add up', () => {
    const report = contextReport({
      model: 'scripted/demo',
      limit: null,
      measured: null,
      memory: x(50),
      prompt: [
        { name: 'base', text: x(10) },
        { name: 'AGENTS.md', text: x(20), instructions: true },
        { name: '../AGENTS.md', text: x(30), instructions: true },
      ],
      tools: [{ name: 'look', description: '', parameters: {} }],
      items: [
        {
          type: 'person',
          parts: [
            { type: 'text', text: x(50) },
            { type: 'text', text: x(60) },
            { type: 'image', mediaType: 'image/png', base64: '' },
          ],
        },
        {
          type: 'reply',
          provider: 'scripted',
          model: 'demo',
          pieces: [
            { type: 'reasoning', text: x(70) },
            { type: 'text', text: x(80) },
            { type: 'tool-call', callId: 'a', tool: 'look', argumentsText: x(90) },
            { type: 'tool-call', callId: 'b', tool: 'todo', argumentsText: x(5) },
          ],
        },
        { type: 'result', callId: 'a', tool: 'look', parts: [{ type: 'text', text: x(100) }], failed: false },
        { type: 'result', callId: 'b', tool: 'todo', parts: [{ type: 'text', text: x(4) }], failed: false },
      ],
    });
    expect(of(report, 'prompt')).toEqual([{ name: 'base', tokens: 10 }]);
    expect(of(report, 'instructions')).toEqual([
      { name: 'AGENTS.md', tokens: 20 },
      { name: '../AGENTS.md', tokens: 30 },
    ]);
    const rest = ['summary', 'tasks', 'inputs', 'replies', 'reasoning', 'calls', 'results', 'pictures'];
    expect(rest.map((part) => of(report, part)[0]?.tokens)).toEqual([50, 10, 60, 80, 70, 91, 100, pictureTokens]);
    expect(report.parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(report.estimated);
    expect(report.parts.reduce((sum, { share }) => sum + share, 0)).toBe(1000);
  });

  test('shares add up to a thousand, none is off by more than its rounding (property)', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 30 }), (amounts) => {
        const sum = amounts.reduce((one, other) => one + other, 0);
        const shares = sharesOf(amounts);
        expect(shares.reduce((one, other) => one + other, 0)).toBe(sum === 0 ? 0 : 1000);
        for (const [place, amount] of amounts.entries())
          expect(Math.abs((shares[place] ?? 0) - (sum === 0 ? 0 : (1000 * amount) / sum))).toBeLessThan(1);
      }),
    );
  });

  test('stands apart from what the provider measured, and a window that nobody knows is null', async () => {
    const made = await agentOn(() => [...says('so'), used(777)], { facts: { contextWindow: null } });
    expect(await made.agent.contextReport()).toMatchObject({ limit: null, measured: null });
    await made.submit(x(500));
    await made.until(ended());
    const report = await made.agent.contextReport();
    expect(report).toMatchObject({ model: 'scripted/demo', limit: null, measured: 787 });
    expect(of(report, 'inputs')).toEqual([{ name: 'What you said', tokens: 500 }]);
    expect(report.estimated).not.toBe(report.measured);
  });

  test('is that of the next request, after a compaction as well, and a look at it changes nothing', async () => {
    const long = fakeTool('long', { run: () => Promise.resolve(x(1000)) });
    let asked = 0;
    const made = await agentOn(
      (request) => {
        if (request.system.includes('You keep the memory')) return says('## Goal\nDig.');
        asked += 1;
        return asked <= 6 ? [...calls(['long', { part: asked }]), used(1000 * asked)] : [...says('done'), used(4000)];
      },
      { tools: [long], compactAt: 0.5, facts: { contextWindow: 10_000 } },
    );
    await made.submit('dig');
    await made.until(ended());
    const { seq } = made.session;
    const report = await made.agent.contextReport();
    expect(of(report, 'summary')).toHaveLength(1);
    const results = made.model.requests.at(-1)?.items.filter((item) => item.type === 'result') ?? [];
    expect(of(report, 'results')[0]?.tokens).toBe(1000 * results.length);
    expect(report.limit).toBe(10_000);
    expect(made.session.seq).toBe(seq);
    const after = await (await made.restart()).agent.contextReport();
    expect(after).toEqual(report);
  });

  test('is told from the log alone, where the session is not open here', async () => {
    const home = await temporaryHome();
    const { agents, ids, request, close } = await agentsIn(home, () => [...says('moss'), used(120)]);
    const folder = join(home.home, 'project');
    await mkdir(folder);
    await writeFile(join(folder, 'AGENTS.md'), x(200));
    await agents.create({ ...request(1, x(300)), folder }, ids.mark());
    const { session } = await agents.agent(sessionIdOf(1));
    await until(session, ended());
    const open = await agents.contextReport(sessionIdOf(1));
    await close();
    const closed = await reportOfLog(session.place);
    expect(closed).toMatchObject({ measured: 130, limit: null, model: 'scripted/demo' });
    for (const part of ['instructions', 'inputs', 'replies']) expect(of(closed, part)).toEqual(of(open, part));
    expect(of(closed, 'tools')[0]?.tokens).toBeGreaterThan(100);
  });
});
