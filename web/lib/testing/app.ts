/**
 * The state of an app over a fake daemon, for tests of web/lib/state. Clock, ids, repaints and storage are the test's; two apps over the
 * same storage are two visits of one browser.
 */
import type { Machine } from '../connection/connection.ts';
import { Client } from '../connection/client.ts';
import { CredentialStore, type PairingLink } from '../connection/pairing.ts';
import type { Storage } from '../base/storage.ts';
import { AppState } from '../state/app.svelte.ts';
import { InstallState } from '../state/install.svelte.ts';
import type { SessionSummary } from '#protocol/commands/session-values.ts';
import type { Project } from '#protocol/values/project.ts';
import type { ProjectId, SessionId } from '#protocol/values/ids.ts';
import { FakeDaemon, type FakeSocket } from './fake-daemon.ts';
import { countingIds, ManualClock, ManualFrames } from './manual-clock.ts';
import { memoryStorage } from './memory-storage.ts';

export const project: Project = {
  projectId: 'prj_0192f000-0000-7000-8000-000000000001' as ProjectId,
  name: 'shop',
  path: '/home/kim/shop',
  addedAt: 0,
};

export function summaryOf(number: number, more: Partial<SessionSummary> = {}): SessionSummary {
  return {
    sessionId: `ses_0192f000-0000-7000-8000-${String(number).padStart(12, '0')}` as SessionId,
    projectId: project.projectId,
    title: `Session ${number}`,
    createdAt: 0,
    updatedAt: number,
    seq: 10,
    state: 'idle',
    driver: 'idle',
    model: 'scripted/demo',
    mode: 'ask',
    lastOutcome: null,
    activity: null,
    requests: [],
    archived: false,
    problem: null,
    owner: null,
    ...more,
  };
}

export class TestApp {
  readonly clock = new ManualClock();
  readonly frames = new ManualFrames();
  readonly storage: Storage;
  readonly credentials: CredentialStore;
  readonly app: AppState;
  readonly client: Client;
  /** Answers of `POST /pair`. */
  readonly posted: unknown[] = [];
  pairing: { ok: boolean; body: unknown } = { ok: false, body: null };
  /** Who answers at the origin; another may take its place. */
  daemon: FakeDaemon;

  constructor({
    daemon = new FakeDaemon(),
    storage = memoryStorage(),
    link = null,
    paired = true,
  }: { daemon?: FakeDaemon; storage?: Storage; link?: PairingLink | null; paired?: boolean } = {}) {
    this.daemon = daemon;
    this.storage = storage;
    this.credentials = new CredentialStore(storage);
    if (paired) this.credentials.keep(daemon.credentials);
    this.client = new Client({
      openSocket: (handlers) => this.daemon.openSocket(handlers),
      credentials: this.credentials,
      clock: this.clock,
      random: (bytes) => void bytes.fill(7),
      chance: () => 0,
      online: () => true,
    });
    const unchanging = { matches: false, addEventListener: () => undefined } as unknown as MediaQueryList;
    this.app = new AppState({
      client: this.client,
      credentials: this.credentials,
      storage,
      clock: this.clock,
      ids: countingIds(this.clock),
      frames: this.frames,
      look: { dark: unchanging, contrast: unchanging },
      deviceName: 'Firefox on Linux',
      post: (path, body) => {
        this.posted.push([path, body]);
        return Promise.resolve(this.pairing);
      },
      fetch: () => Promise.reject(new Error('nothing is fetched in this test')),
      link,
      install: new InstallState(window),
    });
  }

  get machine(): Machine {
    return { machineId: this.daemon.machineId, name: 'laptop', version: '0.1.0' };
  }

  /** Connects, and answers what an app asks first. */
  async open(sessions: readonly SessionSummary[] = []): Promise<FakeSocket> {
    if (this.client.connection.type === 'closed') this.client.start();
    const socket = await this.daemon.admit();
    socket.answer(await socket.next('model.list'), {
      models: [{ name: 'scripted/demo', label: 'Demo', available: true, reason: null }],
      default: 'scripted/demo',
      problems: [],
    });
    socket.answer(await socket.next('session.list'), { sessions, next: null });
    socket.answer(await socket.next('project.list'), { projects: [project], offered: null });
    await settled();
    return socket;
  }

  async reopen(sessions: readonly SessionSummary[] = []): Promise<FakeSocket> {
    this.clock.advance(1000);
    return this.open(sessions);
  }
}

/** What was promised has been done. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
