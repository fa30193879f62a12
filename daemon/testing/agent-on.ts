/** An agent on a real session with a scripted model, and tools that do what a test says. */
import { onTestFinished } from 'vitest';
import type { Conversation } from '#protocol/conversation/conversation.ts';
import type { ToolCall } from '#protocol/conversation/tool-call.ts';
import type { InputTarget } from '#protocol/events/input.ts';
import type { Failure } from '#protocol/values/outcome.ts';
import { Agent, type AgentOptions } from '../agent/agent.ts';
import { noCap, type TurnCap } from '../agent/decide.ts';
import type { Allowed } from '../agent/rules.ts';
import { SessionProcesses } from '../agent/process-ledger.ts';
import type { DriverState } from '../agent/driver-state.ts';
import type { ModelClient } from '../llm/model-stream.ts';
import type { ResolvedModel } from '../llm/resolved-model.ts';
import { scriptedModel, type Action, type Script, type ScriptedModel } from '../llm/scripted/scripted.ts';
import { recover } from '../session/recovery.ts';
import { Session } from '../session/session.ts';
import { Sandbox } from '../tools/sandbox/sandbox.ts';
import type { Assessment, Tool, ToolEnvironment, ToolResult } from '../tools/tool.ts';
import { sessionWith, until, type MadeSession, type SessionSetup } from './session-with.ts';
import { sessionIdOf } from './temporary-home.ts';

export interface AgentSetup extends SessionSetup {
  tools?: readonly Tool[];
  rules?: readonly Allowed[];
  unattended?: AgentOptions['unattended'];
  noAnswer?: AgentOptions['noAnswer'];
  compactAt?: number | null;
  cap?: Partial<TurnCap>;
  check?: string;
  /** Other models by name; what is not here is the scripted one. */
  models?: Readonly<Record<string, ModelClient | Failure>>;
  /** What is known of every model. */
  facts?: Partial<Pick<ResolvedModel, 'efforts' | 'price' | 'pictures' | 'contextWindow'>>;
}

export interface MadeAgent extends MadeSession {
  agent: Agent;
  model: ScriptedModel;
  /** Every state that the driver was in. */
  states: DriverState[];
  rules: Allowed[];
  submit(text: string, target?: InputTarget): Promise<number>;
  until(condition: (conversation: Conversation) => boolean): Promise<Conversation>;
  /** Resolves when the driver is in the state. */
  driver(state: DriverState): Promise<void>;
  /** Ends it as a restart would, and opens it anew with recovery. */
  restart(): Promise<MadeAgent>;
}

export async function agentOn(script: Script, setup: AgentSetup = {}): Promise<MadeAgent> {
  return agentFor(await sessionWith(setup), scriptedModel(script), setup);
}

/** An agent for a session that is there already. */
export function agentFor(made: MadeSession, model: ScriptedModel, setup: AgentSetup = {}): MadeAgent {
  const { session, clock, ids, faults } = made;
  const states: DriverState[] = [];
  const waiting: { state: DriverState; resolve: () => void }[] = [];
  const rules = [...(setup.rules ?? [])];
  const sessionId = session.conversation.session?.sessionId ?? sessionIdOf(1);
  const agent = new Agent({
    session,
    clock,
    tools: setup.tools ?? [],
    processes: new SessionProcesses(session.place.processes, sessionId),
    sandbox: Sandbox.none,
    processEnvironment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    forbidden: [made.home.home],
    defaultModel: () => 'scripted/demo',
    resolveModel: (name) => {
      const other = setup.models?.[name];
      if (other !== undefined && 'code' in other) return Promise.resolve({ failure: other });
      const id = name.slice(name.indexOf('/') + 1);
      return Promise.resolve({
        client: other ?? model,
        model: id,
        contextWindow: 1000,
        efforts: null,
        price: null,
        ...setup.facts,
      });
    },
    compactAt: () => setup.compactAt ?? null,
    cap: () => ({ ...noCap, ...setup.cap }),
    check: () => setup.check ?? null,
    rules: () => rules,
    makeRule: (allowed) => {
      rules.push(allowed);
      return Promise.resolve();
    },
    unattended: setup.unattended ?? null,
    noAnswer: setup.noAnswer ?? null,
    subAgents: null,
    modeLimit: null,
    childMoves: () => false,
    changed: (state) => {
      states.push(state);
      for (const one of waiting.splice(0)) {
        if (one.state === state) one.resolve();
        else waiting.push(one);
      }
    },
    fault: (error) => void faults.push(error),
  });
  onTestFinished(() => agent.close());
  return {
    ...made,
    agent,
    model,
    states,
    rules,
    submit: (text, target = 'next-turn') =>
      agent.submit({ target, parts: [{ type: 'text', text }], origin: 'person' }, ids.mark()),
    until: (condition) => until(session, condition),
    driver: (state) =>
      agent.state === state ? Promise.resolve() : new Promise((resolve) => void waiting.push({ state, resolve })),
    restart: async () => {
      await agent.close();
      const again = await Session.open(made.place, made.options);
      await recover(again, 0);
      return agentFor({ ...made, session: again }, model, setup);
    },
  };
}

// ---- what the model says ----

export const says = (text: string): Action[] => [{ type: 'say', text: [text] }];
export const calls = (...tools: (string | [string, Record<string, string | number>])[]): Action[] =>
  tools.map((one) =>
    typeof one === 'string'
      ? { type: 'call', tool: one, arguments: {} }
      : { type: 'call', tool: one[0], arguments: one[1] },
  );

// ---- tools that do what a test says ----

export interface FakeTool {
  effect?: 'read' | 'change' | 'command';
  caution?: string | null;
  rulePattern?: string;
  assess?: (args: Record<string, unknown>) => Assessment;
  run?: (
    args: Record<string, unknown>,
    environment: ToolEnvironment,
    signal: AbortSignal,
  ) => Promise<string | ToolResult>;
}

export function fakeTool(name: string, fake: FakeTool = {}): Tool {
  const effect = fake.effect ?? 'read';
  return {
    name,
    description: `The tool ${name}.`,
    parameters: { type: 'object', properties: {} },
    readOnly: effect === 'read',
    prepare: (args) => ({
      display: { title: name, kind: 'other' },
      assess: () => {
        if (fake.assess !== undefined) return Promise.resolve(fake.assess(args));
        const facts = { caution: fake.caution ?? null, rulePattern: fake.rulePattern ?? `${name} *` };
        if (effect === 'change') return Promise.resolve({ effect, preview: null, ...facts });
        return Promise.resolve(effect === 'command' ? { effect, looks: false, ...facts } : { effect, ...facts });
      },
      execute: async (environment, signal) => {
        const said = (await fake.run?.(args, environment, signal)) ?? `${name} done`;
        return typeof said === 'string' ? { outcome: 'completed', content: [{ type: 'text', text: said }] } : said;
      },
    }),
  };
}

// ---- what a conversation holds ----

export const ended =
  (turns = 1) =>
  (conversation: Conversation): boolean =>
    conversation.active === null && conversation.counts.turns >= turns;

export function allCalls(conversation: Conversation): ToolCall[] {
  const turns = conversation.active === null ? conversation.turns : [...conversation.turns, conversation.active];
  return turns.flatMap((turn) =>
    [...turn.steps, ...(turn.step === null ? [] : [turn.step])].flatMap((step) => step.calls),
  );
}

export function textOfCall(call: ToolCall | undefined): string {
  return (call?.content ?? []).map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('\n');
}
