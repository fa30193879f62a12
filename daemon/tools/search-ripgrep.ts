/**
 * The search by ripgrep: quickest by far, and its patterns need linear time. No argument passes a shell. Its output is taken in pieces and no more
 * kept of it than is shown. It starts in the folder that was opened, whatever stands at that path by then (PM17).
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { maxFoundLineBytes, maxSearchedFileBytes, searchMs } from '../base/limits.ts';
import { runProcess } from '../base/process.ts';
import { inRepository } from './ignore-rules.ts';
import { openPlace } from './paths.ts';
import { foundLine, windowStart, type FoundLine, type OnFound, type Search, type SearchRequest } from './search.ts';

/** The one that is shipped with Alcove; null where there is none for this machine. */
export async function shippedRipgrep(): Promise<Search | null> {
  // The package throws on import where it has no program for this kind of machine.
  const shipped = await import('@vscode/ripgrep').catch(() => null);
  return shipped !== null && (await isProgram(shipped.rgPath)) ? ripgrepAt(shipped.rgPath) : null;
}

export async function ripgrepOnPath(path: string): Promise<Search | null> {
  for (const folder of path.split(':').filter(isAbsolute)) {
    const program = join(folder, 'rg');
    if (await isProgram(program)) return ripgrepAt(program);
  }
  return null;
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function ripgrepAt(program: string): Search {
  return {
    name: program,
    async run(request, environment, signal, onFound) {
      const handle = await openPlace(request.folder, constants.O_RDONLY | constants.O_DIRECTORY);
      const enough = new AbortController();
      const args = argumentsFor(request, await inRepository(request.folder));
      const output = new Output(request, (path, lines) => {
        const more = onFound(path, lines);
        if (!more) enough.abort();
        return more;
      });
      let group = null as number | null;
      try {
        const end = await runProcess({
          program,
          args,
          folder: process.platform === 'linux' ? `/proc/${process.pid}/fd/${handle.fd}` : request.folder,
          environment: environment.processEnvironment,
          mark: `${environment.processes.mark}.${randomBytes(6).toString('hex')}`,
          timeLimitMs: searchMs,
          signal: AbortSignal.any([signal, enough.signal]),
          onStarted: async ({ pid, startTime }) => {
            group = pid;
            await environment.processes.started({ pid, startTime });
          },
          onOutput: (piece) => output.push(piece),
        });
        if (group !== null && end.leftRunning === 0) await environment.processes.ended({ pid: group });
        if (end.aborted || end.timedOut) return { kind: 'stopped' };
        output.end();
        if (enough.signal.aborted) return { kind: 'stopped' };
        // 2 alone says little: a folder that may not be read has it as well.
        if (end.exitCode === 2 && output.message !== '') return { kind: 'refused', problem: output.message };
        return { kind: 'complete' };
      } finally {
        await handle.close();
      }
    },
  };
}

function argumentsFor(request: SearchRequest, repository: boolean): string[] {
  return [
    ...['--no-config', '--no-messages', '--color=never', '--sort=path', '--null', '--no-mmap', '--no-follow'],
    // What a repository ignores, without the person's own lists: the same for everybody who works in it, and for our own search.
    ...(repository ? [] : ['--no-require-git', '--no-ignore-parent']),
    ...['--no-ignore-global', '--no-ignore-exclude', '--no-ignore-dot', '--glob=!.git'],
    ...(request.hidden || request.only !== null ? ['--hidden'] : []),
    // By a pattern and not by its name: a file that is named outright is searched even when it is binary.
    ...(request.only === null ? [] : ['--no-ignore', '--max-depth=1', `--glob=/${literalGlob(request.only)}`]),
    ...(request.pattern === null
      ? ['--files']
      : [
          ...['--no-heading', '--with-filename', '--line-number', '--column', '--crlf', '--encoding=auto'],
          `--max-filesize=${maxSearchedFileBytes}`,
          ...(request.ignoreCase ? ['--ignore-case'] : []),
          `--regexp=${request.pattern}`,
        ]),
    '--',
    './',
  ];
}

function literalGlob(name: string): string {
  return name.replace(/[\\*?[\]{}!]/g, '\\$&');
}

const lineFeed = 0x0a;
/** Longest path that Linux takes, and the two numbers. */
const maxHeadBytes = 4096 + 64;
const maxMessageBytes = 2_000;

/** Reads `path NUL line:column:text LF`, or `path NUL` for a listing. Anything else is a message. */
class Output {
  readonly #request: SearchRequest;
  readonly #onFound: OnFound;
  #over = false;
  /** What came of the record before its text; null while the text comes. */
  #head: Buffer = Buffer.alloc(0);
  #inText = false;
  #number = 0;
  #start = 0;
  #length = 0;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** The file whose lines come, and whether they count: binary is known at its end only. */
  #path: string | null = null;
  #lines: FoundLine[] = [];
  #binary = false;
  message = '';

  constructor(request: SearchRequest, onFound: OnFound) {
    this.#request = request;
    this.#onFound = onFound;
  }

  push(piece: Uint8Array): void {
    let rest = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    while (rest.length > 0 && !this.#over) {
      if (this.#request.pattern === null) rest = this.#takeName(rest);
      else if (this.#inText) rest = this.#takeText(rest);
      else rest = this.#takeHead(rest);
    }
  }

  end(): void {
    if (this.#request.pattern === null) this.#addMessage(this.#head.toString());
    else if (this.#inText) this.#endText();
    else this.#addMessage(this.#head.toString());
    this.#endFile();
  }

  #takeName(piece: Buffer): Buffer {
    const end = piece.indexOf(0);
    this.#head = Buffer.concat([this.#head, end === -1 ? piece : piece.subarray(0, end)]);
    if (end === -1) {
      if (this.#head.length > maxHeadBytes) this.#over = true;
      return piece.subarray(piece.length);
    }
    const path = relative(this.#head);
    this.#head = Buffer.alloc(0);
    if (this.#request.wants(path) && !this.#onFound(path, [])) this.#over = true;
    return piece.subarray(end + 1);
  }

  /** Up to the second colon behind the NUL. A line that is no start of a path, or speaks of the file before it, is a message. */
  #takeHead(piece: Buffer): Buffer {
    const before = this.#head.length;
    const head = Buffer.concat([this.#head, piece.subarray(0, maxHeadBytes)]);
    const nul = head.indexOf(0);
    const feed = head.indexOf(lineFeed);
    if (feed !== -1 && (nul === -1 || feed < nul) && this.#takeMessage(head.toString('utf8', 0, feed))) {
      this.#head = Buffer.alloc(0);
      return piece.subarray(feed + 1 - before);
    }
    const place = nul === -1 ? null : /^(\d+):(\d+):/.exec(head.toString('latin1', nul + 1, nul + 40));
    if (place !== null) {
      this.#startText(relative(head.subarray(0, nul)), Number(place[1]), Number(place[2]) - 1);
      return piece.subarray(nul + 1 + place[0].length - before);
    }
    this.#head = head;
    if (head.length > 2 * maxHeadBytes) this.#over = true;
    return piece.subarray(head.length - before);
  }

  #takeMessage(line: string): boolean {
    if (this.#path !== null && line.startsWith(`./${this.#path}: `) && line.includes('binary file')) {
      this.#binary = true;
      return true;
    }
    if (line.startsWith('./')) return false; // a path that holds a line end
    this.#addMessage(line);
    return true;
  }

  #addMessage(text: string): void {
    if (this.message.length < maxMessageBytes) this.message = `${this.message}\n${text}`.trim();
  }

  #startText(path: string, number: number, column: number): void {
    if (path !== this.#path) this.#endFile();
    this.#path = path;
    this.#head = Buffer.alloc(0);
    this.#inText = true;
    this.#number = number;
    this.#start = windowStart(column);
    this.#length = 0;
    this.#kept = [];
    this.#keptBytes = 0;
  }

  #takeText(piece: Buffer): Buffer {
    const feed = piece.indexOf(lineFeed);
    const part = feed === -1 ? piece : piece.subarray(0, feed);
    const wanted = part.subarray(Math.max(0, this.#start - this.#length));
    // One more, for the carriage return of a line that just fits.
    const room = maxFoundLineBytes + 1 - this.#keptBytes;
    if (room > 0 && wanted.length > 0) {
      const kept = Buffer.from(wanted.subarray(0, room)); // the piece's memory is used again
      this.#kept.push(kept);
      this.#keptBytes += kept.length;
    }
    this.#length += part.length;
    if (feed === -1) return piece.subarray(piece.length);
    this.#endText();
    return piece.subarray(feed + 1);
  }

  #endText(): void {
    this.#inText = false;
    if (this.#lines.length >= this.#request.maxLines) return;
    let part = Buffer.concat(this.#kept);
    let length = this.#length;
    if (this.#start + part.length === length && part.at(-1) === 0x0d) {
      part = part.subarray(0, -1);
      length--;
    }
    this.#lines.push(foundLine(this.#number, part, this.#start, length));
  }

  #endFile(): void {
    const [path, lines, binary] = [this.#path, this.#lines, this.#binary];
    this.#path = null;
    this.#lines = [];
    this.#binary = false;
    if (path === null || binary || this.#over || lines.length === 0 || !this.#request.wants(path)) return;
    if (!this.#onFound(path, lines)) this.#over = true;
  }
}

function relative(path: Buffer): string {
  return path.toString().replace(/^\.\//, '');
}
