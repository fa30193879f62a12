/**
 * What the provider is told to do, in words of the newest message of the user that holds any:
 *
 *   STEPS=20                 so many tool calls one after the other, each `echo k`, then a short text
 *   CMD=c2xlZXAgMzA=         the command of these calls, in base64; alone, one call
 *   CHUNKS=500 DELAY=20      a text in so many pieces with so many milliseconds between them; 0, as fast as it goes
 *   BYTES=200                each piece is made so long
 *
 * A piece begins with `@<µs>@`, the moment it was written, so whoever sees it knows how long it took.
 */

export interface Script {
  readonly steps: number;
  readonly command: string;
  readonly chunks: number;
  readonly delayMs: number;
  readonly chunkBytes: number;
}

/** Something that was said in a conversation and that the script goes by. */
export interface Said {
  readonly by: 'user' | 'tool';
  readonly text: string;
}

/** How far a conversation has come. */
export interface Standing {
  readonly script: Script;
  readonly task: string;
  readonly step: number;
  readonly lastResult: string | null;
}

/** Some agents put quotes around what the person said. */
const word = /\b(STEPS|CMD|CHUNKS|DELAY|BYTES)=([A-Za-z0-9+/=]+)/g;

export function readScript(text: string): Script {
  const words = new Map<string, string>();
  // Later ones win: agents put their own texts before what the person said.
  for (const [, name, value] of text.matchAll(word)) words.set(name ?? '', value ?? '');
  const command = words.get('CMD');
  const number = (name: string, otherwise: number) => Number(words.get(name) ?? otherwise);
  return {
    steps: number('STEPS', command === undefined ? 0 : 1),
    command: command === undefined ? 'echo k' : Buffer.from(command, 'base64').toString('utf8'),
    chunks: number('CHUNKS', 4),
    delayMs: number('DELAY', 0),
    chunkBytes: number('BYTES', 0),
  };
}

/** The newest message with words decides; the results behind it are counted. */
export function standingOf(said: readonly Said[]): Standing {
  const start = said.findLastIndex(({ by, text }) => by === 'user' && text.search(word) >= 0);
  const task = said[start]?.text ?? '';
  const results = said.slice(start + 1).filter(({ by }) => by === 'tool');
  return { script: readScript(task), task, step: results.length, lastResult: results.at(-1)?.text ?? null };
}
