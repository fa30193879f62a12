/**
 * The model's side of the crash harness: one provider for each wire format, whose replies come by chance. It thinks, speaks, calls tools in
 * parallel, fails, is cut in mid-stream and goes silent. Each command carries a token of its own and leaves it in a file when it runs, so
 * that what ran twice is seen; and every request is held against what each vendor demands.
 */
import type { Chance } from '../proofs/chance.ts';
import { formats, pairingProblem, type Format, type Said } from '../support/formats.ts';
import { errorReply, type Act, type Reply, type WireServer } from '../../daemon/testing/wire-server.ts';

interface Call {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
}

/** Tokens that a model of this size can take: a request that says more makes the agent compact. */
export const modelWindow = 40_000;

export class Models {
  readonly #chance: Chance;
  #servers: { format: Format; server: WireServer<unknown> }[] = [];
  #tokens = 0;
  /** Nothing fails, hangs or calls any more: what is open is brought to an end. */
  calm = false;
  readonly #mispaired: string[] = [];

  private constructor(chance: Chance) {
    this.#chance = chance;
  }

  static async start(chance: Chance): Promise<Models> {
    const models = new Models(chance);
    for (const format of formats) {
      const server = await format.start(({ body }) => models.#answer(format, body));
      models.#servers.push({ format, server });
    }
    return models;
  }

  /** Providers as the settings name them; each has one model, `scripted`. */
  get settings(): Record<string, unknown> {
    const entries = this.#servers.map(({ format, server }) => [
      format.name,
      {
        format: format.name,
        baseUrl: server.url,
        keyEnv: 'E2E_KEY',
        models: [{ id: 'scripted', contextWindow: modelWindow }],
      },
    ]);
    return Object.fromEntries(entries) as Record<string, unknown>;
  }

  /** What a vendor would have refused, in words. */
  get refusals(): string[] {
    return [...this.#mispaired, ...this.#servers.flatMap(({ server }) => server.refusals)];
  }

  get names(): string[] {
    return this.#servers.map(({ format }) => `${format.name}/scripted`);
  }

  get requests(): number {
    return this.#servers.reduce((sum, { server }) => sum + server.requests.length, 0);
  }

  /** Bodies of the requests that hold a text, as JSON, oldest first. */
  asked(text: string): string[] {
    return this.#servers.flatMap(({ server }) =>
      server.requests.map(({ body }) => JSON.stringify(body)).filter((body) => body.includes(text)),
    );
  }

  /** Forgets what was asked: a thousand rounds of it would fill the memory. */
  forget(): void {
    for (const { server } of this.#servers) (server.requests as unknown[]).length = 0;
  }

  async close(): Promise<void> {
    for (const { server } of this.#servers) await server.close();
  }

  #answer(format: Format, body: unknown): Reply {
    const problem = pairingProblem(format.marks(body));
    if (problem !== null) {
      this.#mispaired.push(`${format.name}: ${problem}`);
      return errorReply(400, { message: problem, type: 'invalid_request_error' });
    }
    const chance = this.#chance;
    if (this.calm) return format.reply({ text: 'Done.' });
    const lot = chance.below(100);
    if (lot < 4) return errorReply(500, { message: 'The server had a fault.', type: 'server_error' });
    if (lot < 7) return errorReply(429, { message: 'Too fast.', type: 'rate_limit_error' }, { 'retry-after': '0' });
    const reply = paced(format.reply(this.#said(format.offered(body))), chance);
    if (lot < 10)
      return { ...reply, acts: [...reply.acts.slice(0, 1 + chance.below(reply.acts.length)), { act: 'cut' }] };
    if (lot < 12) return { ...reply, acts: [...reply.acts.slice(0, chance.below(reply.acts.length)), { act: 'hang' }] };
    return reply;
  }

  #said(offered: readonly string[]): Said {
    const chance = this.#chance;
    const words = Array.from({ length: 1 + chance.below(40) }, (_, place) => `word${place} `);
    const thought = chance.below(4) === 0 ? { thought: 'I weigh it up.' } : {};
    // Now and then the window is said to be nearly full.
    const inputTokens = chance.below(25) === 0 ? modelWindow - 1000 : 100 + chance.below(5000);
    if (offered.length === 0 || chance.below(100) < 35) return { ...thought, text: words, inputTokens };
    const calls = Array.from({ length: 1 + chance.below(3) }, () => this.#call(offered));
    return { ...thought, ...(chance.below(2) === 0 ? { text: words } : {}), calls, inputTokens };
  }

  #call(offered: readonly string[]): Call {
    const chance = this.#chance;
    const kinds = ['read', 'write', 'edit', 'bash', 'bash', 'bash', 'bash', 'todo', 'ask_user', 'task'];
    const tools = kinds.filter((tool) => offered.includes(tool));
    const tool = tools[chance.below(tools.length)] ?? 'read';
    switch (tool) {
      case 'bash':
        return { tool, arguments: { command: this.#command() } };
      case 'write':
        return { tool, arguments: { path: `page-${chance.below(3)}.txt`, content: pageText(this.#token()) } };
      case 'edit':
        return { tool, arguments: { path: 'notes.md', edits: [{ oldText: 'Ferns', newText: 'Ferns' }] } };
      case 'todo':
        return { tool, arguments: { todos: [{ text: `Plant ${this.#token()}`, state: 'doing' }] } };
      case 'ask_user':
        return { tool, arguments: { question: 'Which bed?', options: [{ label: 'Left' }, { label: 'Right' }] } };
      case 'task':
        return { tool, arguments: { description: 'Look around', prompt: `Look around. ${this.#token()}` } };
      default:
        return { tool, arguments: { path: 'notes.md' } };
    }
  }

  #token(): string {
    this.#tokens += 1;
    return `tok${this.#tokens}e`;
  }

  /** A command that leaves its token, once it has begun. */
  #command(): string {
    const chance = this.#chance;
    const ran = `echo ${this.#token()} >> ran.txt`;
    const variants = [
      ran,
      `${ran}; exit 3`,
      `${ran}; for i in 1 2 3 4 5 6 7 8; do echo tick $i; sleep 0.02; done`,
      `${ran}; seq 1 20000`,
      `${ran}; echo $$ >> pids.txt; sleep 1`,
      `${ran}; sh -c 'echo $$ >> pids.txt; exec sleep 20' > /dev/null 2>&1 & sleep 0.05`,
      `${ran}; setsid sh -c 'echo $$ >> pids.txt; exec sleep 20' & sleep 0.1; wait`,
    ];
    return variants[chance.below(variants.length)] ?? ran;
  }
}

/** A page that tells by itself whether it is whole. */
export function pageText(token: string): string {
  return `${`${token}\n`.repeat(400)}end ${token}\n`;
}

/** The token that a call's arguments hold, where they hold one. */
export function tokenIn(text: string): string | null {
  return /tok\d+e/.exec(text)?.[0] ?? null;
}

/** Some waits between the bytes, so that a kill finds the reply anywhere. */
function paced(reply: Reply, chance: Chance): Reply {
  const slow = chance.below(4);
  const acts = reply.acts.flatMap((act): Act[] =>
    slow === 0 ? [act] : [{ act: 'wait', ms: chance.below(slow * 3) }, act],
  );
  return { ...reply, acts };
}
