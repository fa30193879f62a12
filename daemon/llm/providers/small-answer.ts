/**
 * One short question to a provider or a server of this machine, beside the replies of models: does this key work, which models are there. No
 * redirect is followed, the answer is bounded in time and size, and no connection stays. Never throws for what the world does.
 */
import { Http } from '../../base/http.ts';
import type { ProxyEnvironment } from '../../base/proxy.ts';
import { messageOf, systemCode } from '../../base/errors.ts';

export type SmallAnswer =
  | { answered: true; status: number; headers: Headers; text: string }
  /** `why`: the system's own word, or that it took too long. */
  | { answered: false; why: string };

export interface Question {
  url: string;
  headers: Record<string, string>;
  /** What is posted; without it the question is a GET. */
  body?: string;
  /** Where proxies are named. */
  environment?: ProxyEnvironment;
  timeoutMs: number;
  maxBytes: number;
}

export async function askShortly({
  url,
  headers,
  body,
  environment,
  timeoutMs,
  maxBytes,
}: Question): Promise<SmallAnswer> {
  const http = new Http(environment);
  const late = AbortSignal.timeout(timeoutMs);
  const enough = new AbortController();
  try {
    const response = await http.fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { accept: 'application/json', 'user-agent': 'alcove', ...headers },
      body: body ?? '',
      signal: AbortSignal.any([late, enough.signal]),
      received: () => undefined,
    });
    return {
      answered: true,
      status: response.status,
      headers: response.headers,
      text: await readUpTo(response, maxBytes),
    };
  } catch (error) {
    if (late.aborted) return { answered: false, why: `no answer within ${timeoutMs / 1000} s` };
    return { answered: false, why: reasonOf(error) };
  } finally {
    enough.abort();
    http.close();
  }
}

async function readUpTo(response: Response, limit: number): Promise<string> {
  if (response.body === null) return '';
  const body: AsyncIterable<Uint8Array> = response.body;
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > limit) throw new Error(`the answer is larger than ${Math.floor(limit / 1024)} KiB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function reasonOf(error: unknown): string {
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    const code = systemCode(one);
    if (code !== undefined) return code;
  }
  return messageOf(error);
}
