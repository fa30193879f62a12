/** Codex's `app-server`: JSON messages, one a line, on its standard input and output. It has no token; its first answer is to `initialize`. */
import type { Answered, CommandLine, BenchServer, SawText } from '../contestant.ts';
import { now } from '../measure.ts';
import { ServerProcess } from './server-process.ts';
import { Turns } from './turns.ts';

/** How many items make a page, near what the others give with one. */
const itemsOfPage = 50;
/** It gives no more at once, whatever is asked for. */
const maxListed = 100;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
  readonly params?: { readonly threadId: string; readonly delta?: string };
}

interface Answer {
  readonly result: Record<string, unknown>;
  readonly ms: number;
  readonly bytes: number;
}

export class CodexServer implements BenchServer {
  readonly #line: CommandLine;
  #process: ServerProcess | null = null;
  readonly #asked = new Map<number, (message: Message, at: number, bytes: number) => void>();
  readonly #saw = new Map<string, SawText>();
  readonly #turns = new Turns();
  /** Threads that this life of the server has opened. */
  readonly #open = new Set<string>();
  #lastId = 0;

  /** @param line Starts `codex app-server`. */
  constructor(line: CommandLine) {
    this.#line = line;
  }

  get pids(): readonly number[] {
    return [this.#running.pid];
  }

  async start(): Promise<number> {
    this.#turns.forget();
    this.#open.clear();
    this.#process = new ServerProcess(this.#line, (line, at) =>
      this.#take(JSON.parse(line) as Message, at, line.length),
    );
    await this.#call('initialize', {
      clientInfo: { name: 'bench', title: 'bench', version: '1' },
      capabilities: { experimentalApi: true },
    });
    const ms = this.#running.age;
    this.#running.write('{"method":"initialized"}');
    this.#running.isReady();
    return ms;
  }

  async restart(): Promise<number> {
    await this.close();
    return await this.start();
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
    this.#process = null;
  }

  async close(): Promise<void> {
    await this.#process?.end();
    this.#process = null;
  }

  async create(folder: string): Promise<string> {
    const { result } = await this.#call('thread/start', {
      cwd: folder,
      approvalPolicy: 'never',
      sandbox: 'danger-full-access',
    });
    const { id } = result['thread'] as { id: string };
    this.#open.add(id);
    return id;
  }

  async subscribe(session: string, saw: SawText): Promise<void> {
    this.#saw.set(session, saw);
  }

  async send(session: string, text: string): Promise<void> {
    if (!this.#open.has(session)) {
      await this.#call('thread/resume', { threadId: session });
      this.#open.add(session);
    }
    this.#turns.sent(session);
    await this.#call('turn/start', { threadId: session, input: [{ type: 'text', text, text_elements: [] }] });
  }

  async done(session: string): Promise<void> {
    await this.#turns.done(session, this.#running.ended);
  }

  async page(session: string): Promise<Answered> {
    const { result, ms, bytes } = await this.#call('thread/items/list', {
      threadId: session,
      limit: itemsOfPage,
      sortDirection: 'desc',
    });
    return { ms, bytes, items: (result['data'] as unknown[]).length };
  }

  async history(session: string): Promise<string> {
    const { result } = await this.#call('thread/read', { threadId: session, includeTurns: true });
    return JSON.stringify((result['thread'] as { turns: unknown }).turns);
  }

  async list(): Promise<Answered> {
    const { result, ms, bytes } = await this.#call('thread/list', { limit: maxListed });
    return { ms, bytes, items: (result['data'] as unknown[]).length };
  }

  get #running(): ServerProcess {
    if (this.#process === null) throw new Error('codex was not started');
    return this.#process;
  }

  #call(method: string, params: object): Promise<Answer> {
    const id = ++this.#lastId;
    const from = now();
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#asked.set(id, ({ result, error }, at, bytes) => {
        if (result === undefined) reject(new Error(`${method}: ${error?.message ?? 'no result'}`));
        else resolve({ result, ms: (at - from) / 1000, bytes });
      });
    });
    this.#running.write(JSON.stringify({ id, method, params }));
    return this.#running.before(answer);
  }

  #take(message: Message, at: number, bytes: number): void {
    const { id, method, params } = message;
    if (id !== undefined && method === undefined) {
      this.#asked.get(id)?.(message, at, bytes);
      this.#asked.delete(id);
    } else if (method === 'item/agentMessage/delta' && params?.delta !== undefined)
      this.#saw.get(params.threadId)?.(params.delta, at);
    else if (method === 'turn/completed' && params !== undefined) this.#turns.ended(params.threadId);
  }
}
