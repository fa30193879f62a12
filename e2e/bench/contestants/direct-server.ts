/**
 * Nobody in between: the bench's own client straight on the provider. What it takes is the harness's and the provider's own time, and the floor
 * for everything that streams. It keeps nothing, so it has no history and no list.
 */
import { request } from 'node:http';
import type { BenchPlace, BenchServer, SawText } from '../contestant.ts';
import { now } from '../measure.ts';
import { Turns } from './turns.ts';

export class DirectServer implements BenchServer {
  readonly pids: readonly number[] = [];
  readonly #url: string;
  readonly #saw = new Map<string, SawText>();
  readonly #turns = new Turns();
  #sessions = 0;

  constructor(place: BenchPlace) {
    this.#url = `${place.providerUrl}/v1/chat/completions`;
  }

  async start(): Promise<number> {
    return 0;
  }

  async restart(): Promise<number> {
    return 0;
  }

  async kill(): Promise<void> {}

  async close(): Promise<void> {}

  async create(): Promise<string> {
    return `direct-${++this.#sessions}`;
  }

  async subscribe(session: string, saw: SawText): Promise<void> {
    this.#saw.set(session, saw);
  }

  async send(session: string, text: string): Promise<void> {
    this.#turns.sent(session);
    const saw = this.#saw.get(session);
    const body = JSON.stringify({
      model: 'bench',
      stream: true,
      messages: [{ role: 'user', content: text }],
      tools: [{ type: 'function', function: { name: 'bash', parameters: { properties: { command: {} } } } }],
    });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const asked = request(this.#url, { method: 'POST', headers }, (answer) => {
      let rest = '';
      answer.setEncoding('utf8').on('data', (data: string) => {
        const at = now();
        const messages = (rest + data).split('\n\n');
        rest = messages.pop() ?? '';
        for (const message of messages) {
          if (!message.startsWith('data: {')) continue;
          const chunk = JSON.parse(message.slice(6)) as { choices?: { delta?: { content?: string } }[] };
          const said = chunk.choices?.[0]?.delta?.content;
          if (said) saw?.(said, at);
        }
      });
      answer.on('close', () => this.#turns.ended(session));
    });
    asked.on('error', () => this.#turns.ended(session));
    asked.end(body);
  }

  async done(session: string): Promise<void> {
    await this.#turns.done(session, new Promise(() => undefined));
  }
}
