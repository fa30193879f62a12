/** The door on a free port with a home of its own: everything real but what stands behind it. Closed when the test has ended. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Notice } from '#protocol/notices/notice.ts';
import { noSandbox } from '#protocol/values/sandbox.ts';
import { Diagnostics } from '../base/diagnostics.ts';
import { SystemIds } from '../base/ids.ts';
import type { BlobStore } from '../server/blob-store.ts';
import { Server, type ServerNeeds } from '../server/server.ts';
import { ManualClock } from './manual-clock.ts';
import { MemorySessions } from './memory-sessions.ts';
import type { Came, Credentials } from './socket-client.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface OpenedServer {
  readonly server: Server;
  readonly home: string;
  readonly clock: ManualClock;
  readonly ids: SystemIds;
  readonly sessions: MemorySessions;
  readonly notices: MemoryNotices;
  /** Each call that reached a handler from behind the door: method and caller. */
  readonly calls: string[];
  /** Pairs a device, as a browser does. */
  readonly pair: (name?: string) => Promise<Credentials & { machineId: string; publicKey: string }>;
  /** With the per-process token. */
  readonly rpc: (method: string, params?: object) => Promise<Came>;
  readonly bearer: () => { authorization: string };
  readonly log: () => string;
  readonly url: (path: string) => string;
}

export type Overrides = Partial<Omit<ServerNeeds, 'handlers'>> & { handlers?: object };

export async function openServer(overrides: Overrides = {}): Promise<OpenedServer> {
  const home = overrides.home ?? temporaryFolder();
  const clock = (overrides.clock as ManualClock | undefined) ?? new ManualClock();
  const ids = new SystemIds(clock);
  const sessions = new MemorySessions();
  const notices = new MemoryNotices();
  const calls: string[] = [];
  const logFile = join(home, 'diagnostics.jsonl');
  const diagnostics = new Diagnostics(logFile, clock);
  const server = await Server.open({
    home,
    webFolder: join(home, 'web'),
    port: 0,
    about: { name: 'workshop', version: '0.0.1', bootId: ids.uuid7(), features: [] },
    clock,
    ids,
    diagnostics,
    sessions,
    notices,
    blobs: new MemoryBlobs(),
    sandbox: noSandbox,
    counts: () => ({ running: 1, waiting: 2, all: 3 }),
    ...overrides,
    handlers: recording(calls, overrides.handlers ?? {}),
  });
  onTestFinished(async () => {
    await server.close();
    diagnostics.close();
  });
  const url = (path: string) => `http://localhost:${server.port}${path}`;
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const sent = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
    return (await fetch(url(path), sent)).json();
  };
  const bearer = () => ({ authorization: `Bearer ${server.processToken}` });
  return {
    server,
    home,
    clock,
    ids,
    sessions,
    notices,
    calls,
    pair: async (name = 'Firefox on Linux') =>
      (await post('/pair', { code: server.pairings.create().code, name })) as Awaited<ReturnType<OpenedServer['pair']>>,
    rpc: async (method, params = {}) =>
      (await post('/rpc', { jsonrpc: '2.0', id: 1, method, params }, bearer())) as Came,
    bearer,
    log: () => readFileSync(logFile, 'utf8'),
    url,
  };
}

/** Handlers that answer `{}` where the test brings none, and note who called. */
function recording(calls: string[], own: object): ServerNeeds['handlers'] {
  return new Proxy(own, {
    ownKeys: () => [...new Set([...foreign, ...Object.keys(own)])],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    get: (_, name) => async (params: object, caller: { kind: string; name: string }) => {
      calls.push(`${String(name)} by ${caller.name}`);
      const handle = (own as Record<string | symbol, unknown>)[name];
      return typeof handle === 'function' ? (handle as (...all: unknown[]) => unknown)(params, caller) : {};
    },
  }) as ServerNeeds['handlers'];
}
const foreign = ['project.list', 'project.add', 'project.remove', 'session.rename', 'session.abort', 'model.list'];

export class MemoryNotices {
  values: Notice[] = [];
  readonly #watchers = new Set<(notice: Notice) => void>();

  get watchers(): number {
    return this.#watchers.size;
  }

  current(): readonly Notice[] {
    return this.values;
  }

  watch(changed: (notice: Notice) => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  tell(notice: Notice): void {
    for (const changed of this.#watchers) changed(notice);
  }
}

class MemoryBlobs implements BlobStore {
  readonly #blobs = new Map<string, Uint8Array>();

  async put(bytes: Uint8Array) {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.#blobs.set(sha256, bytes);
    return { sha256, bytes: bytes.length };
  }

  async open(sha256: string) {
    const bytes = this.#blobs.get(sha256);
    return bytes === undefined ? null : { bytes: bytes.length, stream: Readable.from([Buffer.from(bytes)]) };
  }
}
