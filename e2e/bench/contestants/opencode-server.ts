/** `opencode serve`: HTTP with one stream of events for all sessions. It asks for no password unless one is set; its first answer is health's. */
import { Agent, request } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Answered, CommandLine, BenchServer, SawText } from '../contestant.ts';
import { now } from '../measure.ts';
import { ServerProcess } from './server-process.ts';
import { Turns } from './turns.ts';

const messagesOfPage = 50;
/** Asked for by a client that wants all of two hundred. */
const listed = 200;

export interface OpencodeModel {
  readonly providerID: string;
  readonly modelID: string;
}

interface Answer {
  readonly text: string;
  readonly ms: number;
}

interface Event {
  readonly type: string;
  readonly properties?: {
    readonly sessionID?: string;
    readonly delta?: string;
    readonly part?: { readonly sessionID: string };
    readonly status?: { readonly type: string };
  };
}

export class OpencodeServer implements BenchServer {
  readonly #line: CommandLine;
  readonly #model: OpencodeModel;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #saw = new Map<string, SawText>();
  readonly #turns = new Turns();
  #process: ServerProcess | null = null;
  #stream: IncomingMessage | null = null;
  #port = 0;

  /** @param line Starts `opencode serve --port 0`. */
  constructor(line: CommandLine, model: OpencodeModel) {
    this.#line = line;
    this.#model = model;
  }

  get pids(): readonly number[] {
    return [this.#running.pid];
  }

  get port(): number {
    return this.#port;
  }

  async start(): Promise<number> {
    this.#turns.forget();
    let listens = (_port: number) => {};
    const listening = new Promise<number>((resolve) => (listens = resolve));
    this.#process = new ServerProcess(this.#line, (line) => {
      const found = /listening on http:\/\/[^:]+:(\d+)/.exec(line);
      if (found !== null) listens(Number(found[1]));
    });
    this.#port = await this.#process.before(listening);
    await this.#ask('GET', '/global/health');
    const ms = this.#process.age;
    await this.#listen();
    this.#process.isReady();
    return ms;
  }

  async restart(): Promise<number> {
    await this.close();
    return await this.start();
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
    this.#process = null;
    this.#stream?.destroy();
  }

  async close(): Promise<void> {
    this.#stream?.destroy();
    await this.#process?.end();
    this.#process = null;
  }

  async create(): Promise<string> {
    const { text } = await this.#ask('POST', '/session', { title: 'bench' });
    return (JSON.parse(text) as { id: string }).id;
  }

  async subscribe(session: string, saw: SawText): Promise<void> {
    this.#saw.set(session, saw);
  }

  async send(session: string, text: string): Promise<void> {
    this.#turns.sent(session);
    const body = { model: this.#model, parts: [{ type: 'text', text }] };
    await this.#ask('POST', `/session/${session}/prompt_async`, body);
  }

  async done(session: string): Promise<void> {
    await this.#turns.done(session, this.#running.ended);
  }

  async page(session: string): Promise<Answered> {
    return answered(await this.#ask('GET', `/session/${session}/message?limit=${messagesOfPage}`));
  }

  async history(session: string): Promise<string> {
    return (await this.#ask('GET', `/session/${session}/message`)).text;
  }

  async list(): Promise<Answered> {
    return answered(await this.#ask('GET', `/session?limit=${listed}`));
  }

  get #running(): ServerProcess {
    if (this.#process === null) throw new Error('opencode was not started');
    return this.#process;
  }

  async #ask(method: string, path: string, body?: object): Promise<Answer> {
    const from = now();
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const asked = request({
      host: '127.0.0.1',
      port: this.#port,
      method,
      path,
      agent: this.#agent,
      headers:
        sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) },
    });
    asked.end(sent);
    const [answer] = (await this.#running.before(once(asked, 'response'))) as [IncomingMessage];
    const pieces: Buffer[] = [];
    for await (const piece of answer) pieces.push(piece as Buffer);
    const ms = (now() - from) / 1000;
    const text = Buffer.concat(pieces).toString();
    if ((answer.statusCode ?? 500) >= 300)
      throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 200)}`);
    return { text, ms };
  }

  /** The stream of events, for as long as the server lives. */
  async #listen(): Promise<void> {
    const asked = request({ host: '127.0.0.1', port: this.#port, path: '/event' });
    asked.end();
    const [stream] = (await this.#running.before(once(asked, 'response'))) as [IncomingMessage];
    this.#stream = stream;
    let rest = '';
    stream.on('error', () => undefined); // It was killed.
    stream.setEncoding('utf8').on('data', (data: string) => {
      const at = now();
      const messages = (rest + data).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages)
        if (message.startsWith('data:')) this.#take(JSON.parse(message.slice(5)) as Event, at);
    });
  }

  #take({ type, properties }: Event, at: number): void {
    const session = properties?.sessionID ?? properties?.part?.sessionID;
    if (session === undefined) return;
    if (type.startsWith('message.part.') && properties?.delta !== undefined)
      this.#saw.get(session)?.(properties.delta, at);
    else if (type === 'session.idle') this.#turns.ended(session);
  }
}

function answered({ text, ms }: Answer): Answered {
  return { ms, bytes: Buffer.byteLength(text), items: (JSON.parse(text) as unknown[]).length };
}
