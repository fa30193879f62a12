/**
 * The composition root of the web program: it builds the client, holds the state of the connection and of the machine, and hands out the
 * sessions. Components reach it by `useApp()`, read getters and call methods; nothing else of the page knows the connection.
 */
import { createContext } from 'svelte';
import type { CommandId, DeviceId, MachineId, ProjectId, RuleId, SessionId } from '#protocol/values/ids.ts';
import type { Device } from '#protocol/commands/machine.ts';
import type { Rule } from '#protocol/commands/approval.ts';
import type { Result } from '#protocol/command.ts';
import type { InputPart } from '#protocol/values/content.ts';
import { blobRef } from '#protocol/values/blob.ts';
import type { Effort, Mode } from '#protocol/values/model.ts';
import { parse } from '#protocol/schema.ts';
import type { BlobRef } from '#protocol/values/blob.ts';
import type { Project } from '#protocol/values/project.ts';
import { RequestError } from '#protocol/errors.ts';
import { systemClock, timedIds, type Clock, type Ids } from '../base/clock.ts';
import { browserFrames, type Frames } from '../base/repaint.ts';
import { browserStorage, isRecord, type Storage } from '../base/storage.ts';
import { Client } from '../connection/client.ts';
import type { ConnectionState, Machine } from '../connection/connection.ts';
import { watchPage } from '../connection/page.ts';
import {
  CredentialStore,
  deviceNameOf,
  jsonPost,
  pair,
  readPairingCode,
  takePairingLink,
  type PairingCode,
  type PairingLink,
} from '../connection/pairing.ts';
import { browserSocket } from '../connection/socket.ts';
import { AttachmentsState, isPdf, type PreparePicture } from './attachments.svelte.ts';
import { CatalogState } from './catalog.svelte.ts';
import { DialogsState } from './dialogs.svelte.ts';
import { DraftState } from './draft.svelte.ts';
import { InstallState } from './install.svelte.ts';
import { ModelsState } from './models.svelte.ts';
import { PreferencesState, systemLook, type SystemLook } from './preferences.svelte.ts';
import { SessionState } from './session.svelte.ts';

export type { ConnectionState, Machine } from '../connection/connection.ts';

/** Sessions that are followed at the same time: those that were looked at last. The others go on from their place when looked at again. */
const maxFollowed = 6;

export interface AppNeeds {
  readonly client: Client;
  readonly credentials: CredentialStore;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly frames: Frames;
  readonly look: SystemLook;
  readonly deviceName: string;
  readonly post: ReturnType<typeof jsonPost>;
  readonly fetch: typeof fetch;
  /** The link that the page was opened by. */
  readonly link: PairingLink | null;
  readonly install: InstallState;
}

export const [useApp, setApp] = createContext<AppState>();

export class AppState {
  readonly preferences: PreferencesState;
  readonly dialogs = new DialogsState();
  readonly install: InstallState;
  readonly #needs: AppNeeds;
  #connection = $state.raw<ConnectionState>({ type: 'closed' });
  #machine = $state.raw<Machine | null>(null);
  #catalog = $state.raw<CatalogState>() as CatalogState;
  #models = $state.raw<ModelsState>() as ModelsState;
  #pairingProblem = $state.raw<string | null>(null);
  #problem = $state.raw<string | null>(null);
  #link: PairingLink | null;
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- a cache: who takes a session is not drawn anew when another is taken
  readonly #sessions = new Map<SessionId, SessionState>();
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- a cache
  readonly #drafts = new Map<ProjectId, DraftState>();
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- a cache
  readonly #attachments = new Map<ProjectId, AttachmentsState>();

  constructor(needs: AppNeeds) {
    this.#needs = needs;
    this.#link = needs.link;
    this.install = needs.install;
    this.preferences = new PreferencesState(needs.storage, needs.look);
    this.#machine = this.#readMachine();
    this.#catalog = this.#makeCatalog();
    this.#models = new ModelsState(needs);
    needs.client.onConnection((state) => this.#connectionChanged(state));
    needs.client.onNotice((notice) => {
      this.#catalog.hear(notice);
      this.#models.hear(notice);
    });
  }

  get connection(): ConnectionState {
    return this.#connection;
  }

  /** The machine behind this origin, as it was last heard of; null before the first time. */
  get machine(): Machine | null {
    return this.#machine;
  }

  get catalog(): CatalogState {
    return this.#catalog;
  }

  get models(): ModelsState {
    return this.#models;
  }

  /** Why the link that the page was opened by did not pair this browser. */
  get pairingProblem(): string | null {
    return this.#pairingProblem;
  }

  /** Why the lists of this machine could not be read, though it answers. */
  get problem(): string | null {
    return this.#problem;
  }

  retryNow(): void {
    this.#needs.client.retryNow();
  }

  close(): void {
    for (const session of this.#sessions.values()) session.close();
    this.#needs.client.close();
  }

  // Pairing

  /** Takes a whole link, the code of one, or the typed characters. Rejects with a RequestError whose message says what to do. */
  async pair(text: string): Promise<void> {
    const code = readPairingCode(text);
    if (code === null)
      throw new RequestError(
        'invalid_params',
        'That is not a pairing code. Type the eight characters that `alcove pair` prints, or paste its link.',
      );
    await this.#pair(code);
  }

  async #pair(code: PairingCode): Promise<void> {
    const { client, credentials, deviceName, post } = this.#needs;
    credentials.keep(await pair(code, deviceName, post));
    this.#pairingProblem = null;
    client.retryNow();
  }

  async #pairByLink(link: PairingLink, machine: Machine): Promise<void> {
    if (link.machineId !== machine.machineId) {
      this.#pairingProblem = `The link is for another machine than ${machine.name}, which answers at this address.`;
      return;
    }
    try {
      await this.#pair({ type: 'link', link });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#pairingProblem = error.message;
    }
  }

  // Sessions and projects

  /** Always the same object for the same session, as long as it is among the last few; followed from the first use on. */
  session(sessionId: SessionId): SessionState {
    let session = this.#sessions.get(sessionId);
    if (session === undefined) {
      const { client, clock, ids, frames, storage } = this.#needs;
      session = new SessionState(sessionId, {
        client,
        clock,
        ids,
        frames,
        storage,
        machineId: this.#machine?.machineId ?? ('' as MachineId),
        connection: () => this.#connection,
        summaryOf: (id) => this.#catalog.summaryOf(id),
        preparePicture: this.#preparePicture,
      });
    }
    // Newest at the end.
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
    // Not now: this may be called while a component computes, when nothing may change.
    queueMicrotask(() => this.#follow());
    return session;
  }

  /** Nobody looks at it any more. Its draft and its unsent inputs stay. */
  release(sessionId: SessionId): void {
    this.#sessions.get(sessionId)?.close();
    this.#sessions.delete(sessionId);
  }

  #follow(): void {
    const sessions = [...this.#sessions.values()];
    for (const old of sessions.slice(0, -maxFollowed)) this.release(old.sessionId);
    for (const session of sessions.slice(-maxFollowed)) session.follow();
  }

  /** What stands in the composer of a project's new session. */
  draftOf(projectId: ProjectId): DraftState {
    let draft = this.#drafts.get(projectId);
    if (draft === undefined) {
      draft = new DraftState(this.#needs.storage, this.#machine?.machineId ?? '', `new.${projectId}`);
      this.#drafts.set(projectId, draft);
    }
    return draft;
  }

  /** What is attached to it. */
  attachmentsOf(projectId: ProjectId): AttachmentsState {
    let attachments = this.#attachments.get(projectId);
    if (attachments === undefined) {
      const machineId = this.#machine?.machineId ?? '';
      attachments = new AttachmentsState(this.#needs.storage, machineId, `new.${projectId}`, this.#preparePicture);
      this.#attachments.set(projectId, attachments);
    }
    return attachments;
  }

  /** Pressed again after a lost answer, it asks for the same session with the same ids. Rejects with a RequestError. */
  async createSession(
    projectId: ProjectId,
    text: string,
    choice: { model?: string; effort?: Effort | null; mode?: Mode } = {},
    attached: readonly InputPart[] = [],
  ): Promise<SessionId> {
    const { client, ids, storage } = this.#needs;
    const place = `creating.${this.#machine?.machineId ?? ''}.${projectId}`;
    const asked = JSON.stringify([text, choice.model ?? null, choice.effort ?? null, choice.mode ?? null, attached]);
    const kept = storage.read(place);
    const again = isRecord(kept) && kept['asked'] === asked;
    const commandId = (again ? kept['commandId'] : ids.next()) as CommandId;
    const sessionId = (again ? kept['sessionId'] : `ses_${ids.next()}`) as SessionId;
    storage.write(place, { asked, commandId, sessionId });
    const parts: InputPart[] = [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...attached];
    const input = parts.length === 0 ? {} : { input: parts };
    try {
      await client.call('session.create', { commandId, sessionId, projectId, ...input, ...choice });
    } catch (error) {
      if (error instanceof RequestError && error.code !== 'unavailable') storage.write(place, null);
      throw error;
    }
    storage.write(place, null);
    if (this.draftOf(projectId).text === text) this.draftOf(projectId).text = '';
    this.attachmentsOf(projectId).drop(attached);
    return sessionId;
  }

  /** What was typed into the composer of a new session while that was being made is meant for it. */
  takeAlong(projectId: ProjectId, sessionId: SessionId): void {
    const draft = this.draftOf(projectId);
    if (draft.text === '') return;
    this.session(sessionId).draft += draft.text;
    draft.text = '';
  }

  // Folders

  /** What a path that is being typed may become. */
  lookAtFolder(text: string): Promise<Result<'folder.look'>> {
    return this.#needs.client.call('folder.look', { text });
  }

  recentFolders(): Promise<Result<'folder.recent'>> {
    return this.#needs.client.call('folder.recent', {});
  }

  async makeFolder(path: string): Promise<string> {
    return (await this.#needs.client.call('folder.create', { commandId: this.#commandId(), path })).path;
  }

  async addProject(path: string): Promise<Project> {
    const { project } = await this.#needs.client.call('project.add', { commandId: this.#commandId(), path });
    this.#catalog.addProject(project);
    return project;
  }

  /** Hides it; the function that it answers brings it back. */
  async removeProject(projectId: ProjectId): Promise<() => Promise<void>> {
    const { client } = this.#needs;
    await client.call('project.remove', { commandId: this.#commandId(), projectId });
    return async () => {
      const { project } = await client.call('project.restore', { commandId: this.#commandId(), projectId });
      this.#catalog.addProject(project);
    };
  }

  // Devices and rules

  async devices(): Promise<readonly Device[]> {
    return (await this.#needs.client.call('device.list', {})).devices;
  }

  async revokeDevice(deviceId: DeviceId): Promise<void> {
    await this.#needs.client.call('device.revoke', { commandId: this.#commandId(), deviceId });
  }

  createPairing(): Promise<Result<'pairing.create'>> {
    return this.#needs.client.call('pairing.create', {});
  }

  async rules(projectId?: ProjectId): Promise<readonly Rule[]> {
    return (await this.#needs.client.call('rule.list', projectId === undefined ? {} : { projectId })).rules;
  }

  async removeRule(ruleId: RuleId): Promise<void> {
    await this.#needs.client.call('rule.remove', { commandId: this.#commandId(), ruleId });
  }

  /** A blob's bytes: long output, a long diff, a picture. */
  async blob(ref: BlobRef): Promise<Blob> {
    const { client, fetch } = this.#needs;
    if (client.bearer === null) throw new RequestError('unavailable', 'There is no connection to the daemon.');
    const response = await fetch(`/blobs/${ref.sha256}`, { headers: { authorization: `Bearer ${client.bearer}` } });
    if (!response.ok) throw new RequestError('not_found', 'The daemon does not have this content any more.');
    return response.blob();
  }

  readonly #preparePicture: PreparePicture = async (file) => {
    const { client, fetch } = this.#needs;
    if (client.bearer === null)
      throw new RequestError('unavailable', 'The daemon cannot be reached just now. Try again.');
    const response = await fetch('/blobs', {
      method: 'POST',
      headers: { authorization: `Bearer ${client.bearer}`, 'content-type': 'application/octet-stream' },
      body: file,
    }).catch((cause: unknown) => {
      throw new RequestError('unavailable', 'It did not reach the daemon. Try again.', { cause });
    });
    if (!response.ok) throw new RequestError('unavailable', 'The daemon did not take it. Try again.');
    const blob = parse(blobRef, await response.json(), 'The answer to an upload');
    const named = { blob, ...(file.name === '' ? {} : { name: file.name.slice(-255) }) };
    return isPdf(file) ? client.call('document.prepare', named) : client.call('picture.prepare', named);
  };

  // The connection

  #connectionChanged(state: ConnectionState): void {
    this.#connection = state;
    if (state.type === 'open') {
      this.#link = null;
      this.#meet(state.machine);
      for (const session of this.#sessions.values()) session.retry();
      void this.#load();
    }
    if (state.type === 'refused' && state.machine !== null) {
      this.#meet(state.machine);
      const link = this.#link;
      this.#link = null;
      if (link !== null && (state.reason === 'unpaired' || state.reason === 'revoked'))
        void this.#pairByLink(link, state.machine);
    }
  }

  /** Another machine behind this origin is another catalog with other sessions: nothing of the one before is shown as if it were its. */
  #meet(machine: Machine): void {
    const before = this.#machine?.machineId;
    this.#machine = machine;
    this.#needs.storage.write('machine', machine);
    if (before === machine.machineId) return;
    for (const sessionId of [...this.#sessions.keys()]) this.release(sessionId);
    this.#drafts.clear();
    this.#attachments.clear();
    this.#models = new ModelsState(this.#needs);
    this.#catalog = this.#makeCatalog();
  }

  async #load(): Promise<void> {
    try {
      await Promise.all([this.#models.load(), this.#catalog.load()]);
      this.#problem = null;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // Lost again while loading: the next connection loads anew.
      if (error.code !== 'unavailable') this.#problem = error.message;
    }
  }

  #makeCatalog(): CatalogState {
    const { client, clock, storage } = this.#needs;
    return new CatalogState({ client, clock, storage, machineId: this.#machine?.machineId ?? '' });
  }

  #readMachine(): Machine | null {
    const kept = this.#needs.storage.read('machine');
    return isRecord(kept) && typeof kept['machineId'] === 'string' && typeof kept['name'] === 'string'
      ? { machineId: kept['machineId'] as MachineId, name: kept['name'], version: String(kept['version']) }
      : null;
  }

  #commandId(): CommandId {
    return this.#needs.ids.next() as CommandId;
  }
}

/** Builds the app of this page and starts it. Once, in the root layout, before `setApp`. */
export function openApp(window: Window & typeof globalThis): AppState {
  const random = (bytes: Uint8Array<ArrayBuffer>): void => void window.crypto.getRandomValues(bytes);
  const storage = browserStorage(() => window.localStorage);
  const credentials = new CredentialStore(storage);
  const client = new Client({
    openSocket: browserSocket(window.location.origin),
    credentials,
    clock: systemClock,
    random,
    chance: Math.random,
    online: () => window.navigator.onLine,
  });
  const send: typeof fetch = (input, init) => window.fetch(input, init);
  const app = new AppState({
    client,
    credentials,
    storage,
    clock: systemClock,
    ids: timedIds(systemClock, random),
    frames: browserFrames,
    look: systemLook(window),
    deviceName: deviceNameOf(window.navigator.userAgent),
    post: jsonPost(send),
    fetch: send,
    link: takePairingLink(window.location, window.history),
    install: new InstallState(window),
  });
  watchPage(window, () => client.retryNow());
  // Another tab paired this browser.
  window.addEventListener('storage', (event) => {
    if (event.key?.startsWith('alcove.credentials.')) client.retryNow();
  });
  $effect.root(() => {
    $effect(() => showBadge(window.navigator, app.catalog.needsYou.length));
  });
  client.start();
  return app;
}

/** The number on the app's icon, where it is installed; elsewhere nothing happens. */
function showBadge(navigator: Partial<Pick<Navigator, 'setAppBadge'>>, count: number): void {
  navigator.setAppBadge?.(count).catch(() => undefined);
}
