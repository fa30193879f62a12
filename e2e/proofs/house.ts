/**
 * What every proof starts from: a provider that plays a script, a folder of the person's, and the program as it was built, with a home of its
 * own. Everything ends with the test. Proofs look from outside only: commands, sockets, exit codes, files, and what the provider was asked.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { emptyConversation, type Conversation } from '#protocol/conversation/conversation.ts';
import { reduce } from '#protocol/conversation/reduce.ts';
import type { SessionEvent } from '#protocol/event.ts';
import type { InputPart } from '#protocol/values/content.ts';
import type { Mode } from '#protocol/values/model.ts';
import type { CommandId, ProjectId, SessionId } from '#protocol/values/ids.ts';
import { dumpLog } from '../../daemon/session/inspect.ts';
import {
  startOpenAiServer,
  type ChatRequest,
  type ChatScript,
  type OpenAiServer,
} from '../../daemon/testing/openai-server.ts';
import type { Reply } from '../../daemon/testing/wire-server.ts';
import { SocketClient, type Came, type Credentials } from '../../daemon/testing/socket-client.ts';
import { temporaryFolder } from '../../daemon/testing/temporary-folder.ts';
import { Daemon, newCommandId } from '../support/daemon.ts';

export const program = fileURLToPath(new URL('../../dist/daemon/main.js', import.meta.url));
/** A key that must never show anywhere; the provider is asked with it. */
export const secretKey = 'sk-proof-71d0-never-show-me';
export const model = 'loopback/scripted';

export interface Paired extends Credentials {
  readonly machineId: string;
  readonly publicKey: string;
}

export class House {
  readonly home: string;
  readonly folder: string;
  readonly provider: OpenAiServer;
  readonly daemon: Daemon;
  readonly #environment: Readonly<Record<string, string>>;
  #paired: Promise<Paired> | null = null;

  private constructor(scratch: string, provider: OpenAiServer) {
    this.home = join(scratch, 'home');
    this.folder = join(scratch, 'garden');
    this.provider = provider;
    // A model server that happens to run on this machine is none of the proof's.
    const own = {
      E2E_KEY: secretKey,
      ALCOVE_LOCAL_SERVERS: 'off',
      // Nor is a login of whoever runs it.
      CODEX_HOME: join(this.home, 'codex'),
    };
    this.daemon = new Daemon({ home: this.home, folder: this.folder, environment: own });
    this.#environment = {
      PATH: process.env['PATH'] ?? '',
      LANG: 'C.UTF-8',
      HOME: this.home,
      ALCOVE_HOME: this.home,
      ...own,
    };
  }

  /** The daemon is not started yet. `placeHome` may put the home's folder where it likes before anything is in it. */
  static async open(script?: ChatScript, placeHome?: (home: string) => void): Promise<House> {
    const scratch = temporaryFolder();
    const provider = await startOpenAiServer(script);
    const house = new House(scratch, provider);
    onTestFinished(async () => {
      await house.daemon.stop();
      await provider.close();
    });
    placeHome?.(house.home);
    await mkdir(house.home, { recursive: true, mode: 0o700 });
    await mkdir(house.folder);
    const settings = {
      model,
      providers: {
        loopback: { format: 'openai-chat', baseUrl: provider.url, keyEnv: 'E2E_KEY', models: ['scripted'] },
      },
    };
    await writeFile(join(house.home, 'settings.json'), JSON.stringify(settings), { mode: 0o600 });
    await writeFile(join(house.folder, 'notes.md'), '# Garden\n\nRoses\nFerns\nMoss\n');
    await copyFile(new URL('fixtures/work.sh', import.meta.url), join(house.folder, 'work.sh'));
    return house;
  }

  /** A file of the person's folder, or '' where there is none. */
  read(name: string): string {
    try {
      return readFileSync(join(this.folder, name), 'utf8');
    } catch {
      return '';
    }
  }

  pid(name: string): number {
    return Number(this.read(name));
  }

  async project(): Promise<ProjectId> {
    const { project } = await this.daemon.call('project.add', { commandId: newCommandId(), path: this.folder });
    return project.projectId;
  }

  async session(mode: Mode = 'auto', input?: string): Promise<SessionId> {
    const sessionId = `ses_${newCommandId()}` as SessionId;
    await this.daemon.call('session.create', {
      commandId: newCommandId(),
      sessionId,
      projectId: await this.project(),
      mode,
      ...(input === undefined ? {} : { input: say(input) }),
    });
    return sessionId;
  }

  async submit(sessionId: SessionId, text: string, target: 'next-turn' | 'next-step' = 'next-turn') {
    const params = { commandId: newCommandId(), sessionId, target, parts: say(text) };
    const { seq } = await this.daemon.call('session.submit', params);
    return { params, seq, inputId: params.commandId };
  }

  /** One browser, paired once, over all lives of the daemon. */
  async connect(): Promise<SocketClient> {
    this.#paired ??= this.pair();
    return SocketClient.connect(this.daemon.port, await this.#paired);
  }

  async pair(): Promise<Paired> {
    const { typed } = await this.daemon.call('pairing.create', {});
    const response = await fetch(`${this.daemon.address}/pair`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ typed, name: 'Firefox on Linux' }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Paired;
  }

  async follow(sessionId: SessionId, after = 0): Promise<Follower> {
    const client = await this.connect();
    const { result } = await client.call('session.subscribe', { sessionId, after });
    return new Follower(client, result.subscription);
  }

  async row(sessionId: SessionId) {
    const { sessions } = await this.daemon.call('session.list', {});
    const row = sessions.find((one) => one.sessionId === sessionId);
    if (row === undefined) throw new Error(`${sessionId} is not listed`);
    return row;
  }

  log(sessionId: SessionId): string {
    return join(this.home, 'sessions', `${sessionId}.jsonl.zst`);
  }

  /** The whole log, read by the program's own command line. */
  async exported(sessionId: SessionId): Promise<SessionEvent[]> {
    const { code, stdout, stderr } = await this.alcove(['session', 'dump', sessionId]).ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return eventsIn(stdout);
  }

  /** Any log as text. */
  exportOf(file: string): string {
    return execFileSync(process.execPath, [program, 'session', 'dump', file], { env: this.#environment }).toString();
  }

  /** The same without a process of its own. */
  async events(sessionId: SessionId): Promise<SessionEvent[]> {
    const lines: string[] = [];
    const damages: unknown[] = [];
    await dumpLog(
      this.log(sessionId),
      async (line) => void lines.push(line),
      (damage) => damages.push(damage),
    );
    expect(damages).toEqual([]);
    return eventsIn(lines.join('\n'));
  }

  /** The command line, as a person or a script runs it, not on a terminal. */
  alcove(
    words: readonly string[],
    options: {
      input?: string;
      cwd?: string;
      home?: string;
      environment?: Readonly<Record<string, string>>;
      /** A program and its arguments that starts ours. */
      through?: readonly string[];
    } = {},
  ): Run {
    return new Run(words, {
      cwd: options.cwd ?? this.folder,
      environment: {
        ...this.#environment,
        ...(options.home === undefined ? {} : { ALCOVE_HOME: options.home }),
        ...options.environment,
      },
      input: options.input ?? '',
      through: options.through ?? [],
    });
  }
}

/** A session's events as a page gets them. */
export class Follower {
  readonly client: SocketClient;
  readonly #subscription: string;

  constructor(client: SocketClient, subscription: string) {
    this.client = client;
    this.#subscription = subscription;
  }

  /** As they came, neighbouring increments as one where they travelled so. */
  get events(): SessionEvent[] {
    return this.client.events(this.#subscription);
  }

  get seq(): number {
    return this.events.at(-1)?.seq ?? 0;
  }

  /** Resolves with the first event that fits, also of those that have come. */
  until(fits: (event: SessionEvent) => boolean): Promise<SessionEvent> {
    return this.client.when(() => this.events.find(fits));
  }

  kind(type: string, times = 1): Promise<SessionEvent> {
    return this.client.when(() => this.events.filter((event) => event.type === type)[times - 1]);
  }

  /** Resolves once the turn of this number (from 1) has ended, with its outcome. */
  async turnEnded(number = 1): Promise<unknown> {
    const ended = (await this.kind('turn.ended', number)) as Record<string, unknown> & SessionEvent;
    return ended['outcome'];
  }

  /** What a page saw of the text of replies. */
  get text(): string {
    return textIn(this.events);
  }
}

/** One run of the program. */
export class Run {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #lookers = new Set<() => void>();
  readonly #ended: Promise<number | null>;
  #over = false;

  constructor(
    words: readonly string[],
    options: {
      cwd: string;
      environment: Readonly<Record<string, string>>;
      input: string;
      through: readonly string[];
    },
  ) {
    const [command = process.execPath, ...line] = [...options.through, process.execPath, program, ...words];
    const child = spawn(command, line, { cwd: options.cwd, env: options.environment });
    this.child = child;
    child.stdin.on('error', () => undefined); // One that reads no input may have ended before it came.
    child.stdin.end(options.input);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#look();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#look();
    });
    this.#ended = once(child, 'close').then(([code]) => code as number | null);
    void this.#ended.then(() => {
      this.#over = true;
      this.#look();
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await this.#ended;
    });
  }

  /** Code and output, once it has ended. */
  async ended(): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const code = await this.#ended;
    return { code, stdout: this.stdout, stderr: this.stderr };
  }

  /** Resolves once standard output holds this. */
  printed(text: string): Promise<void> {
    return this.#when(text, () => this.stdout);
  }

  /** Resolves once standard error holds this. */
  said(text: string): Promise<void> {
    return this.#when(text, () => this.stderr);
  }

  #when(text: string, where: () => string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (where().includes(text)) resolve();
        else if (this.#over) reject(new Error(`it ended without printing ${text}:\n${this.stdout}${this.stderr}`));
        else return;
        this.#lookers.delete(look);
      };
      this.#lookers.add(look);
      look();
    });
  }

  #look(): void {
    for (const look of [...this.#lookers]) look();
  }
}

export function say(text: string): InputPart[] {
  return [{ type: 'text', text }];
}

export function eventsIn(lines: string): SessionEvent[] {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SessionEvent);
}

export function textIn(events: readonly SessionEvent[]): string {
  const kinds = new Map<unknown, unknown>();
  let text = '';
  for (const event of events as readonly (SessionEvent & Record<string, unknown>)[]) {
    if (event.type === 'part.started') kinds.set(event['partId'], event['kind']);
    if (event.type === 'part.delta' && kinds.get(event['partId']) === 'text') text += event['text'] as string;
  }
  return text;
}

/** Folds a whole log, and finds it sound: no gap, nothing that does not fit, one end for each call of a closed turn, each input once. */
export function soundFold(events: readonly SessionEvent[]): Conversation {
  expect(events.map((event) => event.seq)).toEqual(events.map((_, place) => place + 1));
  const conversation = fold(events);
  expect(conversation.anomalies).toEqual([]);
  const ids = (type: string, field: string) =>
    events.flatMap((event) => (event.type === type ? [(event as Record<string, unknown>)[field]].flat() : []));
  const requested = ids('tool-call.requested', 'callId');
  const ended = ids('tool-call.ended', 'callId');
  expect(new Set(ended).size).toBe(ended.length);
  if (conversation.active === null) expect([...ended].sort()).toEqual([...requested].sort());
  for (const [type, field] of [
    ['input.queued', 'inputId'],
    ['input.claimed', 'inputIds'],
    ['tool-call.started', 'callId'],
  ] as const) {
    const all = ids(type, field);
    expect(new Set(all).size, type).toBe(all.length);
  }
  return conversation;
}

export function fold(events: readonly SessionEvent[], from: Conversation = emptyConversation): Conversation {
  return events.reduce(reduce, from);
}

/** How often an input is in a conversation: waiting, or claimed by a step. */
export function timesThere(conversation: Conversation, inputId: CommandId): number {
  const turns = conversation.active === null ? conversation.turns : [...conversation.turns, conversation.active];
  const steps = turns.flatMap((turn) => (turn.step === null ? turn.steps : [...turn.steps, turn.step]));
  const all = [...conversation.inbox, ...steps.flatMap((step) => step.inputs)];
  return all.filter((input) => input.inputId === inputId).length;
}

export function callsOf(conversation: Conversation) {
  const turns = conversation.active === null ? conversation.turns : [...conversation.turns, conversation.active];
  const steps = turns.flatMap((turn) => (turn.step === null ? turn.steps : [...turn.steps, turn.step]));
  return steps.flatMap((step) => step.calls);
}

/**
 * What the model was asked, a line a message: `user: …`, `assistant: … <- tool(id)`, `tool id: …`. Checks on the way what every provider
 * demands: each call has one result, in order, right behind the reply that made it, and there is no other result.
 */
export function spoken(request: ChatRequest): string[] {
  const lines: string[] = [];
  let owed: string[] = [];
  for (const message of request.body.messages) {
    if (message.role === 'tool') {
      expect(message.tool_call_id, 'results stand in the order of their calls').toBe(owed[0]);
      owed = owed.slice(1);
      lines.push(`tool ${message.tool_call_id ?? ''}: ${message.content as string}`);
      continue;
    }
    expect(owed, 'every call has its result').toEqual([]);
    if (message.role === 'user') lines.push(`user: ${message.content as string}`);
    if (message.role !== 'assistant') continue;
    owed = message.tool_calls?.map((call) => call.id) ?? [];
    const calls = message.tool_calls?.map((call) => `${call.function.name}(${call.id})`) ?? [];
    const said = typeof message.content === 'string' ? [message.content] : [];
    lines.push(['assistant:', ...said, ...calls.map((call) => `<- ${call}`)].join(' '));
  }
  expect(owed, 'every call has its result').toEqual([]);
  return lines;
}

/** The reply up to its last act ([DONE]), and then nothing: the provider goes on thinking for ever. */
export function unfinished(reply: Reply): Reply {
  return { ...reply, acts: [...reply.acts.slice(0, -1), { act: 'hang' }] };
}

/** A figure that the proof measured, for whoever reads its output. */
export function report(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function codeOf(answer: Came): string {
  return 'error' in answer ? answer.error.data.code : 'no error';
}
