/** The agents of a home, with a scripted model, and every row that they told. */
import { onTestFinished } from 'vitest';
import type { SessionSummary } from '#protocol/commands/session-values.ts';
import { Agents, type AgentsOptions } from '../agent/agents.ts';
import { noCap } from '../agent/decide.ts';
import type { HomePaths } from '../base/files.ts';
import { scriptedModel, type Script } from '../llm/scripted/scripted.ts';
import { Catalog } from '../session/catalog.ts';
import { LogFolder } from '../session/log-folder.ts';
import { Sandbox } from '../tools/sandbox/sandbox.ts';
import { says } from './agent-on.ts';
import { ManualClock } from './manual-clock.ts';
import { CountingIds, projectAt, sessionIdOf } from './temporary-home.ts';

export const nowhere = projectAt('/nowhere');
const project = nowhere;

export async function agentsIn(home: HomePaths, script: Script = () => says('ok'), more: Partial<AgentsOptions> = {}) {
  const clock = new ManualClock();
  const ids = new CountingIds(clock);
  const model = scriptedModel(script);
  const rowFacts = { defaultModel: () => 'scripted/demo', projectIdOf: () => project.projectId };
  const catalog = await Catalog.open(home, rowFacts);
  const logs = new LogFolder(home.sessions, clock);
  const faults: unknown[] = [];
  const told: SessionSummary[] = [];
  const agents = new Agents({
    home,
    clock,
    ids,
    subAgentModel: () => null,
    catalog,
    logs,
    owner: 'the daemon',
    durability: 'kernel',
    tools: [],
    sandbox: Sandbox.none,
    processEnvironment: () => ({ PATH: process.env['PATH'] ?? '/usr/bin:/bin' }),
    forbidden: [home.home],
    defaultModel: () => 'scripted/demo',
    rowFacts,
    resolveModel: () =>
      Promise.resolve({ client: model, model: 'demo', contextWindow: null, efforts: null, price: null }),
    compactAt: () => null,
    cap: () => noCap,
    check: () => null,
    rules: () => [],
    makeRule: () => Promise.resolve(),
    seenProject: () => Promise.resolve(),
    changed: (summary) => void told.push(summary),
    fault: (error) => void faults.push(error),
    ...more,
  });
  const close = async () => {
    await agents.close();
    catalog.close();
  };
  onTestFinished(close);
  const request = (number: number, text: string | null = null) => ({
    sessionId: sessionIdOf(number),
    project,
    folder: '/nowhere',
    model: 'scripted/demo',
    effort: null,
    mode: 'ask' as const,
    input: text === null ? null : [{ type: 'text' as const, text }],
  });
  const rows = () => catalog.list({ hidden: [], limit: 100 }).sessions;
  return { agents, catalog, logs, clock, ids, model, faults, told, close, request, rows };
}
