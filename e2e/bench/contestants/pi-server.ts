/**
 * pi's `--mode rpc`: JSON messages, one a line, on standard input and output, and a process for each session. It has no list and no pages; what it
 * is asked for is the whole history. A session is named by its file, by which another life of it goes on.
 */
import type { Answered, BenchServer, CommandLine, SawText } from '../contestant.ts';
import { now } from '../measure.ts';
import { ServerProcess } from './server-process.ts';
import { Turns } from './turns.ts';

interface Message {
  readonly id?: string;
  readonly type: string;
  readonly success?: boolean;
  readonly error?: string;
  readonly data?: Record<string, unknown>;
  readonly assistantMessageEvent?: { readonly type: string; readonly delta?: string };
}

interface Answer {
  readonly data: Record<string, unknown>;
  readonly ms: number;
  readonly bytes: number;
}

/** One process. */
class Agent {
  readonly process: ServerProcess;
  /** The file that it keeps its session in. */
  file = '';
  readonly #asked = new Map<string, (message: Message, at: number, bytes: number) => void>();
  readonly #told: (file: string, message: Message, at: number) => void;
  #lastId = 0;

  constructor(line: CommandLine, told: (file: string, message: Message, at: number) => void) {
    this.#told = told;
    this.process = new ServerProcess(line, (text, at) => {
      const message = JSON.parse(text) as Message;
      if (message.type === 'response' && message.id !== undefined) {
        this.#asked.get(message.id)?.(message, at, text.length);
        this.#asked.delete(message.id);
      } else this.#told(this.file, message, at);
    });
  }

  call(type: string, params: object = {}): Promise<Answer> {
    const id = `ask-${++this.#lastId}`;
    const from = now();
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#asked.set(id, ({ success, error, data }, at, bytes) => {
        if (success === true) resolve({ data: data ?? {}, ms: (at - from) / 1000, bytes });
        else reject(new Error(`${type}: ${error ?? 'no success'}`));
      });
    });
    this.process.write(JSON.stringify({ id, type, ...params }));
    return this.process.before(answer);
  }
}

export class PiServer implements BenchServer {
  readonly #line: (args: readonly string[]) => CommandLine;
  readonly #agents = new Map<string, Agent>();
  /** Started and not given a session yet. */
  #spare: Agent | null = null;
  readonly #saw = new Map<string, SawText>();
  readonly #turns = new Turns();

  /** @param line Starts `pi --mode rpc` with these arguments more. */
  constructor(line: (args: readonly string[]) => CommandLine) {
    this.#line = line;
  }

  get pids(): readonly number[] {
    return this.#all().map(({ process }) => process.pid);
  }

  async start(): Promise<number> {
    this.#turns.forget();
    this.#saw.clear();
    this.#spare = await this.#begin([]);
    return this.#spare.process.age;
  }

  async restart(): Promise<number> {
    await this.close();
    return await this.start();
  }

  async kill(): Promise<void> {
    await Promise.all(this.#all().map(({ process }) => process.kill()));
    this.#forget();
  }

  async close(): Promise<void> {
    await Promise.all(this.#all().map(({ process }) => process.end()));
    this.#forget();
  }

  async create(): Promise<string> {
    const agent = this.#spare ?? (await this.#begin([]));
    this.#spare = null;
    this.#agents.set(agent.file, agent);
    return agent.file;
  }

  async subscribe(session: string, saw: SawText): Promise<void> {
    this.#saw.set(session, saw);
  }

  async send(session: string, text: string): Promise<void> {
    const agent = await this.#of(session);
    this.#turns.sent(session);
    await agent.call('prompt', { message: text });
  }

  async done(session: string): Promise<void> {
    const agent = await this.#of(session);
    await this.#turns.done(session, agent.process.ended);
  }

  async page(session: string): Promise<Answered> {
    const agent = await this.#of(session);
    const { data, ms, bytes } = await agent.call('get_messages');
    return { ms, bytes, items: (data['messages'] as unknown[]).length };
  }

  async history(session: string): Promise<string> {
    const agent = await this.#of(session);
    return JSON.stringify((await agent.call('get_messages')).data['messages']);
  }

  #all(): Agent[] {
    return [...this.#agents.values(), ...(this.#spare === null ? [] : [this.#spare])];
  }

  #forget(): void {
    this.#agents.clear();
    this.#spare = null;
  }

  /** The process of a session; after a start it is one more, on the session's file. */
  async #of(session: string): Promise<Agent> {
    const known = this.#agents.get(session);
    if (known !== undefined) return known;
    const agent = await this.#begin(['--session', session]);
    agent.file = session;
    this.#agents.set(session, agent);
    return agent;
  }

  async #begin(args: readonly string[]): Promise<Agent> {
    const agent = new Agent(this.#line(args), (file, message, at) => this.#take(file, message, at));
    const { data } = await agent.call('get_state');
    agent.file = data['sessionFile'] as string;
    agent.process.isReady();
    return agent;
  }

  #take(file: string, { type, assistantMessageEvent }: Message, at: number): void {
    if (type === 'message_update' && assistantMessageEvent?.type === 'text_delta')
      this.#saw.get(file)?.(assistantMessageEvent.delta ?? '', at);
    else if (type === 'agent_end') this.#turns.ended(file);
  }
}
