/**
 * Projects and sessions of the machine as lists show them. One projection answers "which one needs me" for the sidebar, the page's title,
 * the app's badge and the phone's bar, so they never disagree. Rows come by list on connect and one by one as news.
 * What was seen is known to this device only.
 */
import { SvelteMap } from 'svelte/reactivity';
import { untrack } from 'svelte';
import type { SessionSummary } from '#protocol/commands/session-values.ts';
import { RequestError } from '#protocol/errors.ts';
import type { Notice } from '#protocol/notices/notice.ts';
import type { ProjectId, SessionId } from '#protocol/values/ids.ts';
import type { Project } from '#protocol/values/project.ts';
import type { SandboxState } from '#protocol/values/sandbox.ts';
import type { Clock } from '../base/clock.ts';
import { isRecord, type Storage } from '../base/storage.ts';
import type { Client } from '../connection/client.ts';

/** A first page that fills any sidebar; more on demand. */
const pageSize = 200;
/** Marks kept per machine: older sessions than these were seen long ago. */
const maxSeen = 2000;

export interface CatalogNeeds {
  readonly client: Pick<Client, 'call'>;
  readonly clock: Clock;
  readonly storage: Storage;
  readonly machineId: string;
}

export class CatalogState {
  readonly #needs: CatalogNeeds;
  #projects = $state.raw<readonly Project[]>([]);
  #offered = $state.raw<string | null>(null);
  #sandbox = $state.raw<SandboxState | null>(null);
  #loaded = $state(false);
  #next = $state.raw<string | null>(null);
  readonly #rows = new SvelteMap<SessionId, SessionSummary>();
  /** The last seq that was seen, by session, the longest ago first. */
  #seen = $state.raw<Readonly<Record<string, number>>>({});
  /** Sessions that rested before this device first looked count as seen. */
  #seenSince = 0;
  /** Rows that came as news while a list was under way: newer than the list's. */
  #news: SessionId[] = [];

  readonly #sessions = $derived.by(() =>
    [...this.#rows.values()]
      .filter((row) => !row.archived && row.spawned === undefined && this.#isShown(row))
      .sort((one, other) => other.updatedAt - one.updatedAt || (one.sessionId < other.sessionId ? 1 : -1)),
  );
  readonly #needsYou = $derived(
    this.#sessions
      // One that cannot be written cannot be answered: it stands with its problem.
      .filter((row) => row.state === 'waiting' && row.problem === null)
      .sort((one, other) => waitingSince(one) - waitingSince(other)),
  );
  readonly #running = $derived(
    this.#sessions.filter((row) => row.problem === null && (row.state === 'running' || row.state === 'pausing')),
  );

  constructor(needs: CatalogNeeds) {
    this.#needs = needs;
    this.#readSeen();
  }

  get projects(): readonly Project[] {
    return this.#projects;
  }

  /** The folder that the daemon was started in, where it is not a project yet. */
  /** What holds commands back on the machine; null while that is not known. */
  get sandbox(): SandboxState | null {
    return this.#sandbox;
  }

  get offered(): string | null {
    return this.#offered;
  }

  /** False until the first list has come: an empty list says nothing before. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Newest activity first; archived ones and those of removed projects left out. */
  get sessions(): readonly SessionSummary[] {
    return this.#sessions;
  }

  /** Those that wait for a person, the longest first. */
  get needsYou(): readonly SessionSummary[] {
    return this.#needsYou;
  }

  get running(): readonly SessionSummary[] {
    return this.#running;
  }

  get hasMore(): boolean {
    return this.#next !== null;
  }

  byProject(projectId: ProjectId): readonly SessionSummary[] {
    return this.#sessions.filter((row) => row.projectId === projectId);
  }

  summaryOf(sessionId: SessionId): SessionSummary | undefined {
    return this.#rows.get(sessionId);
  }

  /** It came to rest, and was not looked at on this device since. */
  unread(sessionId: SessionId): boolean {
    const row = this.#rows.get(sessionId);
    if (row === undefined || row.lastOutcome === null) return false;
    if (row.state !== 'idle' && row.state !== 'failed' && row.state !== 'interrupted') return false;
    return row.updatedAt > this.#seenSince && (this.#seen[sessionId] ?? 0) < row.seq;
  }

  /** The next session after `from` in the ring: needs you, failed and unread, finished and unread. Null: none is left. */
  nextInRing(from: SessionId | null): SessionId | null {
    const unread = this.#sessions.filter((row) => this.unread(row.sessionId));
    const ring = [
      ...this.#needsYou,
      ...unread.filter((row) => row.state === 'failed'),
      ...unread.filter((row) => row.state !== 'failed'),
    ].map((row) => row.sessionId);
    const place = from === null ? -1 : ring.indexOf(from);
    return ring[(place + 1) % ring.length] ?? null;
  }

  markSeen(sessionId: SessionId): void {
    const row = this.#rows.get(sessionId);
    if (row === undefined) return;
    untrack(() => {
      const { [sessionId]: before, ...others } = this.#seen;
      if (before === row.seq) return;
      // At the end, so that what was looked at longest ago is what is dropped.
      const marks = [...Object.entries(others), [sessionId, row.seq] as const];
      this.#seen = Object.fromEntries(marks.slice(-maxSeen));
      this.#needs.storage.write(this.#seenPlace, { since: this.#seenSince, sessions: this.#seen });
    });
  }

  /** The whole first page and the projects, on each connect. */
  async load(): Promise<void> {
    const { client } = this.#needs;
    this.#news = [];
    const [listed, projects] = await Promise.all([
      client.call('session.list', { limit: pageSize }),
      client.call('project.list', {}),
    ]);
    this.#projects = projects.projects;
    this.#offered = projects.offered;
    for (const sessionId of [...this.#rows.keys()]) if (!this.#news.includes(sessionId)) this.#rows.delete(sessionId);
    this.#add(listed.sessions);
    this.#next = listed.next;
    this.#loaded = true;
  }

  async loadMore(): Promise<void> {
    const after = this.#next;
    if (after === null) return;
    this.#news = [];
    const listed = await this.#needs.client.call('session.list', { limit: pageSize, after });
    if (this.#next !== after) return;
    this.#add(listed.sessions);
    this.#next = listed.next;
  }

  hear(notice: Notice): void {
    switch (notice.topic) {
      case 'projects':
        this.#offered = notice.offered;
        this.#show(notice.projects);
        break;
      case 'session':
        this.#news.push(notice.session.sessionId);
        this.#rows.set(notice.session.sessionId, notice.session);
        break;
      case 'sandbox':
        this.#sandbox = { level: notice.level, network: notice.network, problem: notice.problem };
        break;
      case 'settled':
        // Counts that the rows give as well.
        break;
      case 'models':
        // Not of the lists.
        break;
    }
  }

  /** The answer to adding or restoring a project, before the news of it. */
  addProject(project: Project): void {
    if (!this.#projects.some((one) => one.projectId === project.projectId)) this.#show([...this.#projects, project]);
  }

  /** What a project holds was in no list while it was hidden. */
  #show(projects: readonly Project[]): void {
    const before = this.#projects;
    this.#projects = projects;
    if (!this.#loaded) return;
    for (const { projectId } of projects)
      if (!before.some((one) => one.projectId === projectId)) void this.#loadOf(projectId);
  }

  async #loadOf(projectId: ProjectId): Promise<void> {
    try {
      this.#add((await this.#needs.client.call('session.list', { projectId, limit: pageSize })).sessions);
    } catch (error) {
      // Lost meanwhile: the next connection loads everything.
      if (!(error instanceof RequestError)) throw error;
    }
  }

  #add(rows: readonly SessionSummary[]): void {
    for (const row of rows) if (!this.#news.includes(row.sessionId)) this.#rows.set(row.sessionId, row);
  }

  #isShown(row: SessionSummary): boolean {
    return row.projectId === null || this.#projects.some((project) => project.projectId === row.projectId);
  }

  get #seenPlace(): string {
    return `seen.${this.#needs.machineId}`;
  }

  #readSeen(): void {
    const { clock, storage } = this.#needs;
    const kept = storage.read(this.#seenPlace);
    if (isRecord(kept) && typeof kept['since'] === 'number' && isRecord(kept['sessions'])) {
      this.#seenSince = kept['since'];
      const marks = Object.entries(kept['sessions']).filter(
        (mark): mark is [string, number] => typeof mark[1] === 'number',
      );
      this.#seen = Object.fromEntries(marks);
      return;
    }
    this.#seenSince = clock.now();
    // Before the first machine answers there is nothing to mark.
    if (this.#needs.machineId !== '') storage.write(this.#seenPlace, { since: this.#seenSince, sessions: {} });
  }
}

function waitingSince(row: SessionSummary): number {
  const open = [...row.requests, ...(row.questions ?? [])];
  return open.length > 0 ? Math.min(...open.map((one) => one.at)) : row.updatedAt;
}
