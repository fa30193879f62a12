/**
 * The app's files, as the build left them. A request names a file of the folder's list or none: there is no path to climb out by. The list is
 * made at start, and anew when the page has been built again meanwhile, so that a running daemon never serves half of one build and half of
 * another. Files under /_app/immutable carry a hash in their name and are kept for ever; all others are asked for anew each
 * time, and answered with 304 while they are the same. The page's own security policy, hash included, is read from the built page.
 */
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, stat, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { RequestError } from '#protocol/errors.ts';
import { systemCode } from '../base/errors.ts';
import { dataPolicy, securityHeaders } from './answer.ts';

interface StaticFile {
  readonly path: string;
  readonly type: string;
  readonly immutable: boolean;
  /** Variants that the build compressed, best first. */
  readonly encodings: readonly Encoding[];
}

const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;
type Encoding = (typeof encodings)[number];

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

const page = '/index.html';

export class StaticFiles {
  readonly #folder: string;
  #files: ReadonlyMap<string, StaticFile> = new Map();
  #policy = dataPolicy;
  /** Of the page that the list and the policy were made for. */
  #seen = '';

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** `folder` is the built app; where it is missing the daemon runs all the same, and the page says what to do. */
  static async open(folder: string): Promise<StaticFiles> {
    const files = new StaticFiles(folder);
    await files.#look();
    return files;
  }

  /** Lists the folder where its page is not the one that was seen last. */
  async #look(): Promise<void> {
    const found = await stat(join(this.#folder, page)).catch(() => null);
    const seen = found === null ? 'missing' : `${found.mtimeMs} ${found.size} ${found.ino}`;
    if (seen === this.#seen) return;
    const names = await filesUnder(this.#folder);
    const files = new Map(
      names
        .filter(
          (name) =>
            !encodings.some(({ ending }) => name.endsWith(ending) && names.includes(name.slice(0, -ending.length))),
        )
        .map((name) => [`/${name}`, describe(this.#folder, name, names)]),
    );
    const built = files.get(page);
    this.#policy = built === undefined ? dataPolicy : policyOf(await readFile(built.path, 'utf8'));
    this.#files = files;
    this.#seen = seen;
  }

  /** Throws a RequestError where there is no such file. A navigation to an address of the app is answered with the page. */
  async serve(
    request: IncomingMessage,
    response: ServerResponse,
    asked: { path: string; isNavigation: boolean },
  ): Promise<void> {
    // Only for the page itself, and for what is not in the list: a build's own files have names of their own.
    if (asked.isNavigation || !this.#files.has(asked.path)) await this.#look();
    const file =
      this.#files.get(asked.path === '/' ? page : asked.path) ??
      (asked.isNavigation ? this.#files.get(page) : undefined);
    if (file === undefined) throw notFound(this.#files.has(page));
    const encoding = file.encodings.find(({ name }) => accepts(request.headers['accept-encoding'], name));
    const handle = await openFile(file.path + (encoding?.ending ?? ''));
    try {
      const { size, mtimeMs } = await handle.stat();
      const etag = `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`;
      const headers = this.#headers(file, encoding, etag);
      if (request.headers['if-none-match'] === etag) response.writeHead(304, headers).end();
      else if (request.method === 'HEAD') response.writeHead(200, { ...headers, 'content-length': size }).end();
      else await sendFile(response.writeHead(200, { ...headers, 'content-length': size }), handle, size);
    } finally {
      await handle.close();
    }
  }

  #headers(file: StaticFile, encoding: Encoding | undefined, etag: string): OutgoingHttpHeaders {
    return {
      ...securityHeaders(this.#policy),
      'content-type': file.type,
      'cache-control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      etag,
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding.name }),
    };
  }
}

/** Paths below the folder with `/` between names. Links are not followed: a built app has none. */
async function filesUnder(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length).replaceAll('\\', '/'));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function describe(folder: string, name: string, names: readonly string[]): StaticFile {
  return {
    path: join(folder, name),
    type: types[extname(name)] ?? 'application/octet-stream',
    immutable: name.startsWith('_app/immutable/'),
    encodings: encodings.filter(({ ending }) => names.includes(name + ending)),
  };
}

/** The policy of the page's meta tag, and what a meta tag cannot say. */
function policyOf(html: string): string {
  const tag = /<meta\s+http-equiv="content-security-policy"\s+content="([^"]*)"/i.exec(html)?.[1];
  if (tag === undefined) return `default-src 'self'; frame-ancestors 'none'`;
  const policy = tag.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&').replace(/;\s*$/, '');
  return `${policy}; frame-ancestors 'none'`;
}

/** Reads an Accept-Encoding header: named, or `*`, and not with weight 0. */
function accepts(header: string | string[] | undefined, encoding: string): boolean {
  const offered = String(header ?? '')
    .split(',')
    .map((one) =>
      one
        .trim()
        .toLowerCase()
        .split(/\s*;\s*q=/),
    );
  const chosen = offered.find(([name]) => name === encoding) ?? offered.find(([name]) => name === '*');
  return chosen !== undefined && Number(chosen[1] ?? 1) > 0;
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw notFound(true, { cause: error });
    throw error;
  }
}

function notFound(isBuilt: boolean, options?: { cause: unknown }): RequestError {
  if (isBuilt) return new RequestError('not_found', 'There is nothing at this address.', options);
  return new RequestError(
    'unavailable',
    'The app is not built, so there is no page to show. Build it: npm run build:web',
  );
}

/** Exactly the announced bytes, also where the file is replaced meanwhile; a client that goes away ends it. */
function sendFile(response: ServerResponse, handle: FileHandle, size: number): Promise<void> {
  return new Promise((resolve, reject) => {
    if (size === 0) return void response.end(resolve);
    const stream = createReadStream('', { fd: handle, end: size - 1, autoClose: false });
    response.on('close', () => {
      stream.destroy();
      resolve();
    });
    stream.on('error', (error) => {
      response.destroy();
      reject(error);
    });
    stream.pipe(response);
  });
}
