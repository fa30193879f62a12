/**
 * The model's side of the bench: a provider on loopback in a process of its own, so that its work is on nobody's event loop but its own. What
 * it answers stands in the newest message of the user (script.ts); what it was asked, and when, it tells when it is asked for it.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type ProviderFormat = 'chat' | 'responses' | 'messages';

/** One request, told after its answer ended. Moments are microseconds of the clock of measure.ts. */
export interface ProviderRequest {
  readonly format: ProviderFormat;
  /** When its headers had come. */
  readonly arrivedAt: number;
  /** Just before the first byte of the answer was written. */
  readonly firstByteAt: number;
  /** Just before the last byte of the answer was written, or when the client left. */
  readonly endedAt: number;
  readonly outcome: 'answered' | 'left';
  readonly bodyBytes: number;
  readonly systemBytes: number;
  readonly toolsBytes: number;
  readonly toolCount: number;
  /** The results that came since the message that holds the words: 0 for the first request of a turn. */
  readonly step: number;
  /** The start of the newest tool result, to see that the tool did run. */
  readonly lastResult: string | null;
  /** The newest message of the user that holds words of the script. */
  readonly task: string;
  /** Asked without tools: titles, summaries, probes. */
  readonly side: boolean;
}

export interface BenchProvider {
  /** Without `/v1`. */
  readonly url: string;
  readonly pid: number;
  /** Those that ended since the last reset, in the order of their arrival. */
  requests(): Promise<ProviderRequest[]>;
  reset(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** What goes to the process, and what comes back, one answer a question. */
export type ProviderQuestion = 'requests' | 'reset';
export type ProviderAnswer = { readonly port: number } | { readonly requests: ProviderRequest[] };

const program = fileURLToPath(new URL('provider-process.ts', import.meta.url));

export async function startProvider(): Promise<BenchProvider> {
  const child = fork(program, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  let ended = false;
  void exited.then(() => (ended = true));
  const answer = async (): Promise<ProviderAnswer> => {
    const over = exited.then(() => {
      throw new Error('The provider of the bench ended by itself.');
    });
    const [message] = (await Promise.race([once(child, 'message'), over])) as [ProviderAnswer];
    return message;
  };
  // One question at a time, as the answers carry no numbers.
  let last: Promise<unknown> = Promise.resolve();
  const ask = (question: ProviderQuestion): Promise<ProviderRequest[]> => {
    const asked = last.then(async () => {
      const answered = answer();
      child.send(question);
      const said = await answered;
      return 'requests' in said ? said.requests : [];
    });
    last = asked.catch(() => undefined);
    return asked;
  };
  const ready = await answer();
  return {
    url: `http://127.0.0.1:${'port' in ready ? ready.port : 0}`,
    pid: child.pid ?? 0,
    requests: () => ask('requests'),
    reset: async () => {
      await ask('reset');
    },
    close: async () => {
      if (!ended) child.kill('SIGTERM');
      await exited;
    },
  };
}
