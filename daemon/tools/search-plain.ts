/**
 * The search of our own, for machines without ripgrep: slower, the same answers. A folder or file that became a link meanwhile is noticed when
 * it is opened (PM17). The pattern runs in a worker that can be ended, since JavaScript's expressions may take time without end.
 */
import { constants } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { maxSearchedFileBytes } from '../base/limits.ts';
import { IgnoreRules } from './ignore-rules.ts';
import { openPlace } from './paths.ts';
import { javascriptPattern } from './search-pattern.ts';
import { foundLine, windowStart, type FoundLine, type Search, type SearchEnd, type SearchRequest } from './search.ts';

export const plainSearch: Search = {
  name: 'plain',
  async run(request, _environment, signal, onFound): Promise<SearchEnd> {
    const pattern = request.pattern === null ? null : javascriptPattern(request.pattern, request.ignoreCase);
    if (typeof pattern === 'string') return { kind: 'refused', problem: pattern };
    const matcher = pattern === null ? null : new Matcher(pattern, signal);
    try {
      for await (const path of filesOf(request, signal)) {
        if (!request.wants(path)) continue;
        const lines = matcher === null ? [] : await linesIn(join(request.folder, path), matcher, request.maxLines);
        if (matcher !== null && lines.length === 0) continue;
        if (!onFound(path, lines)) return { kind: 'stopped' };
      }
      return { kind: 'complete' };
    } catch (error) {
      if (signal.aborted) return { kind: 'stopped' };
      throw error;
    } finally {
      await matcher?.close();
    }
  },
};

async function* filesOf(request: SearchRequest, signal: AbortSignal): AsyncGenerator<string> {
  if (request.only !== null) {
    yield request.only;
    return;
  }
  yield* filesBelow(request, '', await IgnoreRules.of(request.folder), signal);
}

/** The folder that was asked for must be there; one below that cannot be read is passed over. */
async function* filesBelow(
  request: SearchRequest,
  path: string,
  above: IgnoreRules,
  signal: AbortSignal,
): AsyncGenerator<string> {
  signal.throwIfAborted();
  const folder = join(request.folder, path);
  const entries = path === '' ? await entriesOf(folder) : await entriesOf(folder).catch(() => []);
  const rules = await above.into(folder, new Set(entries.map(({ name }) => name)));
  for (const { name, kind } of entries) {
    if (kind === 'other' || name === '.git' || (name.startsWith('.') && !request.hidden)) continue;
    if (rules.leavesOut(join(folder, name), kind === 'folder')) continue;
    const below = path === '' ? name : `${path}/${name}`;
    if (kind === 'file') yield below;
    else yield* filesBelow(request, below, rules, signal);
  }
}

export interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** What is in a folder, sorted by the bytes of the names. Throws PlaceMoved and system errors. */
export async function entriesOf(folder: string): Promise<Entry[]> {
  const handle = await openPlace(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const at = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder;
    const found = await readdir(at, { withFileTypes: true });
    return found
      .map((one): Entry => ({
        name: one.name,
        kind: one.isFile() ? 'file' : one.isDirectory() ? 'folder' : one.isSymbolicLink() ? 'link' : 'other',
      }))
      .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  } finally {
    await handle.close();
  }
}

/** None of a file that is binary, too large or not to be read. */
async function linesIn(path: string, matcher: Matcher, maxLines: number): Promise<FoundLine[]> {
  const text = await textOf(path);
  if (text === null) return [];
  const matches = await matcher.match(text, maxLines);
  if (matches.length === 0) return [];
  const lines = text.split('\n');
  return matches.map(([at, column]) => {
    const line = (lines[at] as string).replace(/\r$/, '');
    const bytes = Buffer.from(line);
    const start = windowStart(Buffer.byteLength(line.slice(0, column)));
    return foundLine(at + 1, bytes.subarray(start), start, bytes.length);
  });
}

async function textOf(path: string): Promise<string | null> {
  const file = await openPlace(path, constants.O_RDONLY).catch(() => null);
  if (file === null) return null;
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > maxSearchedFileBytes) return null;
    const bytes = await file.readFile();
    const wide = bytes.length >= 2 ? wideMarks[bytes.toString('latin1', 0, 2)] : undefined;
    if (wide !== undefined) return new TextDecoder(wide).decode(bytes);
    return bytes.includes(0) ? null : new TextDecoder().decode(bytes);
  } catch {
    // Went away, or the disk refuses: as if it were not there, as ripgrep does it.
    return null;
  } finally {
    await file.close();
  }
}

const wideMarks: Readonly<Record<string, string>> = { '\xff\xfe': 'utf-16le', '\xfe\xff': 'utf-16be' };

/** Line numbers from 0 and columns of their first matches. */
type Match = [line: number, column: number];

/** The text of the worker: a file of its own would have to be found again beside the bundle. */
const workerText = `
const { parentPort, workerData } = require('node:worker_threads');
const pattern = new RegExp(workerData.source, workerData.flags);
parentPort.on('message', ({ text, maxLines }) => {
  const found = [];
  const lines = text.split('\\n');
  if (lines.at(-1) === '') lines.pop();
  for (let at = 0; at < lines.length && found.length < maxLines; at++) {
    const match = pattern.exec(lines[at].replace(/\\r$/, ''));
    if (match !== null) found.push([at, match.index]);
  }
  parentPort.postMessage(found);
});
`;

class Matcher {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;

  constructor(pattern: RegExp, signal: AbortSignal) {
    this.#signal = signal;
    this.#worker = new Worker(workerText, {
      eval: true,
      env: {},
      execArgv: [],
      workerData: { source: pattern.source, flags: pattern.flags },
    });
    this.#worker.on('error', () => {}); // told to the match that waits; with none, the time limit ends the search
  }

  /** Rejects when the signal fires first. */
  async match(text: string, maxLines: number): Promise<Match[]> {
    this.#signal.throwIfAborted();
    return new Promise<Match[]>((resolve, reject) => {
      const settle = (act: () => void) => {
        this.#worker.off('message', onMessage);
        this.#worker.off('error', onError);
        this.#signal.removeEventListener('abort', onAbort);
        act();
      };
      const onMessage = (found: Match[]) => settle(() => resolve(found));
      const onError = (error: unknown) =>
        settle(() => reject(error instanceof Error ? error : new Error(String(error))));
      const onAbort = () => settle(() => reject(new Error('stopped')));
      this.#worker.on('message', onMessage);
      this.#worker.on('error', onError);
      this.#signal.addEventListener('abort', onAbort, { once: true });
      this.#worker.postMessage({ text, maxLines });
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
